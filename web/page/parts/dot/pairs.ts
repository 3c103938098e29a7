// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// All briefs against all titles as one product of matrices, and one of its elements written out.

import { signal } from '@preact/signals';

import { live } from '../../state/live';
import { type Matrix, row, transposed } from '../../state/matrix';
import { briefs, titles } from '../../state/scene';
import { get } from '../../state/store';
import { call } from '../../worker/pool';

/// The score that is written out: row and column of S. The last that was in hand.
export const chosen = signal<readonly [number, number]>([0, 1]);

export interface Pairs {
  readonly scores: Matrix;
  readonly best: readonly number[]; // the column of each row's largest
  readonly i: number;
  readonly j: number;
  readonly a: Float32Array; // row i of Q
  readonly b: Float32Array; // column j of K^T
  readonly products: Float32Array;
}

export const pairs = live(async (): Promise<Pairs> => {
  const [q, k, [i, j]] = [get(briefs), get(titles), chosen.value];
  const [a, b] = [row(q, i), row(k, j)];
  const [data, products] = await Promise.all([
    call('product', q.data, transposed(k).data, [q.rows, q.cols, k.rows]),
    call('terms', a, b),
  ]);
  const scores = { rows: q.rows, cols: k.rows, data };
  const orders = await Promise.all(Array.from({ length: q.rows }, (_, i) => call('rank', row(scores, i))));
  return { scores, best: orders.map(([first = 0]) => first), i, j, a, b, products };
});
