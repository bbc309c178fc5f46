/** Where the view lies in the document. */

/**
 * The layout of a capture of the view alone, whose corner is its origin.
 * @type {() => {[name: string]: number}}
 */
export const viewLayout = () => {
  const { scale, width, height, offsetLeft, offsetTop } = window.visualViewport || { scale: 1, width: innerWidth, height: innerHeight, offsetLeft: 0, offsetTop: 0 };
  return {
    dpr: devicePixelRatio, zoom: scale, width, height, left: 0, top: 0, pageWidth: 0, pageHeight: 0, offsetLeft, offsetTop,
    fullWidth: innerWidth, fullHeight: innerHeight,
  };
};

/** The corner of the root element in the document; margins move it. @type {() => [number, number]} */
export const rootCorner = () => {
  const { left, top } = document.documentElement.getBoundingClientRect();
  return [left + scrollX, top + scrollY];
};
