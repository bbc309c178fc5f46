/** What the pages share: their data and the sums that are no framework's business. */
export const CITIES = ['Amsterdam', 'Berlin', 'Bern', 'Bergen', 'Lisbon', 'Madrid', 'Oslo', 'Paris', 'Rome', 'Vienna'];
export const ROWS = 1000, ROW_PX = 40, SHOWN = 7;
export const HYDRATION_MS = 400;
export const search = (text) => (text ? CITIES.filter((city) => city.toLowerCase().startsWith(text.toLowerCase())) : []);
export const debounce = (call, ms) => {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
};
/** Seven row elements are all there is; their contents change while one scrolls. */
export const windowAt = (top) => {
  const first = Math.min(Math.floor(top / ROW_PX), ROWS - SHOWN);
  return Array.from({ length: SHOWN }, (_, slot) => first + slot);
};
export const moved = (items, from, to) => {
  const rest = items.filter((item) => item !== from);
  rest.splice(items.indexOf(to), 0, from);
  return rest;
};
/** The item whose handle lies under a point. */
export const itemAt = (x, y) => document.elementFromPoint(x, y)?.closest('[data-item]')?.dataset.item ?? deepItem(x, y);
const deepItem = (x, y) => {
  let root = document, hit;
  while ((hit = root.elementFromPoint(x, y)) && hit.shadowRoot && hit.shadowRoot !== root) root = hit.shadowRoot;
  return hit?.closest('[data-item]')?.dataset.item;
};
export const words = (text) => text.split(/\s+/).filter(Boolean).length;
export const DAYS = Array.from({ length: 28 }, (_, day) => `2026-02-${String(day + 1).padStart(2, '0')}`);
