/* The frames per second that the page draws, measured for some time. */
/** @type {(measuredMs: number) => Promise<number>} */
((measuredMs) =>
  new Promise((done) => {
    const start = performance.now();
    let count = 0;
    const frame = (now) => {
      count++;
      if (now - start < measuredMs) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    setTimeout(() => done((count * 1000) / (performance.now() - start)), measuredMs + 100);
  }))
