/** What the raw JSON of a snapshot has only here: version, time, levels of headings, and every text that was cut. */
const VERSION = 1, NAME_CHARS = 200;

/** Has `cut` ended this text at its limit? */
const isCut = (text, ...limits) => typeof text == 'string' && limits.includes(text.length) && text.endsWith('\u2026');

export const completed = (raw, { maxTextPerNode = 200, maxAttrValueLen = 150 } = /** @type {any} */ ({})) => {
  if (raw.error) return raw;
  let cuts = false;
  const nodes = [raw.tree];
  for (let node; (node = nodes.pop()); ) {
    const { attrs = /** @type {any} */ ({}) } = node;
    if (node.role == 'heading') node.level = Number(attrs.level || (/^h([1-6])$/.exec(node.tag) || [])[1] || 2);
    cuts = cuts || [node.name, node.text, node.description].some((text) => isCut(text, maxTextPerNode, NAME_CHARS)) || [attrs.value, attrs.placeholder].some((text) => isCut(text, maxAttrValueLen));
    nodes.push(...(node.children || []));
  }
  const reasons = cuts && !raw.reasons.includes('maxTextPerNode') ? [...raw.reasons, 'maxTextPerNode'] : raw.reasons;
  return { version: VERSION, timestamp: Date.now(), ...raw, truncated: raw.truncated || cuts, reasons };
};
