// Keeps the pages and everything they load, so that they work without a network after the first visit.
// Addresses that carry a digest never change: they are answered from the cache. The others are asked for
// first, and answered from the cache when there is no network.
const CACHE = "wherry-{{ version }}";
const ROOT = new URL("./", location.href);
const ADDRESSES = {{ addresses | safe }};
const UNCHANGING = /^(static|bundle|pyodide|models)\//;

self.addEventListener("install", (event) => {
  event.waitUntil(keepAll().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith("wherry-") && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !url.href.startsWith(ROOT.href)) return;
  const name = url.href.slice(ROOT.href.length);
  if (/^(api|bundles)\//.test(name)) return; // exported pages have a worker of their own
  event.respondWith(UNCHANGING.test(name) ? fromCache(request) : fromNetwork(request));
});

async function keepAll() {
  const cache = await caches.open(CACHE);
  await Promise.all(ADDRESSES.map(async (address) => {
    const response = await fetch(new URL(address, ROOT));
    if (!response.ok) throw new Error(`${address}: the server answered ${response.status}`);
    await cache.put(new URL(address, ROOT), plain(response));
  }));
}

// A response that was redirected (/train to /train/ on file servers) may not answer a navigation later.
function plain(response) {
  const { body, headers, status } = response;
  return response.redirected ? new Response(body, { headers, status }) : response;
}

// What was not kept at first (packages that a program imports) is kept when it is asked for.
async function fromCache(request) {
  const known = await caches.match(request);
  if (known) return known;
  const response = await fetch(request);
  if (response.ok) (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

async function fromNetwork(request) {
  try {
    const response = await fetch(request);
    if (response.ok && !response.redirected) (await caches.open(CACHE)).put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}
