// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays and calls as they lie in the module's memory. They are trusted: whoever calls is typed, or checks (package/check.ts).

import { type Axes, type Data, elements, EngineError, type Floats, type Inputs, packed } from './arguments.js';
import type { Lengths, Options, Tensor } from './arguments.js';

// foveate::DType
const DTYPES = { Float64Array: 1, Float32Array: 2, BigInt64Array: 5, Int32Array: 6, Uint8Array: 7 } as const;
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
    const pointer = bytes < 2 ** 31 ? this.exports.fv_alloc(bytes) : 0; // its argument has 32 bits
    if (pointer === 0)
      throw new EngineError(`memory: ${bytes} bytes cannot be had; compute fewer heads or rows at once`);
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
    return floats.BYTES_PER_ELEMENT === 8 ? this.float64(pointer, length) : this.float32(pointer, length);
  }
  free(): void {
    for (const pointer of this.pointers) this.exports.fv_free(pointer);
  }
}

function dtypeOf(data: Data): number {
  return DTYPES[data[Symbol.toStringTag]];
}

/// Plain arrays as typed ones: the engine rounds numbers to the type of q.
function floating(numbers: Floats | readonly number[]): Floats {
  return Array.isArray(numbers) ? Float64Array.from(numbers) : (numbers as Floats);
}
function whole(lengths: Lengths): Int32Array | BigInt64Array {
  return Array.isArray(lengths) ? Int32Array.from(lengths) : (lengths as Int32Array | BigInt64Array);
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
    const { data, shape, stride = packed(shape) } = tensor;
    this.put(name, [this.arena.put(data), dtypeOf(data), ...shape, ...stride]);
  }
  vector(name: Name, data: Data): void {
    this.put(name, [this.arena.put(data), dtypeOf(data), data.length, 1]);
  }

  /// Where a packed output of that shape will lie.
  output(name: Name, shape: Axes, floats: Floats): number {
    const pointer = this.arena.room(elements(shape) * floats.BYTES_PER_ELEMENT);
    this.put(name, [pointer, dtypeOf(floats), ...shape, ...packed(shape)]);
    return pointer;
  }
  outputVector(name: Name, length: number, floats: Floats): number {
    const pointer = this.arena.room(length * floats.BYTES_PER_ELEMENT);
    this.put(name, [pointer, dtypeOf(floats), length, 1]);
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
    if (options.alibiSlopes) this.vector('alibiSlopes', floating(options.alibiSlopes));
    if (options.sinks) this.vector('sinks', floating(options.sinks));
    if (options.qLengths) this.vector('qLengths', whole(options.qLengths));
    if (options.kvLengths) this.vector('kvLengths', whole(options.kvLengths));
  }

  private scalars(options: Options): void {
    const view = this.view();
    const { window: [left, right] = [-1, -1], align = 'bottom-right', seed = 0 } = options;
    view.setFloat64(0, options.scale ?? NaN, true);
    view.setFloat64(8, options.softcap ?? 0, true);
    view.setFloat64(16, options.dropout ?? 0, true);
    view.setBigUint64(24, BigInt(seed), true);
    view.setInt32(32, Number(options.causal ?? false), true);
    view.setInt32(36, align === 'top-left' ? 1 : 0, true);
    view.setInt32(40, left, true);
    view.setInt32(44, right, true);
    view.setInt32(48, Number(options.qOffset !== undefined), true);
    view.setInt32(52, options.qOffset ?? 0, true);
    view.setInt32(56, Number(options.kvOffset !== undefined), true);
    view.setInt32(60, options.kvOffset ?? 0, true);
  }
}

/// Lays a BackwardCall out.
export class BackwardCall extends Fields<keyof typeof BACKWARD_FIELDS> {
  constructor(exports: Core, arena: Arena, dO: Tensor) {
    super(exports, arena, BACKWARD_BYTES, BACKWARD_FIELDS);
    this.tensor('dO', dO);
  }
}

/// An array of the type that outputs have: that of q.
export function floatsOf(data: Data): Floats {
  return data[Symbol.toStringTag] === 'Float64Array' ? new Float64Array(0) : new Float32Array(0);
}
