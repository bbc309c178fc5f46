/*
 * Makes a blank document `heightPx` tall, black with a white end, to see what the engine draws beyond its view. Returns
 * the width and height of the view before, and the pixel ratio.
 */
/** @type {(heightPx: number, blackPx: number) => [number, number, number]} */
((heightPx, blackPx) => {
  const { width, height, scale } = visualViewport;
  document.documentElement.setAttribute('style', `height:${heightPx}px;background:linear-gradient(#000 ${blackPx}px,#fff ${blackPx}px)`);
  return [width * scale, height * scale, devicePixelRatio];
})
