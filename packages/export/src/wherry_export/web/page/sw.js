// Keeps the bundle, so that it works without a network after the first visit. Addresses under static/ and data/ carry a digest and never
// change: they are answered from the cache. The others are asked for first, and answered from the cache when there is no network.
//
// The bundle's own files, and no others under this path, get the headers that isolate a page from other sites, whatever the server says: a
// model computes with several threads in a page that has them. The bundle has nothing from elsewhere that they would keep out.
const ROOT = new URL("./", location.href);
const CACHE = `wherry ${ROOT.pathname} {{VERSION}}`;
const ADDRESSES = {{ADDRESSES}};
const OURS = new Set(ADDRESSES.map((address) => new URL(address, ROOT).href));
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

self.addEventListener("install", (event) => {
  event.waitUntil(keepAll().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith(`wherry ${ROOT.pathname} `) && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(ROOT.href)) return;
  const unchanging = /^(static|data)\//.test(request.url.slice(ROOT.href.length));
  const answer = unchanging ? fromCache(request) : fromNetwork(request);
  event.respondWith(OURS.has(request.url.split(/[?#]/)[0]) ? answer.then(isolated) : answer);
});

function isolated(response) {
  if (!response.ok) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATED)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

// What the page has loaded already comes from the browser's own cache.
async function keepAll() {
  const cache = await caches.open(CACHE);
  await cache.addAll(ADDRESSES.map((address) => new URL(address, ROOT).href));
}

async function fromCache(request) {
  return (await caches.match(request)) ?? fetch(request);
}

async function fromNetwork(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}
