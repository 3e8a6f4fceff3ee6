// An event in a frame on somebody else's page: how many tickets, and the way to their checkout in a tab of the
// shop's own. Nothing is ordered here.

const main = document.querySelector("main"), buy = document.querySelector(".buy");

/** steps are the types of which one can choose how many. */
const steps = main.hasAttribute("data-counted") ? [...main.querySelectorAll("li[data-type]")].map((row) => {
  const [fewer, more] = row.querySelectorAll("button");
  return { id: row.dataset.type, most: Number(row.dataset.most), count: 0, shown: row.querySelector("output"), fewer, more };
}) : [];

function show() {
  for (const step of steps) {
    step.shown.textContent = step.count;
    step.fewer.disabled = step.count === 0;
    step.more.disabled = step.count >= step.most;
  }
  const chosen = steps.filter((step) => step.count > 0).map((step) => `${step.id}.${step.count}`).join("_");
  buy.href = chosen ? `${page}/checkout?t=${chosen}` : page;
}

const page = buy?.href;
for (const step of steps) {
  step.fewer.onclick = () => { step.count--; show(); };
  step.more.onclick = () => { step.count++; show(); };
  step.shown.parentElement.hidden = false;
}
if (steps.length > 0) show();

// The height is no secret: whoever frames the page decides already where it stands.
new ResizeObserver(() => {
  if (parent !== window) parent.postMessage({ boxofficeHeight: Math.ceil(document.documentElement.getBoundingClientRect().height) }, "*");
}).observe(document.documentElement);
