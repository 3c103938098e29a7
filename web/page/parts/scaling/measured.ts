// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Measured numbers as the page writes them, and what may be said of them.

import { scientific } from '../../ui/scientific';

/// A standard deviation or a variance: three digits, zeros too.
export function spread(x: number): string {
  return x >= 100 ? x.toFixed(0) : x.toPrecision(3);
}

/// The norm of a Jacobian, from 0 to 0.5: less than a thousandth is as good as nothing.
export function size(norm: number): string {
  return norm < 0.001 ? '< 0.001' : norm.toFixed(3);
}

/// What reaches the query, from 10^-16 to 100.
export function magnitude(norm: number): string {
  return norm >= 0.001 ? norm.toPrecision(2) : scientific(norm);
}

/// What is said of a query's gradient, by what was measured: the 5th and the 95th percentile, unscaled beside scaled.
export const LITTLE = 10; // times less than scaled: next to nothing
export const MUCH = 2; // times more than scaled
export function spreadOf(
  bare: Float64Array,
  scaled: Float64Array,
): { readonly little: boolean; readonly much: boolean } {
  const [low, high] = [0, bare.length - 1];
  const of = (values: Float64Array, at: number): number => values[at] ?? NaN;
  return { little: of(bare, low) * LITTLE < of(scaled, low), much: of(bare, high) > MUCH * of(scaled, high) };
}
