// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The gradients of a folder of tests/cases: attention forward and backward, beside what an oracle computed.
import { readNpy } from '../../engine/test/npy.mjs';

const AXES = { q: 'bhnd', k: 'bhnd', v: 'bhnd', grad: 'bhnd', mask: 'bhnd', bias: 'bhnd' };
const VECTORS = { alibi: 'alibiSlopes', sinks: 'sinks', 'q-lengths': 'qLengths', 'kv-lengths': 'kvLengths' };

/// Whether there is something of a case to compare: gradients of one call, in the layout that results have.
export function hasGradients({ calls, close, needs = [] }) {
  const arrays = Object.keys(close?.arrays ?? {});
  return arrays.some((name) => name.startsWith('d')) && calls[0].options?.layout !== 'bnhd' && !needs.includes('f16');
}

function fourAxes({ data, shape, stride }) {
  const missing = 4 - shape.length;
  return { data, shape: [...Array(missing).fill(1), ...shape], stride: [...Array(missing).fill(0), ...stride] };
}

/// Throws where a gradient is not as it should be. `read` gives the bytes of a file of the case's folder.
export async function checkGradients(forward, backward, about, read) {
  const { inputs, options: asked = {} } = about.calls[0];
  const { layout, threads, ...options } = asked;
  const arrays = {};
  for (const [name, file] of Object.entries(inputs)) arrays[name] = readNpy(await read(file));
  const [q, k, v, grad, mask, bias] = Object.keys(AXES).map((name) => arrays[name] && fourAxes(arrays[name]));
  for (const [name, option] of Object.entries(VECTORS)) if (arrays[name]) options[option] = arrays[name].data;
  if (mask) options.mask = mask;
  if (bias) options.bias = bias;
  const { o, lse } = forward.attention({ q, k, v }, options, ['o', 'lse']);
  const [b, h, n] = q.shape;
  const given = { o: { data: o, shape: [b, h, n, v.shape[3]] }, lse: { data: lse, shape: [b, h, n, 1] }, dO: grad };
  const names = Object.keys(about.close.arrays).filter((name) => name.startsWith('d'));
  const gradients = backward.attentionBackward({ q, k, v }, given, options, names);
  const { rtol, atol } = about.close;
  for (const name of names) {
    const want = readNpy(await read(about.close.arrays[name])).data;
    if (gradients[name].length !== want.length) throw new Error(`${name}: ${gradients[name].length} elements`);
    want.forEach((y, i) => {
      const x = gradients[name][i];
      const close = Number.isFinite(y) ? Math.abs(x - y) <= atol + rtol * Math.abs(y) : Object.is(x, y);
      if (!close) throw new Error(`${name}: element ${i} is ${x}, expected ${y}`);
    });
  }
  return names.length;
}
