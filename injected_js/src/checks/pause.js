/** So many milliseconds; without: the next frame, or a moment where there are none. */
export const pause = (ms) =>
  new Promise((done) => {
    if (!ms) requestAnimationFrame(done);
    setTimeout(done, ms || 60);
  });
