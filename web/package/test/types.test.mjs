// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The package's types, strictly, as a project reads them that resolves modules as Node does, or as bundlers do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { project, readme } from './installed.mjs';

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
import { EngineError, type Floats, type Foveate, init, type Options, type Output, tensor } from 'foveate';
import { initGradients } from 'foveate/gradients';
const foveate: Foveate = await init({ relaxed: false });
const q = tensor(new Float32Array(8), [2, 4]);
const options: Options = { causal: true, window: [1, 0], mask: tensor(new Uint8Array(4), [2, 2]), seed: 1n };
const inputs = { q, k: q, v: q };
const o: Float32Array = foveate.attention(inputs).o;
const weights: Float32Array = foveate.attention(inputs, options, ['o', 'weights']).weights;
const wide = tensor(new Float64Array(8), [2, 4]);
const { lse }: { lse: Float64Array } = foveate.attention({ q: wide, k: wide, v: wide }, {}, ['lse']);
const either: Output[] = ['o'];
const perhaps: Float32Array | undefined = foveate.attention(inputs, {}, either).o;
const anyFloats = tensor(new Float32Array(8) as Floats, [2, 4]);
const floats: Floats = foveate.attention({ q: anyFloats, k: anyFloats, v: anyFloats }).o;
const again = foveate.attention({ ...inputs, v: tensor(o, [2, 4]) }); // what the engine gave, beside what one made
const gradients = await initGradients(new URL('https://example.org/foveate.wasm'));
const given = { o: tensor(o, [2, 4]), lse: tensor(new Float32Array(2), [2, 1]), dO: q };
const { dq } = gradients.attentionBackward(inputs, given);
const length: number = dq.length + gradients.attentionBackward(inputs, given, {}, ['dv']).dv.length;
const lengths: Options = { qLengths: [1], kvLengths: Int32Array.of(2), sinks: [0.5], alibiSlopes: new Float32Array(1) };
const error: Error = new EngineError('a');
const version: string = foveate.info.version;
export { again, error, floats, length, lengths, lse, o, perhaps, version, weights };
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
    assert.match(wrong('foveate.attention({ q, k: wide, v: q });'), /not assignable/);
    assert.match(wrong('foveate.attention(inputs, { causl: true });'), /does not exist|known properties/);
    assert.match(wrong('foveate.attention(inputs, { window: 3 });'), /not assignable/);
    assert.match(wrong('foveate.attention(inputs, { mask: new Uint8Array(4) });'), /not assignable|missing/);
    assert.match(wrong('const no: Float64Array = foveate.attention(inputs).o;'), /not assignable/);
    assert.match(wrong("foveate.attention(inputs, {}, ['lse']).o;"), /'o' does not exist/);
    assert.match(wrong('const no: Float32Array = foveate.attention(inputs, {}, either).o;'), /undefined/);
    assert.match(wrong("gradients.attentionBackward(inputs, given, {}, ['dq']).dk;"), /'dk' does not exist/);
    assert.match(wrong('gradients.attentionBackward(inputs, { ...given, dO: wide });'), /not assignable/);
  });

  test(`the README’s code, strictly, modules found as ${name} does`, () => {
    const use = 'const length: number = o.length + lse.length + weights.length + dq.length + padded.weights.length;';
    assert.equal(check(`${readme()}\n${use}\nexport { dk, dv, length, near };`, ...options), '');
  });
}
