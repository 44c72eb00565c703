// Draws the message again whenever something in the form changes, by the server's own renderer.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("fundraiser_form");
  const preview = document.getElementById("preview");
  if (!form || !preview) return;
  const shown = preview.querySelector("div");
  let chosen = ""; // the address of a picture that is not uploaded yet
  let waiting = 0;
  let asked = 0;

  const picture = () => {
    const kept = form.querySelector(".field-photo img");
    const isRemoved = form.querySelector("[name=photo-clear]")?.checked;
    return chosen || (kept && !isRemoved ? kept.src : "");
  };

  const draw = async () => {
    const typed = new FormData(form);
    typed.delete("photo"); // megabytes, at every key
    typed.set("picture", picture());
    const number = ++asked;
    const answer = await fetch(preview.dataset.url, { method: "POST", body: typed });
    const isPreview = answer.ok && !answer.redirected; // else it is the login page
    if (isPreview && number === asked) shown.innerHTML = await answer.text();
  };

  const drawSoon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(draw, 300);
  };

  form.addEventListener("input", drawSoon);
  form.addEventListener("click", drawSoon); // rows added, removed, moved
  form.addEventListener("change", (event) => {
    if (event.target.name === "photo") {
      URL.revokeObjectURL(chosen);
      chosen = event.target.files[0] ? URL.createObjectURL(event.target.files[0]) : "";
    }
    drawSoon();
  });
  draw();
});
