/*
 * Waits until the caller's function is truthy; a JSON text of how it ended. Runs in the main world, where the page may
 * have replaced what this calls: then the deadline on the other side holds.
 */
/** @type {(get: () => any, timeoutMs: number) => Promise<string>} */
((get, timeoutMs) =>
  new Promise((done) => {
    const start = Date.now();
    let lastSeen;
    const end = (ok, waitedMs) => done(JSON.stringify({ ok, waitedMs, lastSeen }));
    const step = async () => {
      let value, error = '';
      lastSeen = 'its promise is pending';
      try {
        value = get();
        value = await (typeof value == 'function' ? value() : value);
      } catch (e) {
        value = undefined;
        error = String(e);
      }
      lastSeen = error || 'not yet';
      const waitedMs = Date.now() - start;
      if (value || waitedMs >= timeoutMs) end(!!value, waitedMs);
      else setTimeout(step, 30);
    };
    setTimeout(() => end(false, timeoutMs), timeoutMs + 20);
    step();
  }))
