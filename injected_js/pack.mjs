/**
 * Build-time transforms that make a script smaller than minifiers do, because they may know more about it: locals become
 * default parameters, and property names and strings that stand in several places are kept in variables.
 */
const walk = (node, visit, parent) => {
  if (!node || typeof node != 'object') return;
  if (Array.isArray(node)) for (const item of node) walk(item, visit, parent);
  else {
    if (node.type) visit(node, parent);
    for (const key in node) if (key != 'type') walk(node[key], visit, node.type ? node : parent);
  }
};

/** Applies [start, end, text] edits. */
const edited = (code, edits) => edits.sort((a, b) => b[0] - a[0]).reduce((text, [start, end, by]) => text.slice(0, start) + by + text.slice(end), code);

/** How many arguments each function is given at most; the names of those that are not only called. */
const callsOf = (program) => {
  const most = new Map(), passedOn = new Set(), declared = new Map();
  walk(program, (node, parent) => {
    if (node.type != 'Identifier') return;
    if (parent.type == 'VariableDeclarator' && parent.id == node) declared.set(node.name, (declared.get(node.name) || 0) + 1);
    else if (parent.type == 'MemberExpression' && parent.property == node && !parent.computed) return;
    else if (parent.type == 'CallExpression' && parent.callee == node && !parent.arguments.some((it) => it.type == 'SpreadElement'))
      most.set(node.name, Math.max(most.get(node.name) || 0, parent.arguments.length));
    else passedOn.add(node.name);
  });
  return { most, passedOn, declared };
};

/**
 * The declarations that an arrow function begins with become default parameters: of functions all of whose calls are
 * seen, none with more arguments than it declares, and of those that are given to `once`, which passes one.
 */
export const localsToParameters = (code, acorn) => {
  const program = acorn.parse(code, { ecmaVersion: 2020 }), { most, passedOn, declared } = callsOf(program), edits = [];
  walk(program, (node, parent) => {
    if (node.type != 'ArrowFunctionExpression' || node.async || node.body.type != 'BlockStatement' || node.params.some((it) => it.type == 'RestElement')) return;
    const name = parent.type == 'VariableDeclarator' && parent.init == node && parent.id.name;
    const isSafe = name ? declared.get(name) == 1 && !passedOn.has(name) && (most.get(name) || 0) <= node.params.length : parent.type == 'CallExpression' && parent.callee.name == 'once' && node.params.length == 1;
    const [first] = node.body.body;
    if (!isSafe || !first || first.type != 'VariableDeclaration' || first.kind == 'var' || first.declarations.some((it) => !it.init)) return;
    const close = code.lastIndexOf(')', code.lastIndexOf('=>', node.body.start));
    if (close < node.start) return;
    const locals = first.declarations.map((it) => code.slice(it.start, it.end)).join(', ');
    edits.push([close, close, `${node.params.length ? ', ' : ''}${locals}`], [first.start, first.end, '']);
  });
  return edited(code, edits);
};

const SEPARATOR = '|';

/**
 * Property names and strings that cost less in variables are kept there; the result is for a mangler.
 * @param {number} nameBytes what the name of a variable is taken to cost; its declaration costs two more beside the text
 */
export const namesToVariables = (code, acorn, nameBytes) => {
  const places = new Map();
  const add = (text, edit, saved) => {
    const place = places.get(text) || { edits: [], saved: -text.length - nameBytes - 2 };
    place.edits.push(edit);
    place.saved += saved;
    places.set(text, place);
  };
  walk(acorn.parse(code, { ecmaVersion: 2020 }), (node, parent) => {
    if (node.type == 'MemberExpression' && !node.computed && node.property.type == 'Identifier')
      add(node.property.name, (name) => [code.lastIndexOf('.', node.property.start), node.property.end, `[${name}]`], node.property.name.length - nameBytes - 1);
    else if (node.type == 'Literal' && typeof node.value == 'string' && !/[^ -{}~]/.test(node.value) && !(parent.type == 'Property' && parent.key == node))
      add(node.value, (name) => [node.start, node.end, ` ${name} `], node.value.length + 2 - nameBytes);
  });
  const kept = [...places].filter(([, { saved }]) => saved > 0);
  const edits = kept.flatMap(([, place], i) => place.edits.map((edit) => edit(`$${i}`)));
  const declaration = `var [${kept.map((_, i) => `$${i}`)}]=${JSON.stringify(kept.map(([text]) => text).join(SEPARATOR))}.split(${JSON.stringify(SEPARATOR)});`;
  return edited(code, edits).replace(/^\(\(\)=>\{/, (start) => start + declaration);
};
