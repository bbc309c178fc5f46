/* Adds a script or a style to the document; resolves when it has run or applies. Runs in the main world. */
/** @type {(given: [string, Record<string, string>]) => Promise<void>} */
(([tag, fields]) =>
  new Promise((done, fail) => {
    const el = document.createElement(tag);
    el.onload = () => done();
    el.onerror = () => fail(new Error(`the ${tag} could not be loaded`));
    Object.assign(el, fields);
    document.head.append(el);
    if (!fields.src && !fields.href) done();
  }))
