// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine in WebAssembly, typed. It copies arrays in and out and keeps the books of memory; all arithmetic is the
// module's (exports.h).

import { type AskedOf, type Axes, elements, EngineError, type Floats } from './arguments.js';
import type { Inputs, Kind, Options } from './arguments.js';
import { Instance } from './instance.js';
import { Benchmark, Histogram, type HistogramOptions, Saturation, type SaturationOptions } from './long_work.js';
import { Call, type Exports, floatsOf } from './memory.js';

export type { Benchmark, Histogram, HistogramOptions, HistogramResult } from './long_work.js';
export type { Saturation, SaturationOptions } from './long_work.js';
export { EngineError } from './arguments.js';
export type { Axes, Data, Floats, Inputs, Options, Tensor } from './arguments.js';

/** Packed: o [b, h_q, n_q, d_v], lse [b, h_q, n_q], weights [b, h_q, n_q, n_kv]. */
export interface Outputs<T> {
  o: T;
  lse: T;
  weights: T;
}
export type Output = keyof Outputs<unknown>;
/** The outputs asked for: o, unless told otherwise. */
export type Result<T, Asked extends readonly Output[] = readonly ['o']> = AskedOf<Outputs<T>, Asked>;

export interface Comparison {
  dots: Float32Array; // [n], as all but queryLength
  lengths: Float32Array;
  cosines: Float32Array;
  degrees: Float32Array;
  queryLength: number;
}

export interface Softmax {
  weights: Float32Array;
  exps: Float32Array; // exp((score - max) / temperature)
  max: number;
  sum: number; // of exps
}

/// A module of one function that makes a relaxed multiply-add of three vectors.
const RELAXED_PROBE = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  5,
  1,
  96,
  0,
  1,
  123,
  3,
  2,
  1,
  0,
  10,
  19,
  1,
  17,
  0,
  65,
  0,
  253,
  17,
  65,
  0,
  253,
  17,
  65,
  0,
  253,
  17,
  253,
  133,
  2,
  11,
);

export function hasRelaxedSimd(): boolean {
  return typeof WebAssembly === 'object' && WebAssembly.validate(RELAXED_PROBE); // browsers may have it switched off
}

/// Of two modules the relaxed one where it validates, and the strict one elsewhere or if that fails.
export async function choose(
  strict: () => Promise<WebAssembly.Module>,
  relaxed: () => Promise<WebAssembly.Module>,
): Promise<WebAssembly.Module> {
  return hasRelaxedSimd() ? relaxed().catch(strict) : strict();
}

/// Fetches one of two modules. Workers instantiate the same module each.
export async function fetchModule(urls: { strict: string | URL; relaxed: string | URL }): Promise<WebAssembly.Module> {
  const fetched = async (url: string | URL): Promise<WebAssembly.Module> => {
    const response = await fetch(url);
    if (!response.ok) throw new EngineError(`${url}: HTTP status ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer()); // whatever type the server says it has
  };
  return choose(
    () => fetched(urls.strict),
    () => fetched(urls.relaxed),
  );
}

export class Engine extends Instance<Exports> {
  static async instantiate(module: WebAssembly.Module): Promise<Engine> {
    return new Engine(await Instance.exportsOf<Exports>(module));
  }

  /// The outputs asked for.
  attention<T extends Floats, const Asked extends readonly Output[] = readonly ['o']>(
    inputs: Inputs<T>,
    options: Options = {},
    outputs: Asked = ['o'] as readonly Output[] as Asked,
  ): Result<Kind<T>, Asked> {
    const { q, k, v } = inputs;
    const [b, h, n] = q.shape;
    const extents: Record<Output, number> = { o: v.shape[3], lse: 1, weights: k.shape[2] };
    return this.scoped((arena) => {
      const call = new Call(this.exports, arena, inputs, options);
      const floats = floatsOf(q.data);
      const at = outputs.map((name) => call.output(name, [b, h, n, extents[name]], floats));
      this.check(this.exports.fv_attention(call.pointer));
      const result: Partial<Outputs<Floats>> = {};
      outputs.forEach((name, i) => {
        result[name] = arena.floats(at[i] ?? 0, b * h * n * extents[name], floats);
      });
      return result as Result<Kind<T>, Asked>;
    });
  }

  /// The scores, packed [b, h_q, n_q, n_kv], after scale, softcap, bias and masks; -inf where a key takes no part. With
  /// scale 1 alone, the bare products q . k.
  scores<T extends Floats>(inputs: Inputs<T>, options: Options = {}): Kind<T> {
    const { q, k } = inputs;
    const shape: Axes = [q.shape[0], q.shape[1], q.shape[2], k.shape[2]];
    return this.scoped((arena) => {
      const call = new Call(this.exports, arena, inputs, options);
      const floats = floatsOf(q.data);
      const at = arena.room(elements(shape) * floats.BYTES_PER_ELEMENT);
      this.check(this.exports.fv_scores(call.pointer, at));
      return arena.floats(at, elements(shape), floats) as Kind<T>;
    });
  }

  /// [m, k] . [k, n].
  product(a: Float32Array, b: Float32Array, [m, k, n]: readonly [number, number, number]): Float32Array {
    if (a.length !== m * k || b.length !== k * n) {
      throw new EngineError(`product: ${a.length} and ${b.length} numbers; expected ${m} x ${k} and ${k} x ${n}`);
    }
    return this.scoped((arena) => {
      const c = arena.room(4 * m * n);
      this.exports.fv_product(m, k, n, arena.put(a), arena.put(b), c);
      return arena.float32(c, m * n);
    });
  }

  /// The products of a[i] and b[i], whose sum is one element of a product of matrices.
  terms(a: Float32Array, b: Float32Array): Float32Array {
    if (a.length !== b.length) throw new EngineError(`terms: ${a.length} and ${b.length} numbers`);
    return this.scoped((arena) => {
      const products = arena.room(4 * a.length);
      this.exports.fv_terms(a.length, arena.put(a), 1, arena.put(b), 1, products);
      return arena.float32(products, a.length);
    });
  }

  softmax(scores: Float32Array, temperature = 1): Softmax {
    const n = scores.length;
    return this.scoped((arena) => {
      const at = arena.put(scores);
      const weights = arena.room(4 * n);
      const exps = arena.room(4 * n);
      const summary = arena.room(4 * 2);
      this.check(this.exports.fv_softmax(n, at, temperature, weights, exps, summary));
      const [max = NaN, sum = NaN] = arena.float32(summary, 2);
      return { weights: arena.float32(weights, n), exps: arena.float32(exps, n), max, sum };
    });
  }

  /// A query against keys of its length, one after another.
  compare(query: Float32Array, keys: Float32Array): Comparison {
    const d = query.length;
    const n = keys.length / d;
    if (!Number.isInteger(n)) throw new EngineError(`keys: ${keys.length} numbers; expected a multiple of ${d}`);
    return this.scoped((arena) => {
      const atQuery = arena.put(query);
      const atKeys = arena.put(keys);
      const dots = arena.room(4 * n);
      const lengths = arena.room(4 * (n + 1));
      const cosines = arena.room(4 * n);
      const degrees = arena.room(4 * n);
      this.check(this.exports.fv_compare(n, d, atQuery, atKeys, dots, lengths, cosines, degrees));
      const all = arena.float32(lengths, n + 1);
      return {
        dots: arena.float32(dots, n),
        lengths: all.subarray(0, n),
        cosines: arena.float32(cosines, n),
        degrees: arena.float32(degrees, n),
        queryLength: all[n] ?? NaN,
      };
    });
  }

  /// The places of the values, largest first.
  rank(values: Float32Array): Int32Array {
    return this.scoped((arena) => {
      const order = arena.room(4 * values.length);
      this.exports.fv_rank(values.length, arena.put(values), order);
      return new Int32Array(this.exports.memory.buffer, order, values.length).slice();
    });
  }

  histogram(options: HistogramOptions): Histogram {
    return this.scoped((arena) => new Histogram(this, this.exports, arena, options));
  }
  saturation(options: SaturationOptions): Saturation {
    return new Saturation(this, this.exports, options);
  }
  benchmark(n: number, d: number): Benchmark {
    return new Benchmark(this, this.exports, n, d);
  }
}
