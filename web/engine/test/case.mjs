// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Runs a folder of tests/cases (see the README there) through the engine, in Node or in a browser.
import { readNpy } from './npy.mjs';

function expect(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}

/// Four axes: of [n, d] and [h, n, d] the missing ones are 1.
function tensor({ data, shape, stride }, layout) {
  const pad = (numbers, by) => [...Array(4 - numbers.length).fill(by), ...numbers];
  const swap = ([b, n, h, d]) => [b, h, n, d];
  const [s, t] = [pad(shape, 1), pad(stride, 0)];
  return layout === 'bnhd' ? { data, shape: swap(s), stride: swap(t) } : { data, shape: s, stride: t };
}

const OPTIONS = {
  scale: (scale) => ({ scale }),
  softcap: (softcap) => ({ softcap }),
  causal: (causal) => ({ causal }),
  align: (align) => ({ align }),
  window: (window) => ({ window }),
  layout: () => ({}),
  threads: () => ({}),
};

async function run(foveate, read, call) {
  const { layout, ...options } = call.options ?? {};
  const input = async (name) => call.inputs[name] && readNpy(await read(call.inputs[name]));
  const [q, k, v, mask, bias] = await Promise.all(['q', 'k', 'v', 'mask', 'bias'].map(input));
  const vector = async (name) => (await input(name))?.data;
  const result = foveate.attention(
    { q: tensor(q, layout), k: tensor(k, layout), v: tensor(v, layout) },
    {
      ...Object.assign({}, ...Object.entries(options).map(([name, value]) => OPTIONS[name](value))),
      mask: mask && tensor(mask),
      bias: bias && tensor(bias),
      alibiSlopes: await vector('alibi'),
      sinks: await vector('sinks'),
      qLengths: await vector('q-lengths'),
      kvLengths: await vector('kv-lengths'),
    },
    ['o', 'lse', 'weights'],
  );
  const {
    shape: [b, h, n],
  } = tensor(q, layout);
  return { out: { data: result.o, b, h, n, layout }, lse: { data: result.lse, b, h, n }, weights: result.weights };
}

/// The result in C order of its file: [b, n, h, d] for that layout.
function ordered({ data, b, h, n, layout }) {
  if (layout !== 'bnhd') return data;
  const d = data.length / (b * h * n);
  return data.map((_, at) => {
    const [i, head] = [at % d, Math.floor(at / d) % h];
    const [row, batch] = [Math.floor(at / (d * h)) % n, Math.floor(at / (d * h * n))];
    return data[((batch * h + head) * n + row) * d + i];
  });
}

function assertClose(got, want, { rtol, atol }, name) {
  expect(got.length === want.length, `${name}: ${got.length} elements, expected ${want.length}`);
  want.forEach((y, i) => {
    const x = got[i];
    const same = Number.isFinite(y) ? Math.abs(x - y) <= atol + rtol * Math.abs(y) : Object.is(x, y);
    expect(same, `${name}: element ${i} is ${x}, expected ${y}`);
  });
}

/// Rows `from` to `to` of one axis of [b, h, n, ...].
function slice({ data, b, h, n }, { axis, from, to }) {
  const shape = [b, h, n];
  const inner = data.length / shape.slice(0, axis + 1).reduce((x, y) => x * y, 1);
  return data.filter((_, at) => {
    const row = Math.floor(at / inner) % shape[axis];
    return row >= from && row < to;
  });
}

const hasWord = (text, word) =>
  new RegExp(`(?<![A-Za-z0-9.])${word.replaceAll(/[^\w-]/g, '\\$&')}(?![A-Za-z0-9])`).test(text);

async function checkRefused(foveate, read, about) {
  let refusal;
  await run(foveate, read, about.calls[0]).catch((error) => (refusal = error));
  expect(refusal?.name === 'EngineError', `refused with ${refusal}`);
  for (const word of about.refused) expect(hasWord(refusal.message, word), `no '${word}' in: ${refusal.message}`);
}

/// Checks a case. `read` gives the bytes of a file of its folder. Throws where something is not as it says.
export async function checkCase(foveate, read) {
  const about = JSON.parse(new TextDecoder().decode(await read('case.json')));
  if (about.refused) return checkRefused(foveate, read, about);
  const results = [];
  for (const call of about.calls) results.push(await run(foveate, read, call));
  for (const [name, file] of Object.entries(about.close?.arrays ?? {})) {
    if (name !== 'out' && name !== 'lse') continue; // gradients
    const want = readNpy(await read(file)).data;
    assertClose(ordered(results[0][name]), want, about.close, name);
    if (name === 'lse') expect(results[0].lse.data.constructor === want.constructor, 'lse: another type of float');
  }
  for (const {
    array,
    calls: [first, second],
    of_first: part,
  } of about.same_bits ?? []) {
    const x = part ? slice(results[first][array], part) : results[first][array].data;
    const y = results[second][array].data;
    const same = x.length === y.length && x.every((element, i) => Object.is(element, y[i]));
    expect(same, `${array} of calls ${first}, ${second} differ`);
  }
}
