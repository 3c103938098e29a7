// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Brief 1 against all titles, one of which is stretched: ranked by dot product, and by cosine.

import type { Comparison } from '../../../engine/engine';
import { firstBrief } from '../../state/flow';
import { live } from '../../state/live';
import { row } from '../../state/matrix';
import { titles } from '../../state/scene';
import { get } from '../../state/store';
import { call } from '../../worker/pool';
import { stretch, stretched } from './settings';

export interface Rankings extends Comparison {
  readonly cv: number; // the place of the stretched one
  readonly times: number;
  readonly byDot: Int32Array; // places, first to last
  readonly byCosine: Int32Array;
  /// As the titles are, unstretched.
  readonly plain: Comparison;
  readonly plainByDot: Int32Array;
}

export const rankings = live(async (): Promise<Rankings> => {
  const [query, keys, cv, times] = [firstBrief.value, get(titles), Number(get(stretched)) - 1, get(stretch)];
  const data = keys.data.slice();
  data.set(await call('product', row(keys, cv), Float32Array.of(times), [keys.cols, 1, 1]), cv * keys.cols);
  const [now, plain] = await Promise.all([call('compare', query, data), call('compare', query, keys.data)]);
  const [byDot, byCosine, plainByDot] = await Promise.all([
    call('rank', now.dots),
    call('rank', now.cosines),
    call('rank', plain.dots),
  ]);
  return { ...now, cv, times, byDot, byCosine, plain, plainByDot };
});
