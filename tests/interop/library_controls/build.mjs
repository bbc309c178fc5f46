/** Bundles the pages: `node build.mjs NODE_MODULES OUTPUT_FOLDER`. Pages write what they were told into `said`. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const esbuild = createRequire(join(modules, 'x.js'))('esbuild');

mkdirSync(output, { recursive: true });
for (const file of readdirSync(join(here, 'src'))) {
  const name = file.split('.')[0];
  await esbuild.build({
    entryPoints: [join(here, 'src', file)],
    outfile: join(output, `${name}.js`),
    bundle: true,
    format: 'iife',
    target: 'chrome120',
    minify: true,
    nodePaths: [modules],
    define: { 'process.env': '{}', 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' },
    alias: { vue: join(modules, 'vue/dist/vue.esm-bundler.js'), 'react-native': join(modules, 'react-native-web') },
    loader: { '.js': 'jsx', '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty', '.eot': 'empty', '.svg': 'empty', '.png': 'dataurl', '.gif': 'dataurl' },
    jsx: 'automatic',
  });
  const head = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">';
  writeFileSync(join(output, `${name}.html`), `${head}<title>${name}</title><link rel="stylesheet" href="${name}.css"><div id="app"></div><script>said = {}</script><script src="${name}.js"></script></html>`);
}
