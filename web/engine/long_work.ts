// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Work that a worker does in steps, to report progress and to stop between them.

import { EngineError } from './arguments.js';
import type { Instance } from './instance.js';
import { type Arena, type Core, type Exports } from './memory.js';

/// Work in steps. Free it when it is no longer wanted, finished or not.
export abstract class LongWork<E extends Core> {
  constructor(
    protected readonly engine: Instance<E>,
    protected readonly exports: E,
    protected handle: number,
  ) {
    if (handle === 0) throw engine.lastError();
  }
  /// Does about `count` more and says how much is done in all.
  step(count: number): number {
    const done = this.advance(count);
    if (done < 0) throw this.engine.lastError();
    return done;
  }
  free(): void {
    if (this.handle !== 0) this.end();
    this.handle = 0;
  }
  protected abstract advance(count: number): number;
  protected abstract end(): void;
}

export interface HistogramOptions {
  dK: number;
  samples: number;
  seed: number;
  bins: number;
  divisors: readonly number[];
  ranges: readonly number[]; // bins of divisors[i] cover [-ranges[i], ranges[i])
}

export interface HistogramResult {
  counts: Uint32Array; // [bins]
  below: number;
  above: number;
  mean: number;
  variance: number;
  deviation: number;
  smallest: number;
  largest: number;
}

/// Histograms of scores q . k / divisor for random q and k.
export class Histogram extends LongWork<Exports> {
  constructor(
    engine: Instance<Exports>,
    exports: Exports,
    arena: Arena,
    private readonly options: HistogramOptions,
  ) {
    const { dK, samples, seed, bins, divisors, ranges } = options;
    if (divisors.length !== ranges.length) throw new EngineError(`ranges: ${ranges.length}; expected one a divisor`);
    const atDivisors = arena.put(Float64Array.from(divisors));
    const atRanges = arena.put(Float64Array.from(ranges));
    super(engine, exports, exports.fv_histogram_begin(dK, samples, seed, bins, divisors.length, atDivisors, atRanges));
  }
  protected advance(count: number): number {
    return this.exports.fv_histogram_step(this.handle, count);
  }
  protected end(): void {
    this.exports.fv_histogram_end(this.handle);
  }
  /// What is there so far, for divisors[i].
  read(i: number): HistogramResult {
    return this.engine.scoped((arena) => {
      const at = arena.room(5 * 8);
      this.exports.fv_histogram_moments(this.handle, i, at);
      const [mean = NaN, variance = NaN, deviation = NaN, smallest = NaN, largest = NaN] = arena.float64(at, 5);
      const { bins } = this.options;
      const pointer = this.exports.fv_histogram_counts(this.handle, i);
      const all = new Uint32Array(this.exports.memory.buffer, pointer, bins + 2).slice();
      const counts = all.subarray(1, bins + 1);
      return { counts, below: all[0] ?? 0, above: all[bins + 1] ?? 0, mean, variance, deviation, smallest, largest };
    });
  }
}

export interface SaturationOptions {
  dK: number;
  keys: number;
  draws: number;
  seed: number;
  divisor: number;
}

/// The largest weight, and the norm of the softmax's Jacobian, over draws of a query and its keys.
export class Saturation extends LongWork<Exports> {
  constructor(engine: Instance<Exports>, exports: Exports, { dK, keys, draws, seed, divisor }: SaturationOptions) {
    super(engine, exports, exports.fv_saturation_begin(dK, keys, draws, seed, divisor));
  }
  protected advance(count: number): number {
    return this.exports.fv_saturation_step(this.handle, count);
  }
  protected end(): void {
    this.exports.fv_saturation_end(this.handle);
  }
  /// What is there so far, at each of these percentiles.
  read(percentiles: readonly number[]): { largest: Float64Array; norms: Float64Array } {
    return this.engine.scoped((arena) => {
      const n = percentiles.length;
      const at = arena.put(Float64Array.from(percentiles));
      const largest = arena.room(8 * n);
      const norms = arena.room(8 * n);
      this.exports.fv_saturation_percentiles(this.handle, n, at, largest, norms);
      return { largest: arena.float64(largest, n), norms: arena.float64(norms, n) };
    });
  }
}

/// Fused attention over n queries and keys, for the caller to time: each step() runs it `count` times and gives the
/// floating-point operations of all of these.
export class Benchmark extends LongWork<Exports> {
  constructor(engine: Instance<Exports>, exports: Exports, n: number, d: number) {
    super(engine, exports, exports.fv_benchmark_begin(n, d));
  }
  protected advance(count: number): number {
    for (let i = 0; i < count; ++i) if (this.exports.fv_benchmark_run(this.handle) !== 0) return -1;
    return count * this.exports.fv_benchmark_flops(this.handle);
  }
  protected end(): void {
    this.exports.fv_benchmark_end(this.handle);
  }
}
