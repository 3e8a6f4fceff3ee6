// A page that was refused because of too many requests counts down, and loads anew when it may.
const shown = document.getElementById('wait');
const end = Date.now() + 1000 * Number(shown.dataset.seconds);

function tick() {
  const left = Math.ceil((end - Date.now()) / 1000);
  if (left <= 0) {
    clearInterval(timer);
    location.reload();
    return;
  }
  shown.textContent = shown.dataset.text.replace('#', left);
}

const timer = setInterval(tick, 250);
tick();
