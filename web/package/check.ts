// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What JavaScript lets through and the engine does not see: names, kinds of values, views that reach past their arrays. How
// arguments fit each other is the engine's to say; the page, whose calls are all typed, does without. A message names the argument, what was got, what was expected and a
// remedy.

import {
  type Axes,
  type Data,
  elements,
  EngineError,
  type Inputs,
  type Options,
  packed,
  type Tensor,
} from '../engine/arguments.js';
import { near } from './near.js';

type Kinds = readonly Data[typeof Symbol.toStringTag][];

const FLOATS: Kinds = ['Float32Array', 'Float64Array'];

/// A value in a word or two.
function described(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  const name =
    ArrayBuffer.isView(value) || Array.isArray(value) ? kindOf(value) : 'data' in value ? 'tensor' : 'object';
  const length = 'length' in value ? ` of ${String(value.length)}` : '';
  return `${/^[AIo]/.test(name) ? 'an' : 'a'} ${name}${length}`;
}
function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

export function refusal(name: string, got: unknown, expected: string): EngineError {
  return new EngineError(`${name}: ${described(got)}; expected ${expected}`);
}

/// An object that has names of these alone.
export function checkNames(what: string, value: unknown, names: readonly string[], expected: string): void {
  const plain = typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
  const tensor = plain && 'data' in value && !names.includes('data');
  if (!plain || tensor) throw refusal(what, value, expected);
  for (const name of Object.keys(value as object)) {
    if (names.includes(name)) continue;
    const meant = near(name, names);
    const remedy = meant ? `did you mean ${meant}?` : `expected ${expected}`;
    throw new EngineError(`${what}.${name}: no such name; ${remedy}`);
  }
}

/// Names of results: an array of them.
export function checkAsked(what: string, asked: unknown, names: readonly string[]): void {
  const expected = `an array of names among ${names.join(', ')}`;
  if (!Array.isArray(asked)) throw refusal(what, asked, `${expected}: ['${names[0]}']`);
  for (const name of asked as unknown[]) {
    if (names.includes(name as string)) continue;
    const meant = typeof name === 'string' && near(name, names);
    throw refusal(what, name, meant ? `${expected}; did you mean ${meant}?` : expected);
  }
}

function int32(name: string, n: unknown, least: number, what: string): void {
  if (Number.isInteger(n) && (n as number) >= least && (n as number) < 2 ** 31) return;
  throw refusal(name, n, what);
}

function checkAxes(name: string, axes: unknown, remedy: string): asserts axes is Axes {
  const expected = `an array of four whole numbers from 0, [b, h, n, d]; ${remedy}`;
  if (!Array.isArray(axes)) throw refusal(name, axes, expected);
  if (axes.length !== 4) throw new EngineError(`${name}: ${axes.length} axes; expected ${expected}`);
  for (const n of axes as unknown[]) int32(name, n, 0, expected);
}

/// A view that stays within its array, as the engine trusts it to. `shown` is a shape that one might write, `remedy` what to
/// do about another kind of array.
export function checkTensor(name: string, value: unknown, shown: string, kinds = FLOATS, remedy = ''): void {
  const all = kinds.join(' or ');
  if (typeof value !== 'object' || value === null || !('data' in value)) {
    const got = ArrayBuffer.isView(value) ? `${described(value)} without a shape` : described(value);
    const flat = Array.isArray(value) && `${kinds[0]}.from(${name}.flat(Infinity))`;
    const data = flat || (ArrayBuffer.isView(value) ? name : 'data');
    throw new EngineError(`${name}: ${got}; expected a tensor of ${all}: tensor(${data}, ${shown})`);
  }
  checkNames(name, value, ['data', 'shape', 'stride'], 'data, shape and stride alone');
  const { data, shape, stride } = value as Record<string, unknown>;
  if (!kinds.includes(kindOf(data) as Kinds[number])) {
    throw refusal(`${name}.data`, data, `${all}${remedy || `: ${kinds[0]}.from(data)`}`);
  }
  checkAxes(`${name}.shape`, shape, `tensor(data, ${shown}) makes them`);
  if (stride !== undefined) checkAxes(`${name}.stride`, stride, 'leave it out where the array is packed');
  const steps = stride ?? packed(shape);
  const reach = elements(shape) && shape.reduce((last, n, axis) => last + (n - 1) * (steps[axis] ?? 0), 1);
  const { length } = data as Data;
  if (reach <= length) return;
  const view = `shape [${shape.join(', ')}]${stride ? ` and stride [${steps.join(', ')}]` : ''}`;
  throw new EngineError(
    `${name}: ${length} elements; expected at least ${reach} for ${view}; give a longer array or a smaller shape`,
  );
}

/// What a view is made of, [n, d], [h, n, d] or [b, h, n, d].
export function checkPacked(data: unknown, shape: unknown): void {
  const kinds: Kinds = [...FLOATS, 'Uint8Array', 'Int32Array', 'BigInt64Array'];
  if (!kinds.includes(kindOf(data) as Kinds[number])) {
    const remedy = Array.isArray(data) ? 'Float32Array.from(data.flat(Infinity))' : 'Float32Array.from(data)';
    throw refusal('data', data, `${kinds.join(', ')}; ${remedy} makes one`);
  }
  const expected = 'an array of two to four whole numbers from 0: tensor(data, [8, 4])';
  if (!Array.isArray(shape)) throw refusal('shape', shape, expected);
  if (shape.length < 2 || shape.length > 4) throw new EngineError(`shape: ${shape.length} axes; expected ${expected}`);
  for (const n of shape as unknown[]) int32('shape', n, 0, expected);
  const { length } = data as Data;
  const elements = (shape as number[]).reduce((product, n) => product * n, 1);
  if (elements === length) return;
  throw new EngineError(
    `shape: [${shape.join(', ')}] has ${elements} elements; expected data's ${length}; give data and shape that fit`,
  );
}

/// Numbers in a plain array, or in a typed one of these kinds.
function checkVector(name: string, value: unknown, kinds: Kinds, whole: boolean): void {
  const plain = Array.isArray(value);
  const numbers = whole ? 'whole numbers' : 'numbers';
  const expected = `an array of ${numbers}, ${kinds.join(' or ')}`;
  if (!plain && !kinds.includes(kindOf(value) as Kinds[number]))
    throw refusal(name, value, `${expected}, without a shape`);
  if (!plain) return;
  (value as unknown[]).forEach((n, i) => {
    const fits = whole ? Number.isInteger(n) && Math.abs(n as number) < 2 ** 31 : typeof n === 'number';
    if (!fits) throw new EngineError(`${name}: entry ${i} is ${described(n)}; expected ${numbers} alone`);
  });
}

function checkFinite(name: string, value: unknown, remedy: string): void {
  if (!Number.isFinite(value)) throw refusal(name, value, `a finite number; ${remedy}`);
}

function checkOffset(name: string, value: unknown): void {
  int32(name, value, 1 - 2 ** 31, 'a whole number below 2^31; leave it out for the default');
}

/// Of each option what can be wrong of it alone; `rows` is the shape of a mask for all heads.
const OPTIONS: Record<keyof Options, (value: unknown, name: string, rows: string) => void> = {
  scale: (value, name) => checkFinite(name, value, 'leave it out for 1 / sqrt(d_k)'),
  softcap: (value, name) => checkFinite(name, value, '0 for none'),
  causal(value, name) {
    if (typeof value !== 'boolean') throw refusal(name, value, 'true or false');
  },
  align(value, name) {
    if (value !== 'bottom-right' && value !== 'top-left') throw refusal(name, value, "'bottom-right' or 'top-left'");
  },
  window(value, name) {
    const shown = Number.isInteger(value) ? `[${Number(value)}, 0]` : '[8, 0]';
    const expected = `[left, right], how many keys each way, whole numbers, -1 for no bound: ${shown}`;
    if (!Array.isArray(value) || value.length !== 2) throw refusal(name, value, expected);
    for (const side of value as unknown[]) int32(name, side, -1, expected);
  },
  mask(value, name, rows) {
    const remedy = ' (bool: 1 = takes part): Uint8Array.from(data); what is to be added to the scores is a bias';
    checkTensor(name, value, rows, ['Uint8Array'], remedy);
  },
  bias(value, name, rows) {
    checkTensor(name, value, rows, FLOATS, ': Float32Array.from(data); what says which keys take part is a mask');
  },
  alibiSlopes: (value, name) => checkVector(name, value, FLOATS, false),
  sinks: (value, name) => checkVector(name, value, FLOATS, false),
  qLengths: (value, name) => checkVector(name, value, ['Int32Array', 'BigInt64Array'], true),
  kvLengths: (value, name) => checkVector(name, value, ['Int32Array', 'BigInt64Array'], true),
  qOffset: (value, name) => checkOffset(name, value),
  kvOffset: (value, name) => checkOffset(name, value),
  dropout: (value, name) => checkFinite(name, value, 'the share of weights left out, at least 0 and below 1'),
  seed(value, name) {
    const fits = typeof value === 'bigint' ? value >= 0n && value < 2n ** 64n : Number.isSafeInteger(value);
    if (fits && (value as number | bigint) >= 0) return;
    throw refusal(name, value, 'a whole number from 0 to 2^53 - 1, or a bigint below 2^64');
  },
};

/// A view of the same type of floats as q.
export function checkKind(name: string, { data }: Tensor, q: Tensor): void {
  const expected = kindOf(q.data);
  if (kindOf(data) !== expected) throw refusal(`${name}.data`, data, `${expected}, as q: ${expected}.from(data)`);
}

/// The inputs and options of a call.
export function checkCall(inputs: Inputs, options: Options): void {
  checkNames('inputs', inputs, ['q', 'k', 'v'], '{ q, k, v }; options come behind it: ({ q, k, v }, { causal: true })');
  checkTensor('q', inputs.q, '[n_q, d_k]');
  checkTensor('k', inputs.k, '[n_kv, d_k]');
  checkTensor('v', inputs.v, '[n_kv, d_v]');
  for (const name of ['k', 'v'] as const) checkKind(name, inputs[name], inputs.q);
  checkNames('options', options, Object.keys(OPTIONS), `an object of ${Object.keys(OPTIONS).join(', ')}`);
  const rows = `[${inputs.q.shape[2]}, ${inputs.k.shape[2]}]`;
  for (const [name, check] of Object.entries(OPTIONS)) {
    const value: unknown = options[name as keyof Options];
    if (value === null) throw new EngineError(`${name}: null; expected a value; leave it out for the default`);
    if (value !== undefined) check(value, name, rows);
  }
}
