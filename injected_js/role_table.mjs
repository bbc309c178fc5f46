/** Makes the role tables of the injected script and of the Python package from roles.json. */
import { readFileSync } from 'node:fs';

const { traits, roles } = JSON.parse(readFileSync(new URL('roles.json', import.meta.url), 'utf8'));

/** The traits of a role as one number: the trait at index i is bit i. */
const bits = (role) => role.traits.reduce((sum, trait) => sum + 2 ** traits.indexOf(trait), 0);

/** "input[type=radio]" is "@radio" in the tables; everything else is a tag. */
const keyOf = (element) => element.replace(/^input\[type=(.*)\]$/, '@$1');

const constantOf = (trait) => trait.replace(/[A-Z]/g, '_$&').toUpperCase();

const rows = Object.entries(roles).map(([name, role]) => ({ name, bits: bits(role), elements: (role.elements || []).map(keyOf) }));

/**
 * The packed table: groups of roles that share their traits, "BITS role:element,element role …". An element that is
 * called like its role is left out, so "article:" stands for "article:article".
 */
const packed = () => {
  const groups = new Map();
  for (const { name, bits, elements } of rows) {
    const own = elements.length ? `${name}:${elements.length == 1 && elements[0] == name ? '' : elements}` : name;
    groups.set(bits, [...(groups.get(bits) || []), own]);
  }
  return [...groups].map(([bits, names]) => `${bits} ${names.join(' ')}`).join(' ');
};

/** The module `core/role_table.js` as it is bundled. */
export const javascript = () => `${traits.map((trait, i) => `export const ${constantOf(trait)} = ${2 ** i};`).join('\n')}
export const ROLE_TRAITS = {}, TAG_ROLES = {};
let bits;
for (const word of ${JSON.stringify(packed())}.split(' ')) {
  const [role, elements] = word.split(':');
  if (+role >= 0) bits = +role;
  else {
    ROLE_TRAITS[role] = bits;
    if (elements != null) for (const element of (elements || role).split(',')) TAG_ROLES[element] = role;
  }
}
`;

/** The module `bridge/snapshot/role_table.py`. */
export const python = () => {
  const table = (name, type, items) => [`${name}: dict[str, ${type}] = {`, ...items.map(([key, value]) => `    ${JSON.stringify(key)}: ${value},`), '}'];
  return [
    '"""Generated from injected_js/roles.json by tools/build-injected; do not edit."""',
    '',
    ...traits.map((trait, i) => `${constantOf(trait)} = ${2 ** i}`),
    '',
    '#: Each role with the sum of its traits.',
    ...table('ROLE_TRAITS', 'int', rows.map(({ name, bits }) => [name, bits])),
    '#: The role that an element has by nature; "@" stands before the type of an `input`.',
    ...table('TAG_ROLES', 'str', rows.flatMap(({ name, elements }) => elements.map((element) => [element, JSON.stringify(name)]))),
    '',
  ].join('\n');
};
