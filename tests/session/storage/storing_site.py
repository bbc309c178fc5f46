"""A site whose page stores data in every way that the web has, and reports what it finds stored."""

from __future__ import annotations

from typing import Any

from bridge import TestServerGrant
from bridge.page.page import Page
from bridge.surfaces.local_server import QuietHandler

_PAGE = b"""<!doctype html><title>Storing</title><script>
  window.stored = async () => ({
    cookie: document.cookie, local: localStorage.length, session: sessionStorage.length, history: history.length,
    caches: (await caches.keys()).length, databases: (await indexedDB.databases()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
  });
  window.store = async () => {
    document.cookie = 'trail=1; max-age=1000'; localStorage.a = sessionStorage.a = 1;
    history.pushState(1, '', '?pushed');
    await (await caches.open('c')).put('/x', new Response('x'));
    await new Promise((done) => { const it = indexedDB.open('d'); it.onsuccess = () => (it.result.close(), done()); });
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
  };
</script>"""


class StoringSite(QuietHandler):
    """Serves the page at `/trace`, and counts the requests for `/cached`."""

    cached_requests = 0

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/cached":
            type(self).cached_requests += 1
        found = {"/trace": _PAGE, "/cached": b"cached"}
        kind = "text/javascript" if path == "/worker.js" else "text/html"
        body = b"self.onfetch = () => {}" if path == "/worker.js" else found.get(path, b"?")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if path == "/cached":
            self.send_header("Cache-Control", "max-age=1000")
        if path == "/trace":
            self.send_header("Set-Cookie", "login=secret; HttpOnly; Max-Age=1000")
            self.send_header("X-Cookie-Seen", self.headers.get("Cookie", "-"))
        self.end_headers()
        self.wfile.write(body)


def grant_for(base: str) -> TestServerGrant:
    return TestServerGrant("127.0.0.1", int(base.rpartition(":")[2]))


async def run(page: Page, expression: str) -> Any:
    attachment = await page.attached()
    call = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    reply = await attachment.call("Runtime.evaluate", call, timeout_s=10)
    assert "exceptionDetails" not in reply, reply["exceptionDetails"]
    return reply["result"].get("value")
