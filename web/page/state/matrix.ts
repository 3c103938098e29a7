// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A matrix as the page holds it: packed, row by row, never changed in place.

export interface Matrix {
  readonly rows: number;
  readonly cols: number;
  readonly data: Float32Array;
}

export function matrix(rows: readonly (readonly number[])[]): Matrix {
  return { rows: rows.length, cols: rows[0]?.length ?? 0, data: Float32Array.from(rows.flat()) };
}

export function at({ cols, data }: Matrix, i: number, j: number): number {
  return data[i * cols + j] ?? NaN;
}

export function row({ cols, data }: Matrix, i: number): Float32Array {
  return data.slice(i * cols, (i + 1) * cols);
}

export function column({ rows, cols, data }: Matrix, j: number): Float32Array {
  return Float32Array.from({ length: rows }, (_, i) => data[i * cols + j] ?? NaN);
}

/// The same matrix with one entry set; the very same where that changes nothing.
export function edited(m: Matrix, i: number, j: number, x: number): Matrix {
  if (Object.is(at(m, i, j), x)) return m;
  const data = m.data.slice();
  data[i * m.cols + j] = x;
  return { ...m, data };
}

export function transposed({ rows, cols, data }: Matrix): Matrix {
  const turned = new Float32Array(rows * cols);
  for (let i = 0; i < rows; ++i) for (let j = 0; j < cols; ++j) turned[j * rows + i] = data[i * cols + j] ?? NaN;
  return { rows: cols, cols: rows, data: turned };
}

/// Columns [from, to).
export function columns({ rows, cols, data }: Matrix, from: number, to: number): Matrix {
  const width = to - from;
  const part = new Float32Array(rows * width);
  for (let i = 0; i < rows; ++i) part.set(data.subarray(i * cols + from, i * cols + to), i * width);
  return { rows, cols: width, data: part };
}

/// Matrices of as many rows, side by side.
export function beside(parts: readonly Matrix[]): Matrix {
  const rows = parts[0]?.rows ?? 0;
  const cols = parts.reduce((sum, part) => sum + part.cols, 0);
  const data = new Float32Array(rows * cols);
  let from = 0;
  for (const part of parts) {
    for (let i = 0; i < rows; ++i) data.set(row(part, i), i * cols + from);
    from += part.cols;
  }
  return { rows, cols, data };
}
