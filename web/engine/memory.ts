// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays and calls as they lie in the module's memory.

/** An array that the engine reads as it lies. Uint8Array is a boolean one: 0 is false. */
export type Data = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;
export type Floats = Float32Array | Float64Array;
export type Axes = readonly [number, number, number, number];

/** A view of an array, [batch, head, sequence, head dim]. Strides count elements; left out, the array is packed. */
export interface Tensor<T extends Data = Data> {
  data: T;
  shape: Axes;
  stride?: Axes;
}

/** foveate::AttentionOptions. p_i is the position of query i among the keys. */
export interface Options {
  /** Multiplies scores; default 1 / sqrt(d_k). */
  scale?: number;
  /** Scores pass through softcap * tanh(score / softcap); default 0: off. */
  softcap?: number;
  /** Keys up to p_i alone take part. */
  causal?: boolean;
  /** p_i = i + n_kv - n_q, the default, or p_i = i. */
  align?: 'bottom-right' | 'top-left';
  /** Keys from p_i - L to p_i + R alone, both inclusive; -1: no bound on that side. */
  window?: readonly [number, number];
  /** 1 where a key takes part; broadcast to [b, h_q, n_q, n_kv] by extents of 1. */
  mask?: Tensor<Uint8Array>;
  /** Added to the scores; broadcast likewise. */
  bias?: Tensor<Floats>;
  /** ALiBi, [h_q]: score - slope * |p_i - j|. */
  alibiSlopes?: Floats;
  /** [h_q]: one more score a head, which takes weight and adds no value. */
  sinks?: Floats;
  /** [b]: how many queries of each sequence are there. */
  qLengths?: Int32Array | BigInt64Array;
  /** [b]: how many keys of each sequence are there. */
  kvLengths?: Int32Array | BigInt64Array;
  /** p_i = qOffset + i, instead of what align says. */
  qOffset?: number;
  /** Keys' positions are kvOffset + j. */
  kvOffset?: number;
  /** Leaves out weights with this probability, and divides the others by 1 - dropout. */
  dropout?: number;
  /** Which weights dropout leaves out: below 2^64, a bigint past 2^53; default 0. */
  seed?: number | bigint;
}

export interface Inputs<T extends Data = Floats> {
  q: Tensor<T>;
  k: Tensor<T>;
  v: Tensor<T>;
}

/** A call that the engine refuses; the message is the engine's line. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

const DTYPES = { f64: 1, f32: 2, i64: 5, i32: 6, boolean: 7 } as const;
// Offsets of fields of Call and BackwardCall in call.h; a tensor has 40 bytes, a vector 16.
const CALL_BYTES = 448;
const FIELDS = {
  q: 64,
  k: 104,
  v: 144,
  mask: 184,
  bias: 224,
  o: 264,
  lse: 304,
  weights: 344,
  alibiSlopes: 384,
  sinks: 400,
  qLengths: 416,
  kvLengths: 432,
} as const;
const BACKWARD_BYTES = 216;
const BACKWARD_FIELDS = { dO: 0, dq: 40, dk: 80, dv: 120, dbias: 160, dsinks: 200 } as const;

/// What every module has.
export interface Core {
  memory: WebAssembly.Memory;
  _initialize(): void;
  fv_alloc(bytes: number): number;
  fv_free(pointer: number): void;
  fv_message(): number;
  fv_version(): number;
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
  /// Numbers of the type of `floats`.
  floats(pointer: number, length: number, floats: Floats): Floats {
    return floats instanceof Float64Array ? this.float64(pointer, length) : this.float32(pointer, length);
  }
  free(): void {
    for (const pointer of this.pointers) this.exports.fv_free(pointer);
  }
}

function dtypeOf(data: Data, name: string): number {
  if (data instanceof Float32Array) return DTYPES.f32;
  if (data instanceof Float64Array) return DTYPES.f64;
  if (data instanceof Int32Array) return DTYPES.i32;
  if (data instanceof BigInt64Array) return DTYPES.i64;
  if (data instanceof Uint8Array) return DTYPES.boolean;
  const kind = (data as object | null | undefined)?.constructor?.name ?? String(data);
  throw new EngineError(`${name}: ${kind}; expected a Float32Array, or another typed array that the option takes`);
}

function int32(n: number, name: string): number {
  if (Number.isInteger(n) && Math.abs(n) < 2 ** 31) return n;
  throw new EngineError(`${name}: ${n}; expected a whole number below 2^31`);
}

function packed([, h, n, d]: Axes): Axes {
  return [h * n * d, n * d, d, 1];
}

/// Strides that stay within the array: the engine trusts them.
function stridesOf({ data, shape, stride = packed(shape) }: Tensor, name: string): Axes {
  [...shape, ...stride].forEach((n) => {
    if (int32(n, name) < 0) throw new EngineError(`${name}: ${n} among shape and stride; expected none below 0`);
  });
  const reach = elements(shape) && shape.reduce((last, n, axis) => last + (n - 1) * (stride[axis] ?? 0), 1);
  if (reach > data.length) {
    throw new EngineError(`${name}: ${data.length} elements; its shape and stride reach ${reach}`);
  }
  return stride;
}

/// Views as they lie in a struct of the module's memory, each at its place.
class Fields<Name extends string> {
  readonly pointer: number;

  constructor(
    protected readonly exports: Core,
    protected readonly arena: Arena,
    private readonly bytes: number,
    private readonly places: Readonly<Record<Name, number>>,
  ) {
    this.pointer = arena.room(bytes);
    new Uint8Array(exports.memory.buffer, this.pointer, bytes).fill(0);
  }

  /// The struct itself, until the next allocation.
  protected view(): DataView {
    return new DataView(this.exports.memory.buffer, this.pointer, this.bytes);
  }

  tensor(name: Name, tensor: Tensor): void {
    const dtype = dtypeOf(tensor.data, name);
    const stride = stridesOf(tensor, name);
    this.put(name, [this.arena.put(tensor.data), dtype, ...tensor.shape, ...stride]);
  }
  vector(name: Name, data: Data): void {
    const dtype = dtypeOf(data, name);
    this.put(name, [this.arena.put(data), dtype, data.length, 1]);
  }

  /// Where a packed output of that shape will lie.
  output(name: Name, shape: Axes, floats: Floats): number {
    const pointer = this.arena.room(elements(shape) * floats.BYTES_PER_ELEMENT);
    this.put(name, [pointer, dtypeOf(floats, name), ...shape, ...packed(shape)]);
    return pointer;
  }
  outputVector(name: Name, length: number, floats: Floats): number {
    const pointer = this.arena.room(length * floats.BYTES_PER_ELEMENT);
    this.put(name, [pointer, dtypeOf(floats, name), length, 1]);
    return pointer;
  }

  private put(name: Name, numbers: readonly number[]): void {
    const view = this.view();
    numbers.forEach((n, i) => view.setInt32(this.places[name] + 4 * i, n, true));
  }
}

/// Lays a Call out.
export class Call extends Fields<keyof typeof FIELDS> {
  constructor(exports: Core, arena: Arena, inputs: Inputs<Data>, options: Options) {
    super(exports, arena, CALL_BYTES, FIELDS);
    this.scalars(options);
    this.tensor('q', inputs.q);
    this.tensor('k', inputs.k);
    this.tensor('v', inputs.v);
    if (options.mask) this.tensor('mask', options.mask);
    if (options.bias) this.tensor('bias', options.bias);
    if (options.alibiSlopes) this.vector('alibiSlopes', options.alibiSlopes);
    if (options.sinks) this.vector('sinks', options.sinks);
    if (options.qLengths) this.vector('qLengths', options.qLengths);
    if (options.kvLengths) this.vector('kvLengths', options.kvLengths);
  }

  private scalars(options: Options): void {
    const view = this.view();
    const { window: [left, right] = [-1, -1], align = 'bottom-right', seed = 0 } = options;
    if (align !== 'bottom-right' && align !== 'top-left') {
      throw new EngineError(`align: ${String(align)}; expected bottom-right or top-left`);
    }
    if (typeof seed === 'number' && !(Number.isSafeInteger(seed) && seed >= 0)) {
      throw new EngineError(`seed: ${seed}; expected a whole number from 0 to 2^53 - 1, or a bigint`);
    }
    view.setFloat64(0, options.scale ?? NaN, true);
    view.setFloat64(8, options.softcap ?? 0, true);
    view.setFloat64(16, options.dropout ?? 0, true);
    view.setBigUint64(24, BigInt(seed), true);
    view.setInt32(32, Number(options.causal ?? false), true);
    view.setInt32(36, align === 'top-left' ? 1 : 0, true);
    view.setInt32(40, int32(left, 'window'), true);
    view.setInt32(44, int32(right, 'window'), true);
    view.setInt32(48, Number(options.qOffset !== undefined), true);
    view.setInt32(52, int32(options.qOffset ?? 0, 'qOffset'), true);
    view.setInt32(56, Number(options.kvOffset !== undefined), true);
    view.setInt32(60, int32(options.kvOffset ?? 0, 'kvOffset'), true);
  }
}

/// Lays a BackwardCall out.
export class BackwardCall extends Fields<keyof typeof BACKWARD_FIELDS> {
  constructor(exports: Core, arena: Arena, dO: Tensor) {
    super(exports, arena, BACKWARD_BYTES, BACKWARD_FIELDS);
    this.tensor('dO', dO);
  }
}

export function elements(shape: Axes): number {
  return shape[0] * shape[1] * shape[2] * shape[3];
}

/// Outputs have the type of q; where that is no type of floats, the engine says so.
export function floatsOf(data: Data): Floats {
  return data instanceof Float64Array ? data : data instanceof Float32Array ? data : new Float32Array(0);
}
