/**
 * Bundles src/ into the files that are packaged; `--check` compares instead of writing; `--sizes` prints bytes per module.
 * The tools come from node_modules here, or from the folder that WEBVIEW_BRIDGE_NODE_MODULES names.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkEmbedded, checkSource } from './baseline.mjs';
import { localsToParameters, namesToVariables } from './pack.mjs';
import * as roleTable from './role_table.mjs';

const here = dirname(fileURLToPath(import.meta.url)), root = join(here, '..');
const load = createRequire(join(resolve(process.env.WEBVIEW_BRIDGE_NODE_MODULES || join(here, 'node_modules')), 'x.js'));
const wanted = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).devDependencies;
for (const tool of ['esbuild', 'terser']) {
  const { version } = load(`${tool}/package.json`);
  if (version != wanted[tool]) throw new Error(`${tool} ${wanted[tool]} is needed, found ${version}`);
}
// acorn comes with terser.
const esbuild = load('esbuild'), terser = load('terser'), acorn = load('acorn');

const KIB = 1024;
const FILES = [
  { entry: 'index.js', output: 'bridge/snapshot/injected.min.js', limit: 15 * KIB },
  { entry: 'checks/index.js', output: 'bridge/snapshot/checks.min.js', limit: 24 * KIB },
  { entry: 'capture/index.js', output: 'bridge/page/capture/document_capture.min.js', limit: 8 * KIB },
  { entry: 'reading/index.js', output: 'bridge/reading/extractor.min.js', limit: 12 * KIB },
];
const ROLE_TABLE = 'bridge/snapshot/role_table.py';
const TARGET = 'es2017';
// What "unsafe" assumes holds for this source: getters of the DOM have no side effects that matter, built-ins are the
// isolated world's own, and no `replace` is called for what its callback does. Three stay off: `booleans_as_integers`, because the page's own booleans are
// compared with `===` and replies carry booleans in JSON; `unsafe_comps` and `unsafe_math`, because numbers may be NaN.
const MINIFY = {
  ecma: 2017,
  toplevel: true,
  compress: {
    passes: 6, keep_fargs: false, pure_getters: true, unsafe: true, unsafe_arrows: true,
    unsafe_methods: true, unsafe_proto: true, unsafe_regexp: true, unsafe_undefined: true,
  },
  format: { ascii_only: true },
};
const [isCheck, isForced, hasSizes] = ['--check', '--force', '--sizes'].map((flag) => process.argv.includes(flag));

const packRoleTable = {
  name: 'pack the role table',
  setup: (build) => build.onLoad({ filter: /core\/role_table\.js$/ }, () => ({ contents: roleTable.javascript(), loader: 'js' })),
};

/** Writes a built file, or with `--check` says what is wrong with the one that is there. */
const deliver = (output, text, isWritable = true) => {
  const path = join(root, output);
  if (!isCheck) {
    if (isWritable) writeFileSync(path, text);
    return [];
  }
  return readFileSync(path, 'utf8') == text ? [] : [`${output} is not what injected_js/ builds to: run tools/build-injected`];
};

const build = async ({ entry, output, limit }) => {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minifySyntax: true,
    format: 'iife',
    target: TARGET,
    charset: 'ascii',
    mangleProps: /^_[a-z]/,
    legalComments: 'none',
    plugins: [packRoleTable],
    metafile: true,
    write: false,
  });
  const { code: small } = await terser.minify(localsToParameters(outputFiles[0].text, acorn), MINIFY);
  const { code: smaller } = await terser.minify(namesToVariables(small, acorn), { ...MINIFY, compress: false });
  const text = smaller.length < small.length ? smaller : small;
  const bytes = Buffer.byteLength(text);
  const problems = checkSource(text).map((problem) => `${output}: ${problem}`);
  if (hasSizes) {
    const inputs = Object.entries(Object.values(metafile.outputs)[0].inputs).sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput);
    for (const [name, { bytesInOutput }] of inputs) console.log(String(bytesInOutput).padStart(6), name.replace(/.*src\//, ''));
  }
  console.log(`${output}: ${bytes} bytes of ${limit}`);
  if (bytes > limit) problems.push(`${output}: ${bytes} bytes, the limit is ${limit}`);
  return [...problems, ...deliver(output, text, !problems.length || isForced)];
};

/** JavaScript that the bridge sends and that stands in Python strings. */
const embedded = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return embedded(path);
    return path.endsWith('.py') ? checkEmbedded(readFileSync(join(root, path), 'utf8')).map((problem) => `${path}: ${problem}`) : [];
  });

const problems = [...(await Promise.all(FILES.map(build))).flat(), ...deliver(ROLE_TABLE, roleTable.python()), ...embedded('bridge')];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length ? 1 : 0;
