/**
 * Bundles src/ into the files that are packaged; `--check` compares instead of writing; `--sizes` prints bytes per module.
 * The tools come from node_modules here, or from the folder that WEBVIEW_BRIDGE_NODE_MODULES names.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkEmbedded, checkSource } from './baseline.mjs';
import { checkReads } from './dom_reads.mjs';
import { localsToParameters, namesToVariables } from './pack.mjs';
import { shortNames } from './short_names.mjs';
import * as roleTable from './role_table.mjs';

const here = dirname(fileURLToPath(import.meta.url)), root = join(here, '..');
const modules = resolve(process.env.WEBVIEW_BRIDGE_NODE_MODULES || join(here, 'node_modules'));
const load = createRequire(join(modules, 'x.js'));
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
  { entry: 'actions/index.js', output: 'bridge/snapshot/actions.min.js', limit: 7 * KIB },
  { entry: 'index.js', output: 'bridge/snapshot/standalone.min.js', limit: 15 * KIB, isStandalone: true },
  { entry: 'actions/index.js', output: 'bridge/snapshot/standalone_actions.min.js', limit: 7 * KIB, isStandalone: true },
  { entry: 'standalone/index.js', output: 'bridge/snapshot/standalone_replies.min.js', limit: 4 * KIB },
  { entry: 'checks/index.js', output: 'bridge/snapshot/checks.min.js', limit: 42 * KIB },
  { entry: 'compat/css_zoom.js', output: 'bridge/snapshot/css_zoom.min.js', limit: 2 * KIB },
  { entry: 'capture/index.js', output: 'bridge/page/capture/document_capture.min.js', limit: 8 * KIB },
  { entry: 'reading/index.js', output: 'bridge/reading/extractor.min.js', limit: 12 * KIB },
];
/** Files of one expression each, for worlds where nothing may be left behind: they are minified, and keep their value. */
const EXPRESSIONS = [
  { entry: 'page_world/block_proxy_bypass.js', output: 'bridge/page/interception/block_proxy_bypass.min.js' },
  { entry: 'page_world/wait_for_function.js', output: 'bridge/page/navigation/wait_for_function.min.js' },
  { entry: 'page_world/add_tag.js', output: 'bridge/page/add_tag.min.js' },
  { entry: 'page_world/read_content.js', output: 'bridge/page/read_content.min.js' },
  { entry: 'page_world/write_content.js', output: 'bridge/page/write_content.min.js' },
  { entry: 'page_world/select_text.js', output: 'bridge/page/locators/select_text.min.js' },
  { entry: 'page_world/storage_item.js', output: 'bridge/surfaces/storage_item.min.js' },
  { entry: 'page_world/dispatch_event.js', output: 'bridge/page/locators/dispatch_event.min.js' },
  { entry: 'page_world/paint_probe.js', output: 'bridge/session/paint_probe.min.js' },
  { entry: 'page_world/count_frames.js', output: 'bridge/surfaces/doctor/count_frames.min.js' },
  { entry: 'webview/host_quirks.js', output: 'bridge/virtual_device/engine/host_quirks.min.js' },
  { entry: 'webview/defects.js', output: 'bridge/virtual_device/engine/defects.min.js' },
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
/** The smallest result of these guesses is taken: see `namesToVariables`. */
const NAME_BYTES = [1, 1.25, 1.5, 1.75, 2];
const [isCheck, isForced, hasSizes] = ['--check', '--force', '--sizes'].map((flag) => process.argv.includes(flag));

const packRoleTable = {
  name: 'pack the role table',
  setup(build) {
    // Bundles that use nothing of the table go without it.
    build.onResolve({ filter: /\/role_table\.js$/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, path), sideEffects: false }));
    build.onLoad({ filter: /core\/role_table\.js$/ }, () => ({ contents: roleTable.javascript(), loader: 'js' }));
  },
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

const build = async ({ entry, output, limit, isStandalone = false }) => {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minifySyntax: true,
    format: 'iife',
    target: TARGET,
    charset: 'ascii',
    mangleProps: /^_[a-z]/,
    define: { IS_STANDALONE: String(isStandalone) },
    legalComments: 'none',
    plugins: [packRoleTable],
    metafile: true,
    write: false,
  });
  const { code: small } = await terser.minify(localsToParameters(outputFiles[0].text, acorn), MINIFY);
  const printed = async (code) => (await terser.minify(code, { ...MINIFY, compress: false, mangle: false })).code;
  const candidates = [small, ...NAME_BYTES.map((bytes) => namesToVariables(small, acorn, bytes))];
  const texts = await Promise.all(candidates.map(async (code) => printed(shortNames(await printed(code), acorn))));
  const text = texts.reduce((best, it) => (it.length < best.length ? it : best));
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

// The page may have replaced built-ins where these run, so nothing is assumed of them.
const MINIFY_EXPRESSION = { ecma: 2017, compress: { expression: true, passes: 2 }, format: { ascii_only: true } };

const buildExpression = async ({ entry, output }) => {
  const { code } = await terser.minify(readFileSync(join(here, 'src', entry), 'utf8'), MINIFY_EXPRESSION);
  const text = `(${code.replace(/;$/, '')})`;
  const problems = checkSource(text).map((problem) => `${output}: ${problem}`);
  return [...problems, ...deliver(output, text, !problems.length || isForced)];
};

/** JavaScript that the bridge sends and that stands in Python strings. */
const embedded = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return embedded(path);
    return path.endsWith('.py') ? checkEmbedded(readFileSync(join(root, path), 'utf8')).map((problem) => `${path}: ${problem}`) : [];
  });

const problems = [...(await Promise.all([...FILES.map(build), ...EXPRESSIONS.map(buildExpression)])).flat(), ...deliver(ROLE_TABLE, roleTable.python()), ...embedded('bridge'), ...checkReads(join(here, 'src/core'), modules, acorn)];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length ? 1 : 0;
