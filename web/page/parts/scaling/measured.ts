// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Measured numbers as the page writes them.

/// A standard deviation or a variance: three digits, zeros too.
export function spread(x: number): string {
  return x >= 100 ? x.toFixed(0) : x.toPrecision(3);
}

/// The norm of a Jacobian, from 0 to 0.5: less than a thousandth is as good as nothing.
export function size(norm: number): string {
  return norm < 0.001 ? '< 0.001' : norm.toFixed(3);
}
