// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Numbers as the page writes them: a real minus sign, and -∞ where a key takes no part.

function finished(text: string): string {
  return text.replaceAll('-', '−');
}

function special(x: number): string | undefined {
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  return undefined;
}

/// For a cell of a matrix: two digits after the point.
export function brief(x: number): string {
  const text =
    special(x) ??
    (Math.abs(x) >= 1e4 ? x.toExponential(0) : x.toFixed(Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 10 ? 1 : 2));
  return finished(/^-0(\.0*)?$/.test(text) ? text.slice(1) : text);
}

/// For the cell in hand: six digits.
export function full(x: number): string {
  if (x === 0) return '0';
  return special(x) ?? finished(Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6 ? x.toExponential(5) : x.toPrecision(6));
}

/// Two or three digits that matter.
export function digits(x: number, n = 3): string {
  if (x === 0) return '0';
  return (
    special(x) ??
    finished(Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6 ? x.toExponential(n - 1) : String(Number(x.toPrecision(n))))
  );
}

/// A share of one; `places` after the point from 10 % on.
export function percent(x: number, places = 0): string {
  const p = 100 * x;
  if (!Number.isFinite(p)) return special(p) ?? '';
  if (p === 0) return '0 %';
  if (p < 0.01) return '< 0.01 %';
  if (p < 100 && p > 99.95) return p > 99.995 ? '> 99.99 %' : `${p.toFixed(2)} %`;
  return `${p.toFixed(p < 1 ? 2 : p < 10 ? 1 : p > 99 && p < 100 ? 1 : p < 100 ? places : 0)} %`;
}
