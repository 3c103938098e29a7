// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the flow shows now, in a sentence: where the query in hand, or else the first, looks.

import type { Flow, Head } from '../../state/flow';
import { at, row } from '../../state/matrix';
import { isPinned, pinsOf } from '../../state/pins';
import * as scene from '../../state/scene';
import { get } from '../../state/store';
import { namesOf } from '../../ui/scene_controls';
import { percent } from '../../ui/format';
import { inHand } from '../../ui/grid';
import { words } from '../../words';

export function saying(flow: Flow, head: number): string {
  const w = words().parts.flow;
  const h = flow.heads[head] as Head;
  const cell = inHand.value;
  const last = flow.q.rows - 1;
  const telling = get(scene.mask) === 'causal' ? last : 0; // under a causal mask the first may see but one key
  const i = cell && ['q', 's', 'p', 'a', 'z'].includes(cell.grid) ? Math.min(cell.i, last) : telling;
  const weights = row(h.weights, i);
  const best = weights.reduce((best, x, j) => (x > (weights[best] ?? 0) ? j : best), 0);
  const { rows, columns } = namesOf(flow.example);
  const { quoted, titles } = words().scene;
  const sentence = flow.example === 'sentence';
  const query = sentence ? quoted(rows[i] ?? '') : (rows[i] ?? '');
  const key = sentence ? quoted(columns[best] ?? '') : (titles[best] ?? '');
  const share = at(h.weights, i, best);
  const pins = pinsOf(flow.example, 'a', flow.heads.length, head);
  if (pins && weights.some((_, j) => isPinned(pins, i, j))) return w.sayByHand(query);
  if (!(share > 0)) return Number.isNaN(share) ? w.sayNaN(query) : w.sayNoKey(query);
  return w.say({
    query,
    key,
    share: percent(share),
    scaled: get(scene.scaling) !== 'off',
    head: flow.heads.length > 1 ? head + 1 : 0,
    masked: get(scene.mask) !== 'none',
  });
}
