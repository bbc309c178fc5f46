/** Bundles the pages: `node build.mjs NODE_MODULES OUTPUT_FOLDER`. Svelte is compiled by its own compiler. */
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, 'x.js'));
const esbuild = require('esbuild');
const { compile } = await import(pathToFileURL(join(modules, 'svelte/src/compiler/index.js')));

const svelte = {
  name: 'svelte',
  setup(build) {
    build.onLoad({ filter: /\.svelte$/ }, ({ path }) => ({
      contents: compile(readFileSync(path, 'utf8'), { filename: path, generate: 'client', css: 'injected' }).js.code,
    }));
  },
};

mkdirSync(output, { recursive: true });
for (const name of ['react.jsx', 'vue.js', 'svelte.js', 'lit.js']) {
  const framework = name.split('.')[0];
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(here, 'src', name)],
    bundle: true,
    format: 'iife',
    target: 'chrome83',
    minify: true,
    write: false,
    nodePaths: [modules],
    conditions: ['browser', 'production'],
    define: { 'process.env.NODE_ENV': '"production"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' },
    alias: { vue: 'vue/dist/vue.esm-bundler.js' },
    jsx: 'automatic',
    plugins: [svelte],
  });
  const html = readFileSync(join(here, 'page.html'), 'utf8').replaceAll('FRAMEWORK', framework);
  writeFileSync(join(output, `${framework}.html`), html);
  writeFileSync(join(output, `${framework}.js`), outputFiles[0].text);
}
