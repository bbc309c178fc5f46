/**
 * Bundles src/ into the files that are packaged; `--check` compares instead of writing; `--sizes` prints bytes per module.
 * esbuild comes from node_modules here, or from the folder that WEBVIEW_BRIDGE_NODE_MODULES names.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkEmbedded, checkSource } from './baseline.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.env.WEBVIEW_BRIDGE_NODE_MODULES || join(here, 'node_modules');
const esbuild = createRequire(join(folder, 'x.js'))('esbuild');
const wanted = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).devDependencies.esbuild;
if (esbuild.version != wanted) throw new Error(`esbuild ${wanted} is needed, found ${esbuild.version}`);

// What a file may not reach, in bytes.
const TARGET = 'es2017', LIMIT = 15000, CHECKS_LIMIT = 12000, READER_LIMIT = 12000;
const FILES = [
  { entry: 'index.js', output: 'bridge/snapshot/injected.min.js', limit: LIMIT },
  { entry: 'checks/index.js', output: 'bridge/snapshot/checks.min.js', limit: CHECKS_LIMIT },
  { entry: 'reading/index.js', output: 'bridge/reading/extractor.min.js', limit: READER_LIMIT, globalName: '__reader' },
];
const [isCheck, isForced, hasSizes] = ['--check', '--force', '--sizes'].map((flag) => process.argv.includes(flag));

const build = async ({ entry, output, limit, globalName }) => {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    format: 'iife',
    globalName,
    target: TARGET,
    charset: 'ascii',
    mangleProps: /^_[a-z]/,
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  // Once more: the declarations of all modules become one.
  const { code: text } = await esbuild.transform(outputFiles[0].text, { minify: true, target: TARGET, charset: 'ascii' });
  const bytes = Buffer.byteLength(text), path = join(here, '..', output);
  const problems = checkSource(text).map((problem) => `${output}: ${problem}`);
  if (hasSizes) {
    const inputs = Object.entries(Object.values(metafile.outputs)[0].inputs).sort((a, b) => b[1].bytesInOutput - a[1].bytesInOutput);
    for (const [name, { bytesInOutput }] of inputs) console.log(String(bytesInOutput).padStart(6), name.replace(/.*src\//, ''));
  }
  console.log(`${output}: ${bytes} bytes of ${limit}`);
  if (bytes >= limit) problems.push(`${output}: ${bytes} bytes, the limit is ${limit}`);
  if (isCheck) {
    if (readFileSync(path, 'utf8') != text) problems.push(`${output} is not what src/ builds to: run node injected_js/build.mjs`);
  } else if (!problems.length || isForced) writeFileSync(path, text);
  return problems;
};

/** What runs in pages, and stands beside the Python that sends it or in its strings. */
const embedded = (folder) =>
  readdirSync(join(here, '..', folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return embedded(path);
    const isSent = path.endsWith('.py') || (path.endsWith('.js') && folder == 'bridge/page');
    return isSent ? checkEmbedded(readFileSync(join(here, '..', path), 'utf8')).map((problem) => `${path}: ${problem}`) : [];
  });

const problems = [...(await Promise.all(FILES.map(build))).flat(), ...embedded('bridge')];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length ? 1 : 0;
