// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Computed numbers that the visitor has set by hand: what follows is computed from them. A matrix of pins has the shape of
// what it covers; NaN stands where nothing is set.

import { type Field, matrixField } from './field';
import { at, type Matrix } from './matrix';
import type { Example } from './scene';
import { get } from './store';

export type Pinnable = 'q' | 'k' | 'v' | 's' | 'p' | 'a' | 'z';

const SHAPES: Record<Example, Partial<Record<Pinnable, readonly [number, number]>>> = {
  cvs: { s: [3, 8], p: [3, 8], a: [3, 8], z: [3, 4] },
  sentence: { q: [5, 4], k: [5, 4], v: [5, 4], s: [5, 5], p: [5, 5], a: [5, 5], z: [5, 4] },
};
const ONE_HEAD: readonly Pinnable[] = ['s', 'p', 'a']; // those that a head has for itself

const fields = new Map<string, Field<Matrix>>();
for (const [example, shapes] of Object.entries(SHAPES)) {
  for (const [grid, [rows, cols]] of Object.entries(shapes)) {
    for (const head of ONE_HEAD.includes(grid as Pinnable) ? ['', '1', '2'] : ['']) {
      const key = `pin-${example}-${grid}${head}`;
      fields.set(key, matrixField(key, { rows, cols, data: new Float32Array(rows * cols).fill(NaN) }));
    }
  }
}

export const pinFields: readonly Field<unknown>[] = [...fields.values()];

/// The pins of a grid; undefined where it is an input. Of several heads, the scores and weights have their own.
export function pinsOf(example: Example, grid: Pinnable, heads: number, head: number): Field<Matrix> | undefined {
  const own = heads > 1 && ONE_HEAD.includes(grid) ? head + 1 : '';
  return fields.get(`pin-${example}-${grid}${own}`);
}

/// All pins of a flow, as they are now.
export type Pins = (grid: Pinnable, head?: number) => Matrix | undefined;
export function readPins(example: Example, heads: number): Pins {
  const now = new Map(
    [...fields].map(([key, field]) => [field, key.startsWith(`pin-${example}-`) && get(field)] as const),
  );
  return (grid, head = 0) => {
    const field = pinsOf(example, grid, heads, head);
    return (field && now.get(field)) || undefined;
  };
}

/// The matrix with what is set by hand in its place; the very same where nothing is.
export function overlaid(m: Matrix, pins: Matrix | undefined): Matrix {
  if (!pins?.data.some((x) => !Number.isNaN(x))) return m;
  return { ...m, data: m.data.map((x, i) => (Number.isNaN(pins.data[i] ?? NaN) ? x : (pins.data[i] as number))) };
}

export function isPinned(field: Field<Matrix>, i: number, j: number): boolean {
  return !Number.isNaN(at(get(field), i, j));
}
