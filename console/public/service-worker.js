/**
 * Keeps the shell of the page, so that an installed one opens without the service and says that it cannot be reached,
 * and shows notifications. Answers of the API, pictures among them, are never kept.
 */
const SHELL = 'shell';
const ROOT = new URL(self.registration.scope).pathname;
/** First parts of paths that are no views of the page. */
const OTHERS = ['v1', 'docs', 'openapi.yaml', 'openapi.json', 'metrics', 'livez', 'readyz', 'internal', 'shared'];

const partsOf = (url) => new URL(url).pathname.slice(ROOT.length).split('/');

self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(keepPage(fetch(ROOT, { cache: 'no-cache' })));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(self.registration.scope)) return;
  const [first] = partsOf(request.url);
  if (first === 'assets') event.respondWith(assetOf(request));
  else if (request.mode === 'navigate' && !OTHERS.includes(first)) {
    const answer = fetch(request);
    if (first === '') event.waitUntil(keepPage(answer.then((response) => response.clone())));
    event.respondWith(answer.catch(keptPage));
  }
});

self.addEventListener('push', (event) => {
  const { title, body, path, tag, image, judged, acknowledge } = event.data.json();
  event.waitUntil(
    self.registration.showNotification(title, {
      body,
      tag,
      renotify: true,
      image,
      icon: `${ROOT}icons/192.png`,
      data: { path, judged },
      actions: judged === undefined ? [] : [{ action: 'acknowledge', title: acknowledge }],
    }),
  );
});

self.addEventListener('notificationclick', (event) => {
  const { path, judged } = event.notification.data;
  event.notification.close();
  event.waitUntil(event.action === 'acknowledge' ? acknowledged(judged, path) : opened(path));
});

/** By the session of this browser; without one, the page asks to sign in. */
async function acknowledged(judged, path) {
  const headers = { 'X-CSRF-Protection': '1' };
  const answer = await fetch(`${ROOT}v1/${judged}/acknowledge`, { method: 'POST', headers }).catch(() => null);
  if (!answer?.ok) await opened(path);
}

const opened = (path) => self.clients.openWindow(ROOT + path.slice(1));

/** Another page has other assets: those of the page before it are dropped. */
async function keepPage(answer) {
  const response = await answer.catch(() => undefined);
  if (!response?.ok) return;
  const cache = await caches.open(SHELL);
  const known = await cache.match(ROOT).then((page) => page?.text());
  if (known === (await response.clone().text())) return;
  await caches.delete(SHELL);
  await (await caches.open(SHELL)).put(ROOT, response);
}

/** The page names its assets relative to its own path, which may be any view. */
async function keptPage() {
  const page = await caches.match(ROOT);
  if (page === undefined) return Response.error();
  return new Response((await page.text()).replaceAll('"./', `"${ROOT}`), { headers: page.headers });
}

/** The name of an asset has a hash of its content. */
async function assetOf(request) {
  const cache = await caches.open(SHELL);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
