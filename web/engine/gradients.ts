// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The modules with gradients, typed (gradients.h).

import { Instance } from './instance';
import { LongWork } from './long_work';
import type { Arena, Core } from './memory';

/// What gradients.h declares.
export interface GradientExports extends Core {
  fv_sensitivity_begin(dK: number, keys: number, draws: number, seed: number, divisor: number): number;
  fv_sensitivity_step(handle: number, count: number): number;
  fv_sensitivity_percentiles(handle: number, n: number, percentiles: number, norms: number): void;
  fv_sensitivity_check(handle: number, check: number): void;
  fv_sensitivity_end(handle: number): void;
  fv_training_begin(dK: number, steps: number, seed: number, rate: number, divisors: number): number;
  fv_training_step(handle: number, count: number): number;
  fv_training_points(handle: number, model: number, window: number, points: number): number;
  fv_training_check(handle: number, model: number, count: number, check: number): number;
  fv_training_end(handle: number): void;
}

export class GradientEngine extends Instance<GradientExports> {
  static async instantiate(module: WebAssembly.Module): Promise<GradientEngine> {
    return new GradientEngine(await Instance.exportsOf<GradientExports>(module));
  }

  sensitivity(options: SensitivityOptions): Sensitivity {
    return new Sensitivity(this, this.exports, options);
  }
  training(options: TrainingOptions): Training {
    return this.scoped((arena) => new Training(this, this.exports, arena, options));
  }
}

/// How gradients compare with finite differences: by a share of the largest, at most.
export interface Check {
  readonly largest: number;
  readonly entries: number; // compared
}

export interface SensitivityOptions {
  dK: number;
  keys: number;
  draws: number;
  seed: number;
  divisor: number;
}

export interface SensitivityResult {
  readonly norms: Float64Array; // [percentile]
  readonly check: Check;
}

/// The norm of the weights' derivative by the query, over draws of a query and its keys.
export class Sensitivity extends LongWork<GradientExports> {
  constructor(
    engine: Instance<GradientExports>,
    exports: GradientExports,
    { dK, keys, draws, seed, divisor }: SensitivityOptions,
  ) {
    super(engine, exports, exports.fv_sensitivity_begin(dK, keys, draws, seed, divisor));
  }
  protected advance(count: number): number {
    return this.exports.fv_sensitivity_step(this.handle, count);
  }
  protected end(): void {
    this.exports.fv_sensitivity_end(this.handle);
  }
  /// What is there so far, at each of these percentiles.
  read(percentiles: readonly number[]): SensitivityResult {
    return this.engine.scoped((arena) => {
      const n = percentiles.length;
      const at = arena.put(Float64Array.from(percentiles));
      const norms = arena.room(8 * n);
      const check = arena.room(8 * 2);
      this.exports.fv_sensitivity_percentiles(this.handle, n, at, norms);
      this.exports.fv_sensitivity_check(this.handle, check);
      return { norms: arena.float64(norms, n), check: checkAt(arena, check) };
    });
  }
}

export interface TrainingOptions {
  dK: number;
  steps: number;
  seed: number;
  rate: number;
  divisors: readonly [number, number]; // of the two models' scores
}

/// A model's course: means over windows of steps.
export interface Course {
  readonly loss: Float64Array;
  readonly right: Float64Array; // share of right answers
  readonly largest: Float64Array; // weight
}

/// Two models that learn to recall, side by side.
export class Training extends LongWork<GradientExports> {
  constructor(engine: Instance<GradientExports>, exports: GradientExports, arena: Arena, options: TrainingOptions) {
    const { dK, steps, seed, rate, divisors } = options;
    super(engine, exports, exports.fv_training_begin(dK, steps, seed, rate, arena.put(Float64Array.from(divisors))));
  }
  protected advance(count: number): number {
    return this.exports.fv_training_step(this.handle, count);
  }
  protected end(): void {
    this.exports.fv_training_end(this.handle);
  }
  read(model: 0 | 1, window: number): Course {
    return this.engine.scoped((arena) => {
      const n = this.exports.fv_training_points(this.handle, model, window, 0);
      const at = arena.room(8 * 3 * n);
      this.exports.fv_training_points(this.handle, model, window, at);
      const points = arena.float64(at, 3 * n);
      const [loss, right, largest] = [0, 1, 2].map((i) => points.filter((_, at) => at % 3 === i)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      return { loss, right, largest };
    });
  }
  /// Of `count` entries of each parameter.
  check(model: 0 | 1, count: number): Check {
    return this.engine.scoped((arena) => {
      const at = arena.room(8 * 2);
      if (this.exports.fv_training_check(this.handle, model, count, at) !== 0) throw this.engine.lastError();
      return checkAt(arena, at);
    });
  }
}

function checkAt(arena: Arena, at: number): Check {
  const [largest = NaN, entries = NaN] = arena.float64(at, 2);
  return { largest, entries };
}
