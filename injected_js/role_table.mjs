/** Makes the role tables of the injected script and of the Python package from roles.json. */
import { readFileSync } from 'node:fs';

const { traits, roles } = JSON.parse(readFileSync(new URL('roles.json', import.meta.url), 'utf8'));

/** The traits of a role as one number: the trait at index i is bit i. */
const bits = (role) => role.traits.reduce((sum, trait) => sum + 2 ** traits.indexOf(trait), 0);

/** "input[type=radio]" is "@radio" in the tables; everything else is a tag. */
const keyOf = (element) => element.replace(/^input\[type=(.*)\]$/, '@$1');

const constantOf = (trait) => trait.replace(/[A-Z]/g, '_$&').toUpperCase();

const rows = Object.entries(roles).map(([name, role]) => ({
  name,
  bits: bits(role),
  elements: (role.elements || []).map(keyOf),
  synonyms: role.synonyms || [],
  parents: role.parents || [],
}));

/**
 * The packed table: groups of roles that share their traits, "BITS role:element,element role …". An element that is
 * called like its role is left out, so "article:" stands for "article:article". "=" stands before a synonym of the role,
 * ">" before a role that needs this one around it.
 */
const packed = () => {
  // Without traits first: they need no number.
  const groups = new Map([[0, []]]);
  for (const { name, bits, elements, synonyms } of rows) {
    const keys = [...elements, ...synonyms.map((synonym) => '=' + synonym), ...childrenOf(name)];
    const own = keys.length ? `${name}:${keys.length == 1 && keys[0] == name ? '' : keys}` : name;
    groups.set(bits, [...(groups.get(bits) || []), own]);
  }
  return [...groups].map(([bits, names]) => `${bits || ''} ${names.join(' ')}`).join(' ').trim();
};

/**
 * Text in which the most frequent parts are replaced by characters that it does not have. Each part stands behind its
 * character at the end, so that unpacking is splitting at the character and joining with the last piece.
 */
const squeeze = (plain) => {
  let text = plain, codes = '';
  for (let code = 33; code < 127; code++) {
    const char = String.fromCharCode(code);
    if (plain.includes(char) || '"\\`$'.includes(char)) continue;
    const part = mostFrequentPart(text);
    if (!part) break;
    text = text.split(part).join(char) + char + part;
    codes = char + codes;
  }
  return { text, codes };
};

/** The part whose replacement by one character saves most. */
const mostFrequentPart = (text) => {
  let best, most = 0;
  for (let length = 2; length <= 24; length++) {
    const ends = new Map(), counts = new Map();
    for (let i = 0; i + length <= text.length; i++) {
      const part = text.slice(i, i + length);
      if (i < (ends.get(part) || 0)) continue;
      ends.set(part, i + length);
      counts.set(part, (counts.get(part) || 0) + 1);
    }
    for (const [part, count] of counts) {
      const saved = count * (length - 1) - length - 1;
      if (saved > most) [best, most] = [part, saved];
    }
  }
  return best;
};

/** The first eight letters tell the roles apart that need certain ancestors, and are the same for all menu items. */
const prefixOf = (name) => name.slice(0, 8);

/** The roles that need this one around them; a menu bar is a menu. */
const childrenOf = (parent) => [...new Set(rows.filter(({ parents }) => parents[0] == parent).map(({ name }) => '>' + prefixOf(name)))];
const parents = () => Object.fromEntries(rows.filter(({ parents }) => parents.length).map(({ name, parents }) => [prefixOf(name), parents.join(' ')]));
const synonyms = () => Object.fromEntries(rows.flatMap(({ name, synonyms }) => synonyms.map((synonym) => [synonym, name])));

/** The module `core/role_table.js` as it is bundled. */
export const javascript = () => {
  const { text, codes } = squeeze(packed());
  return `${traits.map((trait, i) => `export const ${constantOf(trait)} = ${2 ** i};`).join('\n')}
export const ROLE_TRAITS = {}, TAG_ROLES = {};
let text = ${JSON.stringify(text)}, bits = 0;
for (const code of ${JSON.stringify(codes)}) {
  const parts = text.split(code);
  text = parts.join(parts.pop());
}
for (const word of text.split(' ')) {
  const [role, elements] = word.split(':');
  if (+role) bits = +role;
  else {
    ROLE_TRAITS[role] = bits;
    if (elements != null) for (const element of (elements || role).split(',')) TAG_ROLES[element] = role;
  }
}
`;
};

/** The module `bridge/snapshot/role_table.py`. */
export const python = () => {
  const table = (name, type, items) => [`${name}: dict[str, ${type}] = {`, ...items.map(([key, value]) => `    ${JSON.stringify(key)}: ${value},`), '}'];
  const words = (name, entries) => table(name, 'str', Object.entries(entries).map(([key, value]) => [key, JSON.stringify(value)]));
  return [
    '"""Generated from injected_js/roles.json by tools/build-injected; do not edit."""',
    '',
    'from typing import Literal',
    '',
    '#: The name of an ARIA role.',
    'Role = Literal[',
    ...rows.map(({ name }) => `    ${JSON.stringify(name)},`),
    ']',
    '',
    ...traits.map((trait, i) => `${constantOf(trait)} = ${2 ** i}`),
    '',
    '#: Each role with the sum of its traits.',
    ...table('ROLE_TRAITS', 'int', rows.map(({ name, bits }) => [name, bits])),
    '#: The role that an element has by nature; "@" stands before the type of an `input`.',
    ...table('TAG_ROLES', 'str', rows.flatMap(({ name, elements }) => elements.map((element) => [element, JSON.stringify(name)]))),
    '#: Tokens of `role` that mean another role of the table.',
    ...words('SYNONYMS', synonyms()),
    '#: By the first eight letters of a role, the roles of which an ancestor must have one, between blanks.',
    ...words('REQUIRED_PARENTS', parents()),
    '',
  ].join('\n');
};
