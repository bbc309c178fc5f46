'use strict';

const root = document.getElementById('root');
const saved = new Set();
let stories = null;
let turn = 0;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function load() {
  if (!stories) {
    const answer = await fetch('stories.json');
    stories = await answer.json();
  }
  await pause(350); // what a slow network adds
  return stories;
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function link(query, label) {
  const made = element('a', { href: `spa.html${query}`, textContent: label });
  made.dataset.route = '';
  return made;
}

function skeleton() {
  root.setAttribute('aria-busy', 'true');
  root.replaceChildren(...[0, 1, 2].map(() => element('div', { className: 'skeleton' })));
}

function listOf(found, empty) {
  if (!found.length) return [element('p', { className: 'muted', textContent: empty })];
  return [element('ul', { className: 'list' }, ...found.map((story) =>
    element('li', { className: 'card' },
      element('h2', {}, link(`?story=${story.id}`, story.title)),
      element('p', { className: 'muted', textContent: `${story.by} · ${story.minutes} min` }))))];
}

function article(story) {
  const button = element('button', { textContent: saved.has(story.id) ? 'Remove from saved' : 'Save for later' });
  button.addEventListener('click', () => {
    if (!saved.delete(story.id)) saved.add(story.id);
    button.textContent = saved.has(story.id) ? 'Remove from saved' : 'Save for later';
  });
  return [element('article', { className: 'card stack' },
    element('h2', { textContent: story.title }),
    element('p', { className: 'muted', textContent: `by ${story.by}` }),
    ...story.text.map((text) => element('p', { textContent: text })),
    button)];
}

async function show() {
  const mine = ++turn;
  const query = new URLSearchParams(location.search);
  for (const tab of document.querySelectorAll('.tabs a')) {
    const current = tab.dataset.route === (query.get('view') || (query.get('story') ? '' : 'stories'));
    if (current) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  skeleton();
  const all = await load();
  if (mine !== turn) return; // the user went elsewhere meanwhile
  const story = all.find((candidate) => String(candidate.id) === query.get('story'));
  document.title = story ? `${story.title} – Reading list` : 'Reading list';
  root.setAttribute('aria-busy', 'false');
  if (story) root.replaceChildren(...article(story));
  else if (query.get('view') === 'saved') root.replaceChildren(...listOf(all.filter(({ id }) => saved.has(id)), 'Nothing saved yet.'));
  else root.replaceChildren(...listOf(all, 'No stories.'));
}

document.addEventListener('click', (event) => {
  const target = event.target.closest('a[data-route]');
  if (!target || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, '', target.href);
  show();
});
addEventListener('popstate', show);

setTimeout(show, 150); // the bundle of a real app takes as long to start
