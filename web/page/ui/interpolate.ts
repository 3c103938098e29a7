// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What d3-scale asks of d3-interpolate, for numbers: no scale here has another range, and d3's interpolation of colours
// and texts would be 6 KB more, gzipped, for every visitor. vite.config.ts puts it in that place.

type Interpolator = (t: number) => number;

export function interpolateNumber(a: number, b: number): Interpolator {
  return (t) => a * (1 - t) + b * t;
}

export function interpolateRound(a: number, b: number): Interpolator {
  return (t) => Math.round(a * (1 - t) + b * t);
}

export { interpolateNumber as interpolate };

export function piecewise(): never {
  throw new Error('piecewise: no scale here is of that kind');
}
