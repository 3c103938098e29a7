// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine for Node's tests: engine.ts as a browser's build has it, and the modules of build/web.
import { readdir, readFile } from 'node:fs/promises';

import { build } from 'esbuild';

export const root = new URL('../../../', import.meta.url);

const entry = new URL('web/engine/engine.ts', root).pathname;
const bundle = await build({ entryPoints: [entry], bundle: true, write: false, format: 'esm', target: 'es2022' });
export const code = bundle.outputFiles[0].text;
export const api = await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);

/// The folders of tests/cases, and why one is skipped.
export const casesFolder = new URL('tests/cases/', root);
export const cases = [];
for (const entry of await readdir(casesFolder, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue;
  const about = JSON.parse(await readFile(new URL(`${entry.name}/case.json`, casesFolder), 'utf8'));
  const type = (about.needs ?? []).find((need) => need === 'f16' || need === 'bf16');
  cases.push({ name: entry.name, skip: type && `${type} is not built yet` });
}
if (cases.length === 0) throw new Error(`no cases in ${casesFolder}`);

export async function engine(name) {
  const bytes = await readFile(new URL(`build/web/foveate-${name}.wasm`, root));
  return api.Engine.instantiate(await WebAssembly.compile(bytes));
}

/// Why the module cannot run here; false where it can.
export function skips(name) {
  return name === 'relaxed' && !api.hasRelaxedSimd()
    ? `Node ${process.versions.node} has no relaxed SIMD (Node 20: --experimental-wasm-relaxed-simd)`
    : false;
}
