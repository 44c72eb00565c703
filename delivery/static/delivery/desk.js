// Keeps today's state current while something is under way; a page that nobody sees asks for nothing.
setInterval(async () => {
  const desk = document.querySelector("#desk[data-moves]");
  if (document.hidden || !desk) return;
  const answer = await fetch(desk.dataset.moves);
  if (!answer.ok || answer.redirected) return; // redirected: the login page
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = page.getElementById("desk");
  if (now) desk.replaceWith(now);
}, 5000);
