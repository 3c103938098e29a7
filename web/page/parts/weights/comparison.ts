// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a number added to one score, or to all of them, does to the weights.

import { live } from '../../state/live';
import { temperature } from '../../state/scene';
import { get } from '../../state/store';
import { call } from '../../worker/pool';
import { addend, addTo, one } from './settings';
import { weigh, type Weighting, weighting } from './weighting';

export interface Comparison {
  readonly before: Weighting;
  readonly after: Weighting;
  readonly factor: number; // e^addend
}

export const comparison = live(async (): Promise<Comparison | undefined> => {
  const before = weighting.value.value;
  const t = get(temperature);
  const add = get(addend);
  const all = get(addTo) === 'all';
  const place = get(one);
  if (!before) return undefined;
  const scores = before.scores.map((s, j) => (all || j === place ? s + add : s));
  const [after, { exps }] = await Promise.all([
    weigh(before.raw, scores, t),
    call('softmax', Float32Array.of(add, 0), t), // the two differ by the factor
  ]);
  return { before, after, factor: (exps[0] ?? NaN) / (exps[1] ?? NaN) };
});
