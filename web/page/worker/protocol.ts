// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the page asks a worker, and what it answers.

import type { Engine, HistogramOptions, HistogramResult, SaturationOptions } from '../../engine/engine';
import type { Check, Course, SensitivityOptions, SensitivityResult, TrainingOptions } from '../../engine/gradients';

/// The calls that are answered at once.
export type Method = 'attention' | 'scores' | 'product' | 'terms' | 'softmax' | 'compare' | 'rank';
export type Arguments<M extends Method> = Parameters<Engine[M]>;
export type Returned<M extends Method> = ReturnType<Engine[M]>;

/// Work that takes a while, and what it has come to so far.
export interface LongJobs {
  histogram: { options: HistogramOptions; result: HistogramResult[] }; // one a divisor
  saturation: {
    options: { runs: readonly SaturationOptions[]; percentiles: readonly number[] };
    result: { largest: Float64Array; norms: Float64Array }[]; // one a run begun; [percentile]
  };
  benchmark: { options: { n: number; d: number }; result: number }; // GFLOP/s
}
/// Work for the modules with gradients.
export interface GradientJobs {
  sensitivity: {
    options: { runs: readonly SensitivityOptions[]; percentiles: readonly number[] };
    result: SensitivityResult[]; // one a run begun
  };
  training: {
    options: TrainingOptions & { window: number; checked: number }; // steps a point; entries of each parameter
    result: { courses: readonly [Course, Course]; checks: readonly [Check, Check] };
  };
}
type AnyJobs = LongJobs & GradientJobs;
export type LongKind = keyof AnyJobs;
export type OptionsOf<K extends LongKind> = AnyJobs[K]['options'];
export type ResultOf<K extends LongKind> = AnyJobs[K]['result'];
export type Job<K extends LongKind> = { [Each in K]: { kind: Each; options: OptionsOf<Each> } }[K];

export type Question =
  | { kind: 'module'; module: WebAssembly.Module }
  | { kind: 'call'; id: number; method: Method; args: readonly unknown[] }
  | { kind: 'long'; id: number; job: Job<LongKind> }
  | { kind: 'stop'; id: number };

export interface Answer {
  id: number;
  end?: boolean;
  error?: string;
  done?: number;
  total?: number;
  result?: unknown;
}
