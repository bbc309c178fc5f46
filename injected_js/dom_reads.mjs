/**
 * Finds reads of the DOM that a page can bend.
 *
 * The fields of a form are properties of the form, and stand before those of its interfaces (HTML §4.10.3): `el.matches`
 * of a form with a field named "matches" is that field. What makes snapshots, `src/core/`, asks the prototypes instead
 * (`core/dom.js`). A property that forms have by their interfaces is refused wherever the source reads it.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Not an element: the document (isolated worlds do not see what a page names in it), and shadow roots. */
const OTHER_OBJECTS = new Set(['doc', 'tree']);
/** Of the nodes that a snapshot consists of. */
const OTHER_PROPERTIES = new Set(['role', 'children']);
/** What arrays, strings, maps and promises have too. */
const BUILT_IN = new Set([Array, String, Map, Function, Promise].flatMap((it) => [it, it.prototype]).flatMap(Object.getOwnPropertyNames));

/** The properties of forms, from TypeScript's declarations of the DOM. */
const formProperties = (modules) => {
  const packages = readdirSync(join(modules, '@typescript')).map((name) => join(modules, '@typescript', name, 'lib', 'lib.dom.d.ts'));
  const declarations = packages.map((path) => { try { return readFileSync(path, 'utf8'); } catch { return ''; } }).join('\n');
  const interfaces = {};
  for (const [, name, parents, body] of declarations.matchAll(/^interface (\w+)(?: extends ([^{]+))? \{\n([\s\S]*?)^\}/gm)) {
    const known = (interfaces[name] = interfaces[name] || { parents: [], names: [] });
    known.parents.push(...(parents || '').split(',').map((it) => it.trim().replace(/<.*/, '')));
    known.names.push(...[...body.matchAll(/^ {4}(?:readonly |get |set )?(\w+)\??[(:<]/gm)].map(([, it]) => it));
  }
  const found = new Set(), visit = (name) => {
    const { parents, names } = interfaces[name] || { parents: [], names: [] };
    for (const it of names) if (!BUILT_IN.has(it) && !OTHER_PROPERTIES.has(it)) found.add(it);
    parents.forEach(visit);
  };
  visit('HTMLFormElement');
  if (!found.has('getAttribute') || !found.has('offsetParent')) throw new Error('the declarations of the DOM were not understood');
  return found;
};

const nodesOf = (node) => (!node || typeof node != 'object' ? [] : [...(typeof node.type == 'string' ? [node] : []), ...Object.values(node).flatMap(nodesOf)]);

/** What is read in a source that forms can shadow, by line. */
export const shadowedReads = (source, properties, acorn) =>
  nodesOf(acorn.parse(source, { ecmaVersion: 2022, sourceType: 'module', locations: true }))
    .filter(({ type, computed, object, property }) => type == 'MemberExpression' && !computed && properties.has(property.name) && !OTHER_OBJECTS.has(object.name))
    .map(({ loc, property }) => `${loc.start.line}: .${property.name} can be a field of a form: read it through core/dom.js`);

export const checkReads = (folder, modules, acorn) => {
  const properties = formProperties(modules);
  return readdirSync(folder).flatMap((name) => shadowedReads(readFileSync(join(folder, name), 'utf8'), properties, acorn).map((it) => `${folder}/${name}:${it}`));
};
