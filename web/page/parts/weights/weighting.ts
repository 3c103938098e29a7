// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The first brief over the pile of CVs: its scores, and the weights that softmax makes of them at a temperature. The
// weighted sum shares the temperature.

import type { Softmax } from '../../../engine/engine';
import { firstBriefInputs, scaleOption } from '../../state/flow';
import { live } from '../../state/live';
import { temperature } from '../../state/scene';
import { get } from '../../state/store';
import { digits, percent } from '../../ui/format';
import { call, scoresByHead } from '../../worker/pool';

export interface Weighting {
  readonly raw: Float32Array; // q . k
  readonly scores: Float32Array; // scaled
  readonly softmax: Softmax;
  readonly best: number; // the place of the largest weight
  readonly rest: number; // the sum of the other weights
  readonly total: number; // the sum of all
}

/// A weight in words: percent, or what is left of it.
export function share(weight: number): string {
  return weight > 0 && weight < 1e-4 ? digits(weight, 2) : percent(weight, 1);
}

/// Weights of these scores, and what they come to.
export async function weigh(raw: Float32Array, scores: Float32Array, t: number): Promise<Weighting> {
  const softmax = await call('softmax', scores, t);
  const { weights } = softmax;
  const [best = 0] = await call('rank', weights);
  const marks = Float32Array.from({ length: 2 * weights.length }, (_, at) => Number(at !== 2 * best + 1)); // columns: all, all but the best
  const [total = NaN, rest = NaN] = await call('product', weights, marks, [1, weights.length, 2]);
  return { raw, scores, softmax, best, rest, total };
}

export const weighting = live(async (): Promise<Weighting> => {
  const given = firstBriefInputs();
  const scale = scaleOption.value;
  const t = get(temperature);
  const [[raw], [scores]] = await Promise.all([
    scoresByHead(given, { scale: 1 }),
    scoresByHead(given, scale === undefined ? {} : { scale }),
  ]);
  return weigh(raw as Float32Array, scores as Float32Array, t);
});
