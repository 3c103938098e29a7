// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays and calls as they lie in the module's memory.

/// An array that the engine reads as it lies. Uint8Array is a boolean one.
export type Data = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;
export type Floats = Float32Array | Float64Array;
export type Axes = readonly [number, number, number, number];

/// [batch, head, sequence, head dim]. Strides count elements; left out, the array is packed.
export interface Tensor<T extends Data = Data> {
  data: T;
  shape: Axes;
  stride?: Axes;
}

/// foveate::AttentionOptions, which says what each means.
export interface Options {
  scale?: number; // default 1 / sqrt(d_k)
  softcap?: number;
  causal?: boolean;
  align?: 'bottom-right' | 'top-left';
  window?: readonly [number, number]; // -1: no bound on that side
  mask?: Tensor<Uint8Array>;
  bias?: Tensor<Floats>;
  alibiSlopes?: Floats;
  sinks?: Floats;
  qLengths?: Int32Array | BigInt64Array;
  kvLengths?: Int32Array | BigInt64Array;
  qOffset?: number;
  kvOffset?: number;
}

export interface Inputs<T extends Data = Floats> {
  q: Tensor<T>;
  k: Tensor<T>;
  v: Tensor<T>;
}

/// A call that the engine refuses; the message is the engine's line.
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

const DTYPES = { f64: 1, f32: 2, i64: 5, i32: 6, boolean: 7 } as const;
const CALL_BYTES = 432;
const Q = 48; // offsets of fields of Call in exports.h; a tensor has 40 bytes, a vector 16
const K = 88;
const V = 128;
const MASK = 168;
const BIAS = 208;
const OUTPUTS = { o: 248, lse: 288, weights: 328 };
const ALIBI_SLOPES = 368;
const SINKS = 384;
const Q_LENGTHS = 400;
const KV_LENGTHS = 416;

/// What every module has.
export interface Core {
  memory: WebAssembly.Memory;
  _initialize(): void;
  fv_alloc(bytes: number): number;
  fv_free(pointer: number): void;
  fv_message(): number;
  fv_relaxed(): number;
}

/// What exports.h declares.
export interface Exports extends Core {
  fv_attention(call: number): number;
  fv_scores(call: number, scores: number): number;
  fv_product(m: number, k: number, n: number, a: number, b: number, c: number): void;
  fv_terms(n: number, a: number, aStride: number, b: number, bStride: number, products: number): void;
  fv_softmax(n: number, scores: number, temperature: number, weights: number, exps: number, summary: number): number;
  fv_compare(
    n: number,
    d: number,
    q: number,
    keys: number,
    dots: number,
    lengths: number,
    cosines: number,
    degrees: number,
  ): number;
  fv_rank(n: number, values: number, order: number): void;
  fv_histogram_begin(
    dK: number,
    samples: number,
    seed: number,
    bins: number,
    nDivisors: number,
    divisors: number,
    ranges: number,
  ): number;
  fv_histogram_step(handle: number, count: number): number;
  fv_histogram_counts(handle: number, divisor: number): number;
  fv_histogram_moments(handle: number, divisor: number, moments: number): void;
  fv_histogram_end(handle: number): void;
  fv_saturation_begin(dK: number, keys: number, draws: number, seed: number, divisor: number): number;
  fv_saturation_step(handle: number, count: number): number;
  fv_saturation_percentiles(handle: number, n: number, percentiles: number, largest: number, norms: number): void;
  fv_saturation_end(handle: number): void;
  fv_benchmark_begin(n: number, d: number): number;
  fv_benchmark_run(handle: number): number;
  fv_benchmark_flops(handle: number): number;
  fv_benchmark_end(handle: number): void;
}

/// Memory of one call. Views are made when they are used: any allocation may move what the memory's buffer is.
export class Arena {
  private readonly pointers: number[] = [];

  constructor(private readonly exports: Core) {}

  room(bytes: number): number {
    const pointer = this.exports.fv_alloc(bytes);
    if (pointer === 0) throw new EngineError(`memory: ${bytes} bytes could not be allocated`);
    this.pointers.push(pointer);
    return pointer;
  }
  put(data: Data): number {
    const pointer = this.room(data.byteLength);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    new Uint8Array(this.exports.memory.buffer, pointer, data.byteLength).set(bytes);
    return pointer;
  }
  float32(pointer: number, length: number): Float32Array {
    return new Float32Array(this.exports.memory.buffer, pointer, length).slice();
  }
  float64(pointer: number, length: number): Float64Array {
    return new Float64Array(this.exports.memory.buffer, pointer, length).slice();
  }
  free(): void {
    for (const pointer of this.pointers) this.exports.fv_free(pointer);
  }
}

function dtypeOf(data: Data): number {
  if (data instanceof Float32Array) return DTYPES.f32;
  if (data instanceof Float64Array) return DTYPES.f64;
  if (data instanceof Int32Array) return DTYPES.i32;
  if (data instanceof BigInt64Array) return DTYPES.i64;
  return DTYPES.boolean;
}

function packed([, h, n, d]: Axes): Axes {
  return [h * n * d, n * d, d, 1];
}

/// Lays a Call out in the module's memory.
export class Call {
  readonly pointer: number;

  constructor(
    private readonly exports: Exports,
    private readonly arena: Arena,
    inputs: Inputs<Data>,
    options: Options,
  ) {
    this.pointer = arena.room(CALL_BYTES);
    new Uint8Array(exports.memory.buffer, this.pointer, CALL_BYTES).fill(0);
    this.scalars(options);
    this.tensor(Q, inputs.q);
    this.tensor(K, inputs.k);
    this.tensor(V, inputs.v);
    if (options.mask) this.tensor(MASK, options.mask);
    if (options.bias) this.tensor(BIAS, options.bias);
    if (options.alibiSlopes) this.vector(ALIBI_SLOPES, options.alibiSlopes);
    if (options.sinks) this.vector(SINKS, options.sinks);
    if (options.qLengths) this.vector(Q_LENGTHS, options.qLengths);
    if (options.kvLengths) this.vector(KV_LENGTHS, options.kvLengths);
  }

  /// Where a packed output of that shape will lie.
  output(name: keyof typeof OUTPUTS, shape: Axes, floats: Floats): number {
    const pointer = this.arena.room(elements(shape) * floats.BYTES_PER_ELEMENT);
    this.field(OUTPUTS[name], pointer, floats, [...shape, ...packed(shape)]);
    return pointer;
  }

  private scalars(options: Options): void {
    const view = new DataView(this.exports.memory.buffer, this.pointer, CALL_BYTES);
    const { window: [left, right] = [-1, -1] } = options;
    view.setFloat64(0, options.scale ?? NaN, true);
    view.setFloat64(8, options.softcap ?? 0, true);
    view.setInt32(16, Number(options.causal ?? false), true);
    view.setInt32(20, options.align === 'top-left' ? 1 : 0, true);
    view.setInt32(24, left, true);
    view.setInt32(28, right, true);
    view.setInt32(32, Number(options.qOffset !== undefined), true);
    view.setInt32(36, options.qOffset ?? 0, true);
    view.setInt32(40, Number(options.kvOffset !== undefined), true);
    view.setInt32(44, options.kvOffset ?? 0, true);
  }

  private tensor(offset: number, tensor: Tensor): void {
    this.field(offset, this.arena.put(tensor.data), tensor.data, [
      ...tensor.shape,
      ...(tensor.stride ?? packed(tensor.shape)),
    ]);
  }
  private vector(offset: number, data: Data): void {
    this.field(offset, this.arena.put(data), data, [data.length, 1]);
  }
  private field(offset: number, pointer: number, data: Data, numbers: readonly number[]): void {
    const view = new DataView(this.exports.memory.buffer, this.pointer, CALL_BYTES);
    [pointer, dtypeOf(data), ...numbers].forEach((n, i) => view.setInt32(offset + 4 * i, n, true));
  }
}

export function elements(shape: Axes): number {
  return shape[0] * shape[1] * shape[2] * shape[3];
}
