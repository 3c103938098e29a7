// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vite';

const at = (path: string) => new URL(path, import.meta.url).pathname;

export default defineConfig({
  root: at('page'),
  base: './', // any folder of any server
  resolve: { alias: { '@wasm': at('../build/web'), 'd3-interpolate': at('page/ui/interpolate.ts') } },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  worker: { format: 'es' },
  build: {
    outDir: at('dist'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { host: '127.0.0.1', fs: { allow: [at('..')] } },
});
