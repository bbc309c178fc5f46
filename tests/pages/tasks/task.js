// Shared by the task pages: what is wanted differs with ?seed=, and can only be read from the page.
let seed = Number(new URLSearchParams(location.search).get('seed')) || 1;
const random = (n) => ((seed = (seed * 48271) % 2147483647), seed % n);
const mix = (list) => list.map((it) => [random(1e6), it]).sort((a, b) => a[0] - b[0]).map((it) => it[1]);
const pick = (list) => list[random(list.length)];
const WORDS = 'amber birch cobalt dune ember fjord glade hazel iris jade'.split(' ');
const PEOPLE = 'Ada Ben Cleo Dan Eve Fay Gus Hana'.split(' ');
for (let i = 0; i < 5; i++) random(2);
const goal = document.body.appendChild(document.createElement('p'));
const reward = document.body.appendChild(document.createElement('p'));
reward.setAttribute('role', 'status');
const wanted = (text) => { goal.textContent = 'Task: ' + text; };
// The first answer counts.
const answer = (right) => { reward.textContent = reward.textContent || (right ? 'solved' : 'failed'); };
const make = (html) => {
  const box = document.body.appendChild(document.createElement('section'));
  box.className = 'box' + document.querySelectorAll('section').length;
  box.innerHTML = html;
  return box;
};
const on = (selector, type, call, root = document) => root.querySelectorAll(selector).forEach((el) => el.addEventListener(type, (e) => call(e, el)));
