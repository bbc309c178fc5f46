/*
 * UDP does not go through an HTTP proxy, so WebRTC and WebTransport are deleted from every document. This runs before
 * the page's own scripts, in every frame and also in a new frame's empty document, so a page cannot keep a reference. A
 * script can use a window that it opens before CDP attaches to it; therefore `open` deletes the constructors of the
 * window that it returns. A window that opens at a URL may run before CDP attaches (WebView starts it at once). Workers
 * have only WebTransport, which Chromium does not use with a proxy.
 */
(() => {
  const { apply } = Reflect;
  const CONSTRUCTORS = [
    'RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'RTCIceTransport', 'RTCDtlsTransport', 'RTCSctpTransport',
    'WebTransport', 'WebTransportBidirectionalStream', 'WebTransportDatagramDuplexStream', 'WebTransportError',
  ];
  const take = (view) => {
    for (const name of CONSTRUCTORS)
      try {
        delete view[name];
      } catch (error) {}
  };
  const taking = (open) =>
    new Proxy(open, {
      apply(target, self, given) {
        const opened = apply(target, self, given);
        if (opened && opened !== self) take(opened);
        return opened;
      },
    });
  if (!('RTCPeerConnection' in globalThis) && !('WebTransport' in globalThis)) return;
  take(globalThis);
  globalThis.open = taking(globalThis.open);
  Document.prototype.open = taking(Document.prototype.open);
})()
