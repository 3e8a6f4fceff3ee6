import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

const root = import.meta.dirname;
const pages = readdirSync(join(root, 'entries'));

// The build is committed, so it must be the same bytes on every machine and from every
// folder: no clock, no path and no commit may get into it.
export default defineConfig({
  root,
  base: '/web/',
  publicDir: false,
  plugins: [svelte({
    compilerOptions: {
      cssHash: ({ filename }) => 's-' + createHash('sha256').update(relative(root, filename)).digest('hex').slice(0, 7),
    },
  })],
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    manifest: 'manifest.json',
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      input: pages.map((page) => join(root, 'entries', page)),
      // The shop's styles are one file: a page can be read when it and that file are there.
      // What few people open, a review and a report, has styles of its own.
      // What nearly every page uses, and is small, is one file too, and so is what an event's page and its
      // preview at the desk share: a request costs more than they do.
      output: { codeSplitting: { groups: [
        { name: 'shop', test: /\/src\/(shared|shop(?!\/re(view|port)\/))\/.*css$/ },
        { name: 'base', test: /preload-helper|\/src\/shared\/((accent|clock\.svelte|money|open|storage|when|words)\.ts|ui\/Shell\.svelte)$/ },
        { name: 'said', test: /\/src\/shop\/(Called\.svelte|words(\.en)?\.ts)$/ },
        { name: 'outside', test: /\/src\/(shared\/((ui\/)?Prose\.svelte|outside\.ts|picture\.ts)|shop\/event\/Hero\.svelte)$/ },
      ] } },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/covers': 'http://127.0.0.1:8080' } },
});
