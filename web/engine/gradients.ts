// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The modules with gradients, typed (gradients.h).

import { type AskedOf, type Axes, elements, EngineError, type Floats } from './arguments.js';
import type { Inputs, Kind, Options, Tensor } from './arguments.js';
import { Instance } from './instance.js';
import { LongWork } from './long_work.js';
import { type Arena, BackwardCall, Call, type Core, floatsOf } from './memory.js';

/// What gradients.h declares.
export interface GradientExports extends Core {
  fv_attention_backward(call: number, backward: number): number;
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

/** What attention gave, and the gradient of a loss by o: o and dO as o, lse [b, h_q, n_q, 1]. */
export interface Given<T extends Floats = Floats> {
  o: Tensor<T>;
  lse: Tensor<T>;
  dO: Tensor<T>;
}

/** Packed, of the shapes of q, k, v, bias and sinks. */
export interface AllGradients<T> {
  dq: T;
  dk: T;
  dv: T;
  dbias: T;
  dsinks: T;
}
export type Gradient = keyof AllGradients<unknown>;
/** The gradients asked for: those of q, k and v, unless told otherwise. */
export type Gradients<T, Asked extends readonly Gradient[] = readonly ['dq', 'dk', 'dv']> = AskedOf<
  AllGradients<T>,
  Asked
>;

export class GradientEngine extends Instance<GradientExports> {
  static async instantiate(module: WebAssembly.Module): Promise<GradientEngine> {
    return new GradientEngine(await Instance.exportsOf<GradientExports>(module));
  }

  /// The gradients asked for, with the inputs and options that attention had.
  attentionBackward<T extends Floats, const Asked extends readonly Gradient[] = readonly ['dq', 'dk', 'dv']>(
    inputs: Inputs<T>,
    given: Given<T>,
    options: Options = {},
    gradients: Asked = ['dq', 'dk', 'dv'] as readonly Gradient[] as Asked,
  ): Gradients<Kind<T>, Asked> {
    return this.scoped((arena) => {
      const call = new Call(this.exports, arena, inputs, options);
      call.tensor('o', given.o);
      call.tensor('lse', given.lse);
      const backward = new BackwardCall(this.exports, arena, given.dO);
      const floats = floatsOf(inputs.q.data);
      const shapes: Record<Exclude<Gradient, 'dsinks'>, Axes | undefined> = {
        dq: inputs.q.shape,
        dk: inputs.k.shape,
        dv: inputs.v.shape,
        dbias: options.bias?.shape,
      };
      const outputs = gradients.map((name) => {
        const shape = name === 'dsinks' ? options.sinks && ([1, 1, 1, options.sinks.length] as const) : shapes[name];
        if (shape === undefined) {
          const option = name.slice(1);
          throw new EngineError(`${name}: there is no ${option} among the options; give the one that attention() had`);
        }
        const length = elements(shape);
        const at =
          name === 'dsinks' ? backward.outputVector(name, length, floats) : backward.output(name, shape, floats);
        return { name, at, length };
      });
      this.check(this.exports.fv_attention_backward(call.pointer, backward.pointer));
      const result: Partial<AllGradients<Floats>> = {};
      for (const { name, at, length } of outputs) result[name] = arena.floats(at, length, floats);
      return result as Gradients<Kind<T>, Asked>;
    });
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
