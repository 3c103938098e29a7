// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The same computation as code, with the options that are set: on foveate's C++ interface, and in NumPy. Each line is
// tagged with the stages at which it is at work.

import type { Stage } from './playback';

export interface Line {
  readonly code: string;
  readonly stages: readonly Stage[];
}

/// The options as the listings need them.
export interface Setting {
  readonly sentence: boolean;
  readonly heads: number;
  readonly scaling: 'sqrt' | 'off' | 'factor';
  readonly factor: number;
  readonly mask: 'none' | 'causal' | 'window' | 'own';
  readonly window: readonly [number, number];
}

function line(code: string, ...stages: Stage[]): Line {
  return { code, stages };
}

export function cpp({ sentence, heads, scaling, factor, mask, window: [left, right] }: Setting): Line[] {
  const layout = heads > 1 ? ', Layout::bnhd' : '';
  const view = (name: string, n: string, d: string) => `view(${name}, 1, ${heads}, ${n}, ${d}${layout})`;
  const options: Line[] = [];
  if (scaling === 'off') options.push(line('options.scale = 1;', 'scale'));
  if (scaling === 'factor') options.push(line(`options.scale = 1.0 / ${factor};`, 'scale'));
  if (mask === 'causal') options.push(line('options.causal = true;', 'mask'));
  if (mask === 'window') options.push(line(`options.window_left = ${left}, options.window_right = ${right};`, 'mask'));
  if (mask === 'own') options.push(line('options.mask = view(mask, 1, 1, n_q, n_kv);  // bool', 'mask'));
  const scaleHere: Stage[] = scaling === 'sqrt' ? ['scale'] : [];
  return [
    ...(sentence ? [line('// q = x w_q, k = x w_k, v = x w_v, by your matrix product', 'project')] : []),
    line('using namespace foveate;'),
    line('AttentionOptions options;' + (scaling === 'sqrt' ? '  // scale: 1 / √d_k' : ''), ...scaleHere),
    ...options,
    line('Status status = attention('),
    line(`    ${view('q', 'n_q', 'd_k')}, ${view('k', 'n_kv', 'd_k')},`, 'scores'),
    line(`    ${view('v', 'n_kv', 'd_v')},`, 'sum'),
    line(`    {.o = ${view('z', 'n_q', 'd_v')},`, 'sum'),
    line(`     .weights = view(a, 1, ${heads}, n_q, n_kv)}, options);`, 'softmax'),
  ];
}

export function numpy({ sentence, heads, scaling, factor, mask, window: [left, right] }: Setting): Line[] {
  const several = heads > 1;
  const kT = several ? 'k.swapaxes(1, 2)' : 'k.T';
  const scale = { sqrt: 's = s / np.sqrt(k.shape[-1])', off: '', factor: `s = s / ${factor}` }[scaling];
  const past = 'np.arange(n_kv) - np.arange(n_q)[:, None] - (n_kv - n_q)';
  const masks: Record<Setting['mask'], string[]> = {
    none: [],
    causal: ['mask = np.tri(n_q, n_kv, n_kv - n_q, dtype=bool)'],
    window: [`far = ${past}`, `mask = (far >= -${left}) & (far <= ${right})`],
    own: [],
  };
  return [
    ...(sentence ? [line('q, k, v = x @ w_q, x @ w_k, x @ w_v', 'project')] : []),
    ...(several
      ? [line(`q, k, v = (m.reshape(len(m), ${heads}, -1).swapaxes(0, 1) for m in (q, k, v))`, 'project')]
      : []),
    line(`s = q @ ${kT}`, 'scores'),
    ...(scale ? [line(scale, 'scale')] : []),
    ...masks[mask].map((code) => line(code, 'mask')),
    ...(mask === 'none' ? [] : [line('s = np.where(mask, s, -np.inf)', 'mask')]),
    ...(mask === 'own' ? [line('# a row without keys is NaN here; foveate gives 0', 'mask')] : []),
    line('e = np.exp(s - s.max(axis=-1, keepdims=True))', 'softmax'),
    line('a = e / e.sum(axis=-1, keepdims=True)', 'softmax'),
    line(several ? 'z = (a @ v).swapaxes(0, 1).reshape(n_q, -1)' : 'z = a @ v', 'sum'),
  ];
}
