/** Files for inputs and for places that take a drop. Called with element handles, so every call takes the element. */
import { boxOf, findAll, matches, tagOf } from '../core/dom.js';

const isFileInput = (el) => !!el && tagOf(el) == 'input' && el.type == 'file';

/** The file input that an element stands for: itself, its label's control, or the only one in it. */
export const fileInputOf = (el) => {
  const inner = findAll(el, 'input[type=file]');
  return isFileInput(el) ? el : isFileInput(el.control) ? el.control : inner.length == 1 ? inner[0] : null;
};

/** `{disabled, multiple}` as JSON, because the call that finds an element returns handles. @type {(el: HTMLInputElement) => string} */
export const fileInputState = (el) => JSON.stringify({ disabled: matches(el, ':disabled'), multiple: el.multiple });

/** An input for files that is never in the document. */
export const detachedFileInput = () => Object.assign(document.createElement('input'), { type: 'file', multiple: true });

/** Drops the files of an input on an element; true when the page has taken them. @type {(el: Element, input: HTMLInputElement) => boolean} */
export const dropFiles = (el, input) => {
  const dataTransfer = new DataTransfer();
  for (const file of input.files) dataTransfer.items.add(file);
  const { left, top, width, height } = boxOf(el);
  const init = { bubbles: true, cancelable: true, composed: true, clientX: left + width / 2, clientY: top + height / 2, dataTransfer };
  const send = (type) => !el.dispatchEvent(new DragEvent(type, init));
  send('dragenter');
  return send('dragover') && send('drop');
};

/** Files that are put together of pieces that come over the wire. */
export const newFileMaker = () => ({ files: new DataTransfer(), parts: [] });
export const addPiece = (maker, base64) => {
  maker.parts.push(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
};
export const finishFile = (maker, name) => {
  maker.files.items.add(new File(maker.parts, name));
  maker.parts = [];
};

/** Both events bubble, and `input` crosses shadow boundaries (HTML §4.10.5.1.17). */
export const giveFiles = (input, maker) => {
  input.files = maker.files.files;
  input.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  input.dispatchEvent(new Event('change', { bubbles: true }));
};
