// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Colour by role: cividis for weights, a diverging scale through the paper for scores, a tint of the role's own hue for
// q, k, v. Each role is told by its letter too.

export type Role = 'q' | 'k' | 'v' | 'x' | 'w' | 'score' | 'weight' | 'output';

/// Nuñez, Anderton, Renslow, 2018, https://doi.org/10.1371/journal.pone.0199239: at 0, 1/8, ..., 1.
const CIVIDIS = ['00224e', '123570', '3b496c', '575d6d', '707173', '8a8678', 'a59c74', 'c3b369', 'fee838'].map((hex) =>
  [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)),
);

type Rgb = readonly [number, number, number];

export function cividis(t: number): Rgb {
  const x = Math.min(1, Math.max(0, t)) * (CIVIDIS.length - 1);
  const i = Math.min(CIVIDIS.length - 2, Math.floor(x));
  const mixed = [0, 1, 2].map((c) => {
    const a = CIVIDIS[i]?.[c] ?? 0;
    return Math.round(a + (x - i) * ((CIVIDIS[i + 1]?.[c] ?? 0) - a));
  });
  return mixed as unknown as Rgb;
}

function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((c) =>
    c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
  ) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export type Paint = { background: string; color: string };

/// The cell of a number; `reach` is the largest absolute value of its matrix. What takes no part stays bare.
export function paint(role: Role, x: number, reach: number): Paint | undefined {
  if (role === 'weight') {
    if (!Number.isFinite(x)) return undefined;
    const rgb = cividis(x);
    return { background: `rgb(${rgb.join(' ')})`, color: luminance(rgb) > 0.179 ? '#0b0d10' : '#fff' };
  }
  if (!Number.isFinite(x) || reach === 0) return undefined;
  const share = Math.round(Math.min(1, Math.abs(x) / reach) * 40);
  const hue = role === 'score' ? (x < 0 ? '--below' : '--above') : `--${role === 'output' ? 'v' : role}`;
  return { background: `color-mix(in oklab, var(${hue}) ${share}%, var(--cell))`, color: 'var(--ink)' };
}

export function reachOf(data: Float32Array): number {
  return data.reduce((reach, x) => (Number.isFinite(x) ? Math.max(reach, Math.abs(x)) : reach), 0);
}
