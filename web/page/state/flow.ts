// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The whole flow, from what the visitor has set to Z: every matrix between, as the engine computes it.

import { computed } from '@preact/signals';

import type { Inputs, Options, Tensor } from '../../engine/engine';
import { attentionByHead, call, scoresByHead } from '../worker/pool';
import { live } from './live';
import { beside, columns, type Matrix, row } from './matrix';
import { overlaid, type Pins, readPins } from './pins';
import * as scene from './scene';
import { get } from './store';

/// One head's matrices.
export interface Head {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly raw: Matrix; // q . k
  readonly scaled: Matrix; // by scale; before the mask
  readonly masked: Matrix; // -inf where a key takes no part
  readonly weights: Matrix;
  readonly o: Matrix; // Z
  readonly lse: Float32Array;
}

export interface Flow {
  readonly example: scene.Example;
  readonly x?: Matrix; // the sentence's
  readonly wQ?: Matrix;
  readonly wK?: Matrix;
  readonly wV?: Matrix;
  /// All heads side by side.
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly z: Matrix;
  readonly heads: readonly Head[];
  readonly dK: number; // of one head
}

/// What the engine is told of scaling: undefined is its own rule, 1 / sqrt(d_k).
export const scaleOption = computed((): number | undefined => {
  const how = get(scene.scaling);
  return how === 'sqrt' ? undefined : how === 'off' ? 1 : 1 / get(scene.factor);
});

/// The number itself: 1 / sqrt(d_k) where that is left to the engine.
export function scaleNumber(option: number | undefined, dK: number): number {
  return option ?? 1 / Math.sqrt(dK);
}

/// The options of masks alone.
function maskOptions(rows: number, cols: number): Options {
  const kind = get(scene.mask);
  if (kind === 'causal') return { causal: true };
  if (kind === 'window') return { window: [get(scene.windowLeft), get(scene.windowRight)] };
  if (kind === 'own') {
    const data = Uint8Array.from(get(scene.ownMask.value).data, (x) => Number(x !== 0));
    return { mask: { data, shape: [1, 1, rows, cols] } };
  }
  return {};
}

interface Projected {
  q: Matrix;
  k: Matrix;
  v: Matrix;
}

async function project(x: Matrix, w: Matrix): Promise<Matrix> {
  return { rows: x.rows, cols: w.cols, data: await call('product', x.data, w.data, [x.rows, x.cols, w.cols]) };
}
async function projected(x: Matrix, wQ: Matrix, wK: Matrix, wV: Matrix, pins: Pins): Promise<Projected> {
  const [q, k, v] = await Promise.all([project(x, wQ), project(x, wK), project(x, wV)]);
  return { q: overlaid(q, pins('q')), k: overlaid(k, pins('k')), v: overlaid(v, pins('v')) };
}

/// A matrix whose columns are heads side by side, as the engine's tensor.
export function tensorOf({ rows, cols, data }: Matrix, heads: number): Tensor<Float32Array> {
  const d = cols / heads;
  return { data, shape: [1, heads, rows, d], stride: [rows * cols, d, cols, 1] };
}

async function attend(
  { q, k, v }: Projected,
  heads: number,
  scale: number | undefined,
  masks: Options,
): Promise<Head[]> {
  const inputs: Inputs<Float32Array> = { q: tensorOf(q, heads), k: tensorOf(k, heads), v: tensorOf(v, heads) };
  const scaled = scale === undefined ? {} : { scale };
  const [raw, bare, masked, results] = await Promise.all([
    scoresByHead(inputs, { scale: 1 }),
    scoresByHead(inputs, scaled),
    scoresByHead(inputs, { ...scaled, ...masks }),
    attentionByHead(inputs, { ...scaled, ...masks }, ['o', 'lse', 'weights']),
  ]);
  const scores = (data: Float32Array | undefined): Matrix => ({
    rows: q.rows,
    cols: k.rows,
    data: data ?? new Float32Array(),
  });
  return results.map(({ o, lse, weights }, h) => ({
    q: part(q, h, heads),
    k: part(k, h, heads),
    v: part(v, h, heads),
    raw: scores(raw[h]),
    scaled: scores(bare[h]),
    masked: scores(masked[h]),
    weights: scores(weights),
    o: { rows: q.rows, cols: v.cols / heads, data: o ?? new Float32Array() },
    lse: lse ?? new Float32Array(),
  }));
}
function part(m: Matrix, h: number, heads: number): Matrix {
  const d = m.cols / heads;
  return columns(m, h * d, (h + 1) * d);
}

/// The head with what was set by hand, and all that follows from it. Rows where nothing was set keep their bits.
async function withPins(h: Head, pins: Pins, head: number, scale: number): Promise<Head> {
  const raw = overlaid(h.raw, pins('s', head));
  let { scaled, masked, weights, o } = h;
  if (raw !== h.raw) {
    const products = await call('product', raw.data, Float32Array.of(scale), [raw.data.length, 1, 1]);
    const set = (old: Matrix): Matrix => ({
      ...old,
      data: old.data.map((x, i) => (raw.data[i] === h.raw.data[i] || x === -Infinity ? x : (products[i] ?? NaN))),
    });
    [scaled, masked] = [set(scaled), set(masked)];
  }
  masked = overlaid(masked, pins('p', head));
  weights = await renewed(weights, masked, h.masked, async (i) => (await call('softmax', row(masked, i))).weights);
  weights = overlaid(weights, pins('a', head));
  o = await renewed(o, weights, h.weights, (i) => call('product', row(weights, i), h.v.data, [1, h.v.rows, h.v.cols]));
  return { ...h, raw, scaled, masked, weights, o };
}

/// Rows of `made` computed anew where what they are made from has changed.
async function renewed(
  made: Matrix,
  from: Matrix,
  before: Matrix,
  compute: (i: number) => Promise<Float32Array>,
): Promise<Matrix> {
  if (from === before) return made;
  const data = made.data.slice();
  for (let i = 0; i < made.rows; ++i) {
    const changed = row(from, i).some((x, j) => !Object.is(x, row(before, i)[j]));
    if (changed) data.set(await compute(i), i * made.cols);
  }
  return { ...made, data };
}

async function flowOf(
  example: scene.Example,
  inputs: Projected | { x: Matrix; wQ: Matrix; wK: Matrix; wV: Matrix },
  heads: number,
  scale: number | undefined,
  masks: Options,
): Promise<Flow> {
  const pins = readPins(example, heads); // before anything is waited for, so that a change of them is seen
  const qkv = 'x' in inputs ? await projected(inputs.x, inputs.wQ, inputs.wK, inputs.wV, pins) : inputs;
  const dK = qkv.q.cols / heads;
  const computed = await attend(qkv, heads, scale, masks);
  const each = await Promise.all(computed.map((h, i) => withPins(h, pins, i, scaleNumber(scale, dK))));
  const z = overlaid(beside(each.map(({ o }) => o)), pins('z'));
  return { example, ...inputs, ...qkv, z, heads: each, dK };
}

export const flow = live((): Promise<Flow> => {
  const example = get(scene.example);
  const heads = Number(get(scene.heads));
  const scale = scaleOption.value;
  if (example === 'cvs') {
    const inputs = { q: get(scene.briefs), k: get(scene.titles), v: get(scene.skills) };
    return flowOf(example, inputs, heads, scale, maskOptions(inputs.q.rows, inputs.k.rows));
  }
  const inputs = { x: get(scene.wordVectors), wQ: get(scene.wQ), wK: get(scene.wK), wV: get(scene.wV) };
  return flowOf(example, inputs, heads, scale, maskOptions(inputs.x.rows, inputs.x.rows));
});

/// The first brief over the pile: what the step-by-step parts show.
export const firstBrief = computed(() => {
  const { cols, data } = get(scene.briefs);
  return data.subarray(0, cols);
});

/// Brief, titles and skills as the engine takes them.
export function firstBriefInputs(): Inputs<Float32Array> {
  const q = { rows: 1, cols: firstBrief.value.length, data: firstBrief.value };
  return { q: tensorOf(q, 1), k: tensorOf(get(scene.titles), 1), v: tensorOf(get(scene.skills), 1) };
}
