// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The two arrows of the plane, and what the engine says of them.

import { live } from '../../state/live';
import { type Matrix, row } from '../../state/matrix';
import { get, set } from '../../state/store';
import { call } from '../../worker/pool';
import { arrows, REACH } from './settings';

export type Arrow = 0 | 1; // q, k

/// An arrow's tip, kept within reach.
export function point(arrow: Arrow, x: number, y: number, gesture?: string): void {
  const m = get(arrows);
  const data = m.data.slice();
  const within = (to: number): number => Math.min(REACH, Math.max(-REACH, to));
  data.set([within(x), within(y)], 2 * arrow);
  set(arrows, { ...m, data }, gesture);
}

export interface Meeting {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly products: Float32Array; // term by term
  readonly dot: number;
  readonly qLength: number;
  readonly kLength: number;
  readonly cosine: number; // NaN where an arrow has no length, as degrees
  readonly degrees: number;
  readonly along: number; // how far q reaches along k, |q| cos
}

async function meet(m: Matrix): Promise<Meeting> {
  const [q, k] = [row(m, 0), row(m, 1)];
  const [products, { dots, lengths, cosines, degrees, queryLength }] = await Promise.all([
    call('terms', q, k),
    call('compare', q, k),
  ]);
  const along = await call('terms', Float32Array.of(queryLength), cosines);
  const of = (one: Float32Array): number => one[0] ?? NaN;
  return {
    q,
    k,
    products,
    dot: of(dots),
    qLength: queryLength,
    kLength: of(lengths),
    cosine: of(cosines),
    degrees: of(degrees),
    along: of(along),
  };
}

export const meeting = live(() => meet(get(arrows)));
