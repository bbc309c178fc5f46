'use strict';

/*
 * A form whose values belong to the app: after each event every control is set back to what the state says.
 *
 * As in React, a tracker on each element remembers the value that was last set through the element itself, and an input
 * event without a difference to it counts as none. So `element.value = "x"` followed by an input event changes nothing;
 * a value that came in through the prototype's own setter, as typing does, is noticed.
 */

const state = { name: '', code: '', day: '', message: '', terms: false };
const form = document.getElementById('order');

function track(element, key) {
  const own = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), key);
  let known = String(element[key]);
  Object.defineProperty(element, key, {
    configurable: true,
    get() {
      return own.get.call(this);
    },
    set(value) {
      known = String(value);
      own.set.call(this, value);
    },
  });
  return () => {
    const now = String(own.get.call(element));
    const changed = now !== known;
    known = now;
    return changed;
  };
}

const CLEAN = {
  code: (value) => value.toUpperCase().replace(/[^A-Z0-9]/g, '').slice(0, 8),
  message: (value) => value.slice(0, 60),
};

function render() {
  for (const name of Object.keys(state)) {
    const element = form.elements[name];
    const key = element.type === 'checkbox' ? 'checked' : 'value';
    if (element[key] !== state[name]) element[key] = state[name];
  }
  document.getElementById('counter').textContent = `${60 - state.message.length} characters left`;
  document.getElementById('send').disabled = !(state.name && state.day && state.terms);
  document.getElementById('state').textContent = JSON.stringify(state);
}

for (const name of Object.keys(state)) {
  const element = form.elements[name];
  const isBox = element.type === 'checkbox';
  const key = isBox ? 'checked' : 'value';
  const hasChanged = element.tagName === 'SELECT' ? () => true : track(element, key);
  element.addEventListener(isBox ? 'click' : element.tagName === 'SELECT' ? 'change' : 'input', () => {
    if (hasChanged()) state[name] = isBox ? element.checked : (CLEAN[name] || String)(element.value);
    // After the event has run its course, as React does: a checkbox is set back to what it was while it is dispatched.
    Promise.resolve().then(render);
  });
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  document.getElementById('outcome').textContent = `Ordered: one ticket for ${state.name}, ${state.day === 'fri' ? 'Friday' : 'Saturday'}.`;
});

render();
