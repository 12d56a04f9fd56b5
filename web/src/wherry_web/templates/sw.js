// Keeps the pages and everything they load, so that they work without a network after the first visit.
// Addresses that carry a digest never change: they are answered from the cache. The others are asked for
// first, and answered from the cache when there is no network.
const CACHE = "wherry-{{ version }}";
const ADDRESSES = {{ addresses | safe }};
const UNCHANGING = /^\/(static|bundle|pyodide|models)\//;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(ADDRESSES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith("wherry-") && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/api/")) return;
  event.respondWith(UNCHANGING.test(url.pathname) ? fromCache(event.request) : fromNetwork(event.request));
});

async function fromCache(request) {
  return (await caches.match(request)) ?? fetch(request);
}

async function fromNetwork(request) {
  try {
    const response = await fetch(request);
    if (response.ok) (await caches.open(CACHE)).put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}
