// Keeps the files of a page, so that the page opens without a network. What the page learns of
// guests and orders is in the page's own database: no answer of the API is kept here.
const family = '{family}-';
const name = family + '{version}';
const page = '{page}';
const addresses = /{addresses}/; // at which the page opens
const files = {files};
const patience = 3000; // milliseconds that somebody waits for a page that is on its way

addEventListener('install', (e) => e.waitUntil((async () => {
  const cache = await caches.open(name);
  // An asset's address changes with its content. Of any other file the browser may have an old copy.
  await cache.addAll([page, ...files].map((path) => path.startsWith('/web/assets/') ? path : new Request(path, { cache: 'no-cache' })));
  await skipWaiting();
})()));

addEventListener('activate', (e) => e.waitUntil((async () => {
  // A page that is open may still be of the release before, and ask for more of its files.
  const old = (await caches.keys()).filter((key) => key.startsWith(family) && key !== name);
  await Promise.all(old.slice(0, -1).map((key) => caches.delete(key)));
  await clients.claim();
})()));

addEventListener('fetch', (e) => {
  const { pathname, origin } = new URL(e.request.url);
  if (e.request.method !== 'GET' || origin !== location.origin) return;
  if (e.request.mode === 'navigate' && addresses.test(pathname)) e.respondWith(openPage());
  else if (files.includes(pathname) || pathname.startsWith('/web/assets/')) e.respondWith(openFile(e.request, pathname));
});

/** openPage asks for the page, which may be newer, and opens the kept one if no answer comes. */
async function openPage() {
  try {
    const fresh = await fetch(page, { cache: 'no-cache', signal: AbortSignal.timeout(patience) });
    if (fresh.ok) return fresh;
  } catch { /* there is no network */ }
  return (await find(page)) ?? Response.error();
}

async function openFile(request, path) {
  return (await find(path)) ?? fetch(request);
}

async function find(path) {
  const rules = { ignoreVary: true };
  return (await (await caches.open(name)).match(path, rules)) ?? caches.match(path, rules);
}
