// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the installed package says of wrong calls: one line that names the argument, and nothing is passed over.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { foveate } from './installed.mjs';

const { EngineError, init, initGradients, tensor } = foveate;
const ones = (n, d) => tensor(new Float32Array(n * d).fill(1), [n, d]);
const [q, k, v] = [ones(2, 4), ones(3, 4), ones(3, 2)];
const inputs = { q, k, v };
const given = { o: ones(2, 2), lse: ones(2, 1), dO: ones(2, 2) };

/// The line that a call is refused with.
function line(call) {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof EngineError, `${error}`);
    assert.match(error.message, /^[\w.]+: [^\n]+$/);
    return error.message;
  }
  return assert.fail('not refused');
}

test('inputs', async () => {
  const engine = await init();
  const says = (wrong, message) =>
    assert.match(
      line(() => engine.attention(wrong)),
      message,
    );
  says(q, /^inputs: a tensor; expected \{ q, k, v \}/); // attention(q, k, v)
  says(undefined, /^inputs: undefined; expected \{ q, k, v \}/);
  says([q, k, v], /^inputs: an Array of 3; expected \{ q, k, v \}/);
  says({ ...inputs, causal: true }, /^inputs\.causal: no such name; expected \{ q, k, v \}; options come behind/);
  says({ q, k }, /^v: undefined; expected a tensor .*: tensor\(data, \[n_kv, d_v\]\)$/);
  says({ ...inputs, q: [1] }, /^q: an Array of 1; expected a tensor .*: tensor\(Float32Array\.from\(/);
  says({ ...inputs, k: k.data }, /^k: a Float32Array of 12 without a shape; .*: tensor\(k, \[n_kv, d_k\]\)$/);
  says({ ...inputs, k: { data: [1, 2], shape: [1, 1, 1, 2] } }, /^k\.data: an Array of 2; expected Float32Array or/);
  says({ ...inputs, q: tensor(new Int32Array(8), [2, 4]) }, /^q\.data: an Int32Array of 8; expected Float32Array or/);
  says(
    { ...inputs, k: tensor(new Float64Array(12), [3, 4]) },
    /^k\.data: a Float64Array of 12; expected Float32Array, as/,
  );
  says({ ...inputs, k: ones(3, 5) }, /^k: head dim 5 does not equal q's 4/);
});

test('views stay within their arrays', async () => {
  const engine = await init();
  const says = (wrong, message) =>
    assert.match(
      line(() => engine.attention({ ...inputs, q: wrong })),
      message,
    );
  const { data, shape } = q;
  says({ data, shape: [2, 4] }, /^q\.shape: 2 axes; expected .*four whole numbers.*tensor\(data, \[n_q, d_k\]\)/);
  says({ data }, /^q\.shape: undefined; expected an array of four/);
  says({ data, shape: [1, 1, 2, 4.5] }, /^q\.shape: 4\.5; expected/);
  says({ data, shape, stride: [0, 0, -4, 1] }, /^q\.stride: -4; expected/);
  says({ data, shape, strides: [0, 0, 4, 1] }, /^q\.strides: no such name; did you mean stride\?/);
  says({ data: data.subarray(1), shape }, /^q: 7 elements; expected at least 8 for shape \[1, 1, 2, 4\]; give/);
  says(
    { data, shape, stride: [0, 0, 5, 1] },
    /^q: 8 elements; expected at least 9 for shape .* and stride \[0, 0, 5, 1\]/,
  );
});

test('options', async () => {
  const engine = await init();
  const backward = await initGradients();
  const says = (options, message) => {
    assert.match(
      line(() => engine.attention(inputs, options)),
      message,
    );
    assert.match(
      line(() => backward.attentionBackward(inputs, given, options)),
      message,
    );
  };
  says({ causl: true }, /^options\.causl: no such name; did you mean causal\?$/);
  says({ is_causal: true }, /^options\.is_causal: .* mean causal\?/);
  says({ attn_mask: 1 }, /^options\.attn_mask: .* mean mask\?/);
  says({ kv_lengths: [1] }, /^options\.kv_lengths: .* mean kvLengths\?/);
  says({ windowLeft: 3 }, /^options\.windowLeft: .* mean window\?/);
  says({ tau: 1 }, /^options\.tau: no such name; expected an object of scale, softcap, .*, seed$/);
  says(['o'], /^options: an Array of 1; expected an object of/);
  says(null, /^options: null; expected an object of/);
  says({ scale: NaN }, /^scale: NaN; expected a finite number; leave it out/);
  says({ scale: '1' }, /^scale: '1'; expected a finite number/);
  says({ softcap: '30' }, /^softcap: '30'; expected a finite number/);
  says({ softcap: -1 }, /^softcap: -1; expected/);
  says({ causal: 'false' }, /^causal: 'false'; expected true or false/);
  says({ align: 'left' }, /^align: 'left'; expected 'bottom-right' or 'top-left'/);
  says({ window: 3 }, /^window: 3; expected \[left, right\], .*: \[3, 0\]$/);
  says({ window: [3] }, /^window: an Array of 1; expected \[left, right\]/);
  says({ window: [1.5, 0] }, /^window: 1\.5; expected \[left, right\]/);
  says({ window: [-2, 0] }, /^window: -2; expected \[left, right\]/);
  says({ qOffset: 1.5 }, /^qOffset: 1\.5; expected a whole number/);
  says({ kvOffset: 2 ** 31 }, /^kvOffset: 2147483648; expected a whole number below 2\^31/);
  says({ dropout: 1 }, /^dropout: 1; expected/);
  says({ dropout: '0.5' }, /^dropout: '0\.5'; expected a finite number/);
  for (const seed of [-1, 1.5, 2 ** 53, -1n, 2n ** 64n, '7'])
    says({ seed }, /^seed: .*; expected a whole number from 0/);
});

test('arrays among the options', async () => {
  const engine = await init();
  const backward = await initGradients();
  const says = (options, message) => {
    assert.match(
      line(() => engine.attention(inputs, options)),
      message,
    );
    assert.match(
      line(() => backward.attentionBackward(inputs, given, options)),
      message,
    );
  };
  says({ mask: new Uint8Array(6) }, /^mask: a Uint8Array of 6 without a shape; .*: tensor\(mask, \[2, 3\]\)$/);
  says({ mask: [true] }, /^mask: an Array of 1; expected a tensor of Uint8Array: tensor\(Uint8Array\.from\(mask/);
  says({ mask: ones(2, 3) }, /^mask\.data: a Float32Array of 6; expected Uint8Array .*from\(data\); .* is a bias$/);
  says({ mask: tensor(new Uint8Array(4), [2, 2]) }, /^mask: shape \[1, 1, 2, 2\] does not broadcast/);
  says({ mask: null }, /^mask: null; expected a value; leave it out/);
  says({ mask: false }, /^mask: false; expected a tensor/);
  says({ bias: new Float32Array(6) }, /^bias: a Float32Array of 6 without a shape; .*: tensor\(bias, \[2, 3\]\)$/);
  says({ bias: tensor(new Uint8Array(6), [2, 3]) }, /^bias\.data: a Uint8Array of 6; .* is a mask$/);
  for (const name of ['alibiSlopes', 'sinks']) {
    says({ [name]: 1 }, new RegExp(`^${name}: 1; expected an array of numbers, Float32Array or Float64Array`));
    says({ [name]: ['a'] }, new RegExp(`^${name}: entry 0 is 'a'; expected numbers alone`));
    says({ [name]: [1, 2] }, new RegExp(`^${name}: 2 entries; expected h_q = 1`));
  }
  says({ alibiSlopes: [NaN] }, /^alibiSlopes: the slope of head 0 is nan/);
  for (const [name, n] of [
    ['qLengths', 2],
    ['kvLengths', 3],
  ]) {
    says({ [name]: 1 }, new RegExp(`^${name}: 1; expected an array of whole numbers, Int32Array or BigInt64Array`));
    says(
      { [name]: new Uint32Array(1) },
      new RegExp(`^${name}: an? Uint32Array of 1; expected an array of whole numbers`),
    );
    says({ [name]: [1.5] }, new RegExp(`^${name}: entry 0 is 1\\.5; expected whole numbers`));
    says({ [name]: [9] }, new RegExp(`^${name}: entry 0 is 9; expected 0 to n_.* = ${n}`));
    says({ [name]: [1, 1] }, new RegExp(`^${name}: 2 entries; expected b = 1`));
  }
});

test('results asked for', async () => {
  const engine = await init();
  const says = (outputs, message) =>
    assert.match(
      line(() => engine.attention(inputs, {}, outputs)),
      message,
    );
  says('o', /^outputs: 'o'; expected an array of names among o, lse, weights: \['o'\]/);
  says(['scores'], /^outputs: 'scores'; expected an array of names among o, lse, weights$/);
  says(['weight'], /^outputs: 'weight'; .* mean weights\?/);
  says([0], /^outputs: 0; expected/);
  says([], /^outputs: none given; expected o, lse or weights/);
  const wide = { data: new Float32Array(1), shape: [1, 1, 2 ** 16, 1], stride: [0, 0, 0, 0] };
  const large = { q: wide, k: wide, v: wide };
  assert.match(
    line(() => engine.attention(large, {}, ['weights'])),
    /^memory: 17179869184 bytes cannot be had; compute/,
  );
});

test('gradients', async () => {
  const gradients = await initGradients();
  const says = (wrong, asked, message) =>
    assert.match(
      line(() => gradients.attentionBackward(inputs, wrong, {}, asked)),
      message,
    );
  says(undefined, ['dq'], /^given: undefined; expected \{ o, lse, dO \}/);
  says({ causal: true }, ['dq'], /^given\.causal: no such name; expected \{ o, lse, dO \}; options come behind/);
  says({ ...given, d_o: given.dO }, ['dq'], /^given\.d_o: no such name; did you mean dO\?/);
  says({ o: given.o, lse: given.lse }, ['dq'], /^dO: undefined; expected a tensor/);
  says({ ...given, o: given.o.data }, ['dq'], /^o: a Float32Array of 4 without a shape; .*: tensor\(o, \[2, 2\]\)$/);
  says({ ...given, lse: given.lse.data }, ['dq'], /^lse: .*: tensor\(lse, \[2, 1\]\)$/);
  says({ ...given, dO: ones(2, 3) }, ['dq'], /^dO: shape \[1, 1, 2, 3\]; expected \[1, 1, 2, 2\]/);
  says(
    { ...given, dO: tensor(new Float64Array(4), [2, 2]) },
    ['dq'],
    /^dO\.data: a Float64Array of 4; expected Float32/,
  );
  says(given, ['dbias'], /^dbias: there is no bias among the options; give/);
  says(given, ['dsinks'], /^dsinks: there is no sinks among the options; give/);
  says(given, ['q'], /^gradients: 'q'; expected an array of names among dq, dk, dv, dbias, dsinks/);
  says(given, 'dq', /^gradients: 'dq'; expected an array of names .*: \['dq'\]/);
  says(given, [], /^gradients: none given/);
});

test('tensor', () => {
  const data = new Float32Array(24);
  const says = (message, ...wrong) =>
    assert.match(
      line(() => tensor(...wrong)),
      message,
    );
  says(/^shape: 1 axes; expected an array of two to four whole numbers/, data, [24]);
  says(/^shape: 4; expected an array of two to four whole numbers/, data, 4, 6);
  says(/^shape: -4; expected/, data, [-4, -6]);
  says(/^shape: \[5, 5\] has 25 elements; expected data's 24/, data, [5, 5]);
  says(/^data: an Array of 2; expected Float32Array, .* Float32Array\.from/, [1, 2], [1, 2]);
  says(/^data: a Uint32Array of 2; expected Float32Array/, new Uint32Array(2), [1, 2]);
  says(/^layout: 'nhd'; expected 'bhnd', left out, or 'bnhd'/, data, [4, 6], 'nhd');
});

test('init', async () => {
  const says = async (source, message) => {
    const error = await init(source).then(
      () => assert.fail('not refused'),
      (error) => error,
    );
    assert.ok(error instanceof EngineError, `${error}`);
    assert.match(error.message, message);
  };
  await says(null, /^source: null; expected a URL, bytes/);
  await says(5, /^source: 5; expected a URL, bytes/);
  await says([], /^source: an Array of 0; expected/);
  await says({ relax: false }, /^source\.relax: no such name; did you mean relaxed\?/);
  await says({ relaxed: true }, /^relaxed: true; expected a URL, .* false for none/);
  await says({ strict: false }, /^strict: false; expected a URL/);
});
