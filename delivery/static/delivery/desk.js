// Keeps today's state current while something is under way; a page that nobody sees asks for nothing.
setInterval(async () => {
  if (document.hidden || !document.querySelector("#desk[data-moves]")) return;
  const answer = await fetch(location.href);
  if (!answer.ok || answer.redirected) return; // redirected: the login page
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = page.getElementById("desk");
  if (now) document.getElementById("desk").replaceWith(now);
}, 5000);
