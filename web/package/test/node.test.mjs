// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The installed package in Node: what it holds, what init takes, tests/cases forward and backward.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { checkCase } from '../../engine/test/case.mjs';
import { cases, casesFolder } from '../../engine/test/load.mjs';
import { checkGradients, hasGradients } from './gradients_case.mjs';
import { foveate, installed, project, readme } from './installed.mjs';

const { init, initGradients, tensor } = foveate;
const wasm = (name) => join(installed, 'wasm', `foveate-${name}.wasm`);
const reader = (name) => (file) => readFile(new URL(`${name}/${file}`, casesFolder));

test('the package holds what it says, and no more', async () => {
  const files = await readdir(installed, { recursive: true, withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map((file) => file.name);
  const others = names.filter((name) => !/\.(js|d\.ts|wasm)$/.test(name)).sort();
  assert.deepEqual(others, ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.txt', 'package.json']);
  assert.equal(names.filter((name) => name.endsWith('.wasm')).length, 4);
  const notices = await readFile(join(installed, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const part of ['highway', 'musl', 'LLVM', 'wasi-libc', 'CC0']) assert.match(notices, new RegExp(part, 'i'));
  const sizes = await Promise.all(names.length ? ['strict', 'gradients-strict'].map((name) => stat(wasm(name))) : []);
  for (const { size } of sizes) assert.ok(size < 300_000);
});

test('init: beside the package, from bytes, a URL, a response, a module', async () => {
  const bytes = await readFile(wasm('strict'));
  const sources = [
    bytes,
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    new URL(`file://${wasm('strict')}`),
    `file://${wasm('strict')}`,
    new Response(bytes),
    await WebAssembly.compile(bytes),
    { relaxed: false },
    { strict: bytes, relaxed: bytes },
  ];
  for (const source of sources) assert.equal((await init(source)).info.simd, 'strict');
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  assert.equal((await init()).info.version, version);
  await assert.rejects(init(new Response('', { status: 404 })), /HTTP status 404/);
  await assert.rejects(init(new URL('file:///none.wasm')), /none\.wasm/);
  await assert.rejects(init(Uint8Array.of(1, 2, 3)), WebAssembly.CompileError);
});

test('relaxed SIMD is used where it is, and there alone', async () => {
  const about = "import('foveate').then(async (f) => console.log((await f.init()).info.simd))";
  const run = (...flags) => execFileSync('node', [...flags, '-e', about], { cwd: project, encoding: 'utf8' }).trim();
  const [major] = process.versions.node.split('.').map(Number);
  assert.equal(run('--experimental-wasm-relaxed-simd'), 'relaxed');
  if (major < 22) assert.equal(run(), 'strict');
});

for (const source of [{ relaxed: false }, {}]) {
  const name = 'relaxed' in source ? 'strict' : 'as chosen';
  test(`cases, ${name}`, async (t) => {
    const engine = await init(source);
    const gradients = await initGradients(source);
    let compared = 0;
    for (const { name, skip } of cases) {
      const read = reader(name);
      await t.test(name, { skip }, async () => {
        await checkCase(engine, read);
        const about = JSON.parse(await read('case.json'));
        if (hasGradients(about)) compared += await checkGradients(engine, gradients, about, read);
      });
    }
    assert.ok(compared > 30, `${compared} gradients`);
  });
}

test('tensor: axes of both layouts', async () => {
  const data = Float32Array.from({ length: 24 }, (_, i) => i);
  assert.deepEqual(tensor(data, [12, 2]).shape, [1, 1, 12, 2]);
  assert.deepEqual(tensor(data, [12, 2], 'bnhd').shape, [1, 1, 12, 2]);
  assert.deepEqual(tensor(data, [12, 2], 'bnhd').stride.slice(2), [2, 1]);
  assert.deepEqual(tensor(data, [3, 4, 2]).shape, [1, 3, 4, 2]);
  const swapped = tensor(data, [4, 3, 2], 'bnhd');
  assert.deepEqual(
    [swapped.shape, swapped.stride.slice(1)],
    [
      [1, 3, 4, 2],
      [2, 6, 1],
    ],
  );

  const engine = await init();
  const turned = Float32Array.from(data, (_, i) => data[(((i >> 1) & 3) * 3 + (i >> 3)) * 2 + (i & 1)]);
  const packed = tensor(turned, [3, 4, 2]);
  const [a, b] = [packed, swapped].map((x) => engine.attention({ q: x, k: x, v: x }).o);
  assert.deepEqual(a, b);
});

test('plain arrays of numbers a head and a sequence are as typed ones', async () => {
  const engine = await init();
  const gradients = await initGradients();
  for (const type of [Float32Array, Float64Array]) {
    const waves = (n, d, s) =>
      tensor(
        type.from({ length: 2 * n * d }, (_, i) => Math.sin(s + i)),
        [1, 2, n, d],
      );
    const inputs = { q: waves(5, 4, 1), k: waves(7, 4, 2), v: waves(7, 3, 3) };
    const run = (options) => {
      const { o, lse } = engine.attention(inputs, options, ['o', 'lse']);
      const given = { o: tensor(o, [2, 5, 3]), lse: tensor(lse, [2, 5, 1]), dO: tensor(o, [2, 5, 3]) };
      return { o, lse, ...gradients.attentionBackward(inputs, given, options, ['dq', 'dsinks']) };
    };
    const [slopes, sinks] = [
      [0.1, 0.3],
      [0.7, -1.1],
    ];
    const plain = run({ alibiSlopes: slopes, sinks, qLengths: [4], kvLengths: [6] });
    const typed = run({
      alibiSlopes: type.from(slopes),
      sinks: type.from(sinks),
      qLengths: Int32Array.of(4),
      kvLengths: BigInt64Array.of(6n),
    });
    assert.deepEqual(plain, typed);
    assert.notDeepEqual(plain.o, run({ alibiSlopes: slopes, sinks, kvLengths: [7] }).o);
    assert.equal(plain.dsinks.length, 2);
    assert.equal(plain.dsinks.constructor, type);
  }
});

test('dropout: a seed gives the same bits, another gives others, and gradients go through it', async () => {
  const engine = await init();
  const random = (n, d, s) =>
    tensor(
      Float32Array.from({ length: n * d }, (_, i) => Math.sin(s + i)),
      [n, d],
    );
  const inputs = { q: random(9, 4, 1), k: random(9, 4, 2), v: random(9, 3, 3) };
  const run = (seed) => engine.attention(inputs, { dropout: 0.5, seed }, ['o', 'lse', 'weights']);
  assert.deepEqual(run(7), run(7n));
  assert.notDeepEqual(run(7).o, run(2n ** 63n).o);
  // By hand: what o has kept of the weights is 0 or 1 / (1 - P) of each; the loss is the sum of o.
  const gradients = await initGradients();
  const { o, lse } = run(7);
  const dO = tensor(new Float32Array(27).fill(1), [9, 3]);
  const given = { o: tensor(o, [9, 3]), lse: tensor(lse, [9, 1]), dO };
  const { dv } = gradients.attentionBackward(inputs, given, { dropout: 0.5, seed: 7 }, ['dv']);
  const identity = {
    ...inputs,
    v: tensor(
      Float32Array.from({ length: 81 }, (_, i) => Number(i % 10 === 0)),
      [9, 9],
    ),
  };
  const kept = engine.attention(identity, { dropout: 0.5, seed: 7 }).o; // [query, key]
  for (let j = 0; j < 9; ++j) {
    let sum = 0;
    for (let i = 0; i < 9; ++i) sum += kept[i * 9 + j];
    for (let c = 0; c < 3; ++c) assert.ok(Math.abs(dv[j * 3 + c] - sum) < 1e-5, `dv of key ${j}`);
  }
});

test('the README’s code runs', () => {
  const print = `
    console.log(o.length, lse.length, weights.length, dq.length, dk.length, dv.length, o[0]);
    console.log(near.o.length, Array.from(padded.weights.subarray(0, 8), (x) => x.toFixed(3)).join(' '));`;
  const args = ['--input-type=module', '-e', readme() + print];
  assert.equal(
    execFileSync('node', args, { cwd: project, encoding: 'utf8' }),
    '16 8 64 32 32 16 3\n16 0.167 0.167 0.167 0.167 0.167 0.167 0.000 0.000\n',
  );
});
