/* Takes over open pages, and answers one address itself. */
addEventListener('install', (event) => event.waitUntil(skipWaiting()));
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (event.request.url.endsWith('/from-worker')) event.respondWith(new Response('from the worker'));
});
