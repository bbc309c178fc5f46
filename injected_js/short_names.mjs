/**
 * The last step of a build: the variables that are named most often get the shortest names.
 *
 * Minifiers give names in the order of declarations. Here two variables may share a name unless one is used where the
 * other is visible; the most frequent choose first.
 */
const ALPHABET = 'etonrisalcdufpmhgbvykwxSTCAEIPRMNOLBDFHUGWVqjzXQJKYZ$_';

/** @typedef {{parent: Scope | null, isFunction: boolean, names: Map<string, Variable>}} Scope */
/** @typedef {{scope: Scope, places: any[], wishes: string[], scopes: Set<Scope>, to: string}} Variable what it wishes to be called: properties that it is read from or put into */

const isFunction = (node) => /Function/.test(node.type);

/** The identifiers that a pattern declares. */
const declaredBy = (pattern) =>
  !pattern ? []
  : pattern.type == 'Identifier' ? [pattern]
  : pattern.type == 'ObjectPattern' ? pattern.properties.flatMap((it) => declaredBy(it.value || it.argument))
  : pattern.type == 'ArrayPattern' ? pattern.elements.flatMap(declaredBy)
  : declaredBy(pattern.left || pattern.argument);

/** @type {(node: any, visit: (kid: any, key: string) => void) => void} */
const eachKid = (node, visit) => {
  for (const key in node) {
    const value = node[key];
    for (const kid of Array.isArray(value) ? value : [value]) if (kid && typeof kid.type == 'string') visit(kid, key);
  }
};

const functionScope = (scope) => (scope.isFunction ? scope : functionScope(scope.parent));

/** All variables of a program, and the names that it takes from the world around it. */
const analyse = (program) => {
  const variables = [], free = new Map(), uses = [];
  const declare = (scope, id) => {
    if (scope.names.has(id.name)) return;
    const variable = { scope, places: [], wishes: [], scopes: new Set(), to: '' };
    scope.names.set(id.name, variable);
    variables.push(variable);
  };
  const walk = (node, scope, parent, key, grandparent) => {
    let inner = scope;
    // A body shares the scope of its function or `catch`: what is declared there may not be called like a parameter.
    const isBody = parent && (isFunction(parent) || parent.type == 'CatchClause');
    if (isFunction(node) || (!isBody && /^(BlockStatement|For\w*Statement|CatchClause|Program|SwitchStatement)$/.test(node.type))) {
      inner = { parent: scope, isFunction: isFunction(node) || node.type == 'Program', names: new Map() };
      if (node.type == 'FunctionDeclaration') declare(scope, node.id);
      else if (node.id) declare(inner, node.id);
      for (const pattern of node.params || (node.type == 'CatchClause' && node.param ? [node.param] : [])) for (const id of declaredBy(pattern)) declare(inner, id);
    }
    if (node.type == 'VariableDeclaration')
      for (const { id } of node.declarations) for (const it of declaredBy(id)) declare(node.kind == 'var' ? functionScope(scope) : scope, it);
    if (node.type == 'Identifier') {
      const isName = (parent.type == 'MemberExpression' && key == 'property' && !parent.computed) || (/^(Property|MethodDefinition)$/.test(parent.type) && key == 'key' && !parent.computed);
      if (!isName) uses.push({ node, scope, parent, grandparent });
      return;
    }
    eachKid(node, (kid, key) => {
      if (node.type == 'Property' && node.shorthand) {
        if (key == 'key') return;
        if (kid.type == 'AssignmentPattern') kid.left.isShorthand = true;
        else kid.isShorthand = true;
      }
      walk(kid, inner, node, key, parent);
    });
  };
  walk(program, null, null, '', null);
  for (const { node, scope, parent, grandparent } of uses) {
    const passed = [];
    let at = scope;
    for (; at && !at.names.has(node.name); at = at.parent) passed.push(at);
    if (!at) {
      for (const it of passed) free.set(it, (free.get(it) || new Set()).add(node.name));
      continue;
    }
    const variable = at.names.get(node.name);
    variable.places.push(node);
    const { key } = parent.type == 'AssignmentPattern' ? grandparent : parent;
    if (key && key.name) variable.wishes.push(key.name);
    for (const it of passed) variable.scopes.add(it);
  }
  return { variables, free };
};

const isKeyword = (name) => /^(do|if|in|as|is|of)$/.test(name);

function* allNames() {
  yield* ALPHABET;
  for (const first of ALPHABET) for (const second of ALPHABET + '0123456789') if (!isKeyword(first + second)) yield first + second;
}

const firstFree = (taken) => {
  for (const name of allNames()) if (!taken.has(name)) return name;
};

/** @type {(code: string, acorn: any) => string} */
export const shortNames = (code, acorn) => {
  const { variables, free } = analyse(acorn.parse(code, { ecmaVersion: 2020 }));
  // In each scope: the variables that are used or declared there.
  const present = new Map();
  for (const variable of variables)
    for (const scope of [variable.scope, ...variable.scopes]) present.set(scope, (present.get(scope) || []).concat(variable));
  const enclosed = (variable) => [variable.scope, ...variable.scopes];
  variables.sort((a, b) => b.places.length - a.places.length);
  for (const variable of variables) {
    // Taken: what is used in the scope of this one, and what is declared in a scope through which this one is reached.
    const taken = new Set(free.get(variable.scope));
    for (const other of present.get(variable.scope)) if (other.to) taken.add(other.to);
    for (const scope of enclosed(variable)) for (const other of scope.names.values()) if (other.to) taken.add(other.to);
    const wished = variable.wishes.find((name) => name.length == 1 && !taken.has(name));
    variable.to = wished || firstFree(taken);
  }
  const edits = variables.flatMap(({ places, to }) =>
    places.map((node) => [node.start, node.end, node.isShorthand ? `${node.name}:${to}` : to]),
  );
  return edits.sort((a, b) => b[0] - a[0]).reduce((text, [start, end, by]) => text.slice(0, start) + by + text.slice(end), code);
};
