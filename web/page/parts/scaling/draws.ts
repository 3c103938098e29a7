// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the engine draws for scaling: scores of random queries and keys, and what softmax makes of them.

import { type Drawn, Work } from '../../state/work';
import { type Divisor, divisor, DRAWS, KEYS, PERCENTILES, SAMPLES, valueOf } from './settings';

const BINS = 96; // even: 0 lies between two

/// Scores are shown from -reach to reach: six standard deviations and more, in steps, so that a histogram is seen to grow.
export function reach(d: number): number {
  return d <= 4 ? 14 : d <= 16 ? 24 : d <= 64 ? 48 : d <= 256 ? 96 : 160;
}

/// A narrow histogram has narrow bins: of half the reach, a quarter, and so on. Tails fall like exp(-|q . k|) at least.
export function rangeOf(which: Divisor, d: number): number {
  const needed = (5 * Math.sqrt(d) + 8) / valueOf(which, d);
  let range = reach(d);
  while (range / 2 >= needed) range /= 2;
  return range;
}

export interface ScoresSettings {
  readonly dK: number;
  readonly seed: number;
}
/// One result a divisor, in the order of the field.
export const scores = new Work(
  'histogram',
  (settings: ScoresSettings) => ({
    ...settings,
    samples: SAMPLES,
    bins: BINS,
    divisors: divisor.options.map((which) => valueOf(which, settings.dK)),
    ranges: divisor.options.map((which) => rangeOf(which, settings.dK)),
  }),
  () => SAMPLES / 50,
);
export type Scores = Drawn<'histogram', ScoresSettings>;

export interface HereSettings extends ScoresSettings {
  readonly divisors: readonly Divisor[];
}
/// Softmax at the d_k that is set: one result a divisor.
export const here = new Work(
  'saturation',
  ({ dK, seed, divisors }: HereSettings) => ({
    runs: divisors.map((which) => ({ dK, seed, keys: KEYS, draws: DRAWS, divisor: valueOf(which, dK) })),
    percentiles: PERCENTILES,
  }),
  ({ divisors }) => (divisors.length - 1) * DRAWS + DRAWS / 8,
);
export type Here = Drawn<'saturation', HereSettings>;

export const D_KS: readonly number[] = Array.from({ length: 11 }, (_, i) => 2 ** i);
export const CURVES = ['one', 'root'] as const;

const percentilesOf = (seed: number, dKs: readonly number[]) => ({
  runs: dKs.flatMap((dK) =>
    CURVES.map((which) => ({ dK, seed, keys: KEYS, draws: DRAWS, divisor: valueOf(which, dK) })),
  ),
  percentiles: PERCENTILES,
});

/// Softmax at each of D_KS, one result for each of CURVES.
export const curve = new Work(
  'saturation',
  ({ seed }: { readonly seed: number }) => percentilesOf(seed, D_KS),
  () => 1,
);
export type Curve = Drawn<'saturation', { readonly seed: number }>;

/// What reaches the query: at the d_k that is set, and at each of D_KS, one result for each of CURVES.
export const gradientHere = new Work(
  'sensitivity',
  ({ dK, seed }: ScoresSettings) => percentilesOf(seed, [dK]),
  () => DRAWS + DRAWS / 8,
);
export type GradientHere = Drawn<'sensitivity', ScoresSettings>;
export const gradientCurve = new Work(
  'sensitivity',
  ({ seed }: { readonly seed: number }) => percentilesOf(seed, D_KS),
  () => 1,
);
export type GradientCurve = Drawn<'sensitivity', { readonly seed: number }>;
