// The demo's crowd: a button that lets simulated buyers take the hall, while what the watcher
// holds stays. Only a node with the demo names this script in its page.
import { sale } from './seats.js';
import { spoken, language } from './words.js';

const english = {
  title: 'Watch a rush', about: 'Simulated buyers take this hall before your eyes, through the same API as you do. Hold two seats first: they stay yours.',
  go: 'Start the rush', busy: 'A rush cannot start now: one is on its way, or this hall is not on sale.',
  orders: 'Orders', rate: 'Orders a second', free: 'Seats still free', left: 'Came too late', yours: 'Yours all the while',
  over: 'The rush is over. Nobody of the crowd pays, so the seats come free again when their time is up.',
};
const german = {
  title: 'Sieh dir einen Ansturm an', about: 'Simulierte Käufer nehmen vor deinen Augen diesen Saal, über dieselbe API wie du. Halte vorher zwei Plätze: Sie bleiben dir.',
  go: 'Ansturm starten', busy: 'Gerade kann kein Ansturm beginnen: Einer läuft schon, oder dieser Saal ist nicht im Verkauf.',
  orders: 'Bestellungen', rate: 'Bestellungen je Sekunde', free: 'Noch freie Plätze', left: 'Kamen zu spät', yours: 'Die ganze Zeit deine',
  over: 'Der Ansturm ist vorbei. Von der Menge zahlt niemand, also werden die Plätze wieder frei, wenn ihre Zeit um ist.',
};
const t = spoken === 'de' ? german : english;
const paceTime = 500; // ms between two looks at the figures

const section = make('section'), about = make('p', t.about), button = make('button', t.go), figures = make('dl'), said = make('p');
section.id = 'rush';
button.type = 'button';
button.className = 'quiet';
said.setAttribute('role', 'status');
figures.hidden = true;
section.append(make('h2', t.title), about, button, figures, said);
document.querySelector('aside').append(section);

function make(name, text = '') {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** ask returns the figures of the latest rush, or null if the node refuses. */
async function ask(path, method) {
  const res = await fetch(path, { method });
  return res.ok ? (await res.json()).data : null;
}

/** show writes the figures of a rush. */
function show(rush) {
  const digits = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const rows = [
    [t.orders, rush.orders], [t.rate, rush.orders / Math.max(rush.seconds, 1)],
    [t.free, sale.free.reduce((sum, n) => sum + n, 0)], [t.left, rush.left], [t.yours, sale.held.size],
  ];
  figures.replaceChildren(...rows.flatMap(([name, n]) => [make('dt', name), make('dd', digits.format(n))]));
  figures.hidden = false;
}

button.addEventListener('click', async () => {
  button.disabled = true;
  said.textContent = '';
  let rush = await ask(`/dev/rush/${sale.event.id}`, 'POST');
  if (!rush) {
    said.textContent = t.busy;
    button.disabled = false;
    return;
  }
  while (rush?.running) {
    show(rush);
    await new Promise((done) => setTimeout(done, paceTime));
    rush = await ask('/dev/rush', 'GET');
  }
  if (rush) {
    show(rush);
  }
  said.textContent = t.over;
  button.disabled = false;
});
