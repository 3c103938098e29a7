// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine for Node's tests: engine.ts and gradients.ts as a browser's build has them, and the modules of build/web.
import { readdir, readFile } from 'node:fs/promises';

import { build } from 'esbuild';

export const root = new URL('../../../', import.meta.url);

const contents = "export * from './engine'; export * from './gradients';";
const stdin = { contents, resolveDir: new URL('web/engine', root).pathname };
const bundle = await build({ stdin, bundle: true, write: false, format: 'esm', target: 'es2022' });
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

async function compiled(name) {
  return WebAssembly.compile(await readFile(new URL(`build/web/foveate-${name}.wasm`, root)));
}
export async function engine(name) {
  return api.Engine.instantiate(await compiled(name));
}
export async function gradientEngine(name) {
  return api.GradientEngine.instantiate(await compiled(`gradients-${name}`));
}

/// Why the module cannot run here; false where it can.
export function skips(name) {
  return name === 'relaxed' && !api.hasRelaxedSimd()
    ? `Node ${process.versions.node} has no relaxed SIMD (Node 20: --experimental-wasm-relaxed-simd)`
    : false;
}
