// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The package's types, strictly, as a project reads them that resolves modules as Node does, or as bundlers do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { project } from './installed.mjs';

const tsc = new URL('../../node_modules/.bin/tsc', import.meta.url).pathname;

function check(code, ...options) {
  writeFileSync(join(project, 'use.ts'), code);
  const args = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022', ...options];
  try {
    execFileSync(tsc, [...args, 'use.ts'], { cwd: project, encoding: 'utf8' });
    return '';
  } catch (error) {
    return error.stdout;
  }
}

const USE = `
import { EngineError, type Foveate, init, type Options, tensor } from 'foveate';
import { initGradients } from 'foveate/gradients';
const foveate: Foveate = await init({ relaxed: false });
const q = tensor(new Float32Array(8), [2, 4]);
const options: Options = { causal: true, window: [1, 0], mask: tensor(new Uint8Array(4), [2, 2]), seed: 1n };
const o: Float32Array | undefined = foveate.attention({ q, k: q, v: q }, options, ['o', 'weights']).o;
const wide = tensor(new Float64Array(8), [2, 4]);
const lse: Float64Array | undefined = foveate.attention({ q: wide, k: wide, v: wide }, {}, ['lse']).lse;
const gradients = await initGradients(new URL('https://example.org/foveate.wasm'));
const { dq } = gradients.attentionBackward({ q, k: q, v: q }, { o: q, lse: q, dO: q });
const error: Error = new EngineError('a');
const version: string = foveate.info.version;
export { dq, error, lse, o, version };
`;

const RESOLVED = {
  node: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
};

for (const [name, options] of Object.entries(RESOLVED)) {
  test(`types, modules found as ${name} does`, () => {
    assert.equal(check(USE, ...options), '');
    const wrong = (line) => check(USE + line, ...options);
    assert.match(wrong('foveate.attention({ q, k: q });'), /'v' is missing/);
    assert.match(wrong("foveate.attention({ q, k: q, v: q }, { align: 'left' });"), /not assignable/);
    assert.match(wrong("foveate.attention({ q, k: q, v: q }, {}, ['scores']);"), /not assignable/);
    assert.match(wrong('const no: Float64Array = foveate.attention({ q, k: q, v: q }).o!;'), /not assignable/);
  });
}
