// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a visitor sets of scaling, and what is drawn with it.

import { choice, number } from '../../state/field';

export const dK = number('dk', 64, { min: 1, max: 1024, whole: true });
/// What the scores are divided by: sqrt(d_k), 1, or d_k.
export const divisor = choice('by', ['root', 'one', 'dk']);
export type Divisor = (typeof divisor.options)[number];
export const seed = number('seed', 1, { min: 1, max: 4294967295, whole: true });
/// What the ribbons show: the norm of the softmax's Jacobian, or the largest weight.
export const measure = choice('ribbon', ['norm', 'largest']);
export type Measure = (typeof measure.options)[number];

export const SAMPLES = 100_000;
export const KEYS = 64;
export const DRAWS = 400;
export const PERCENTILES = [5, 25, 50, 75, 95] as const;
export const MEDIAN = 2; // its place among them

export function valueOf(which: Divisor, d: number): number {
  return which === 'one' ? 1 : which === 'root' ? Math.sqrt(d) : d;
}
