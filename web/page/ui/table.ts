// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a figure shows as numbers, and the files it is taken away in.

import type { Matrix } from '../state/matrix';

export interface Table {
  readonly name: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly values: ArrayLike<number>; // row by row
}

export function tableOf(name: string, rows: readonly string[], columns: readonly string[], m: Matrix): Table {
  return { name, rows, columns, values: m.data };
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/// RFC 4180; tables one after another, each under its name.
export function csv(tables: readonly Table[]): string {
  const lines = tables.flatMap(({ name, rows, columns, values }) => [
    [name, ...columns].map(quoted).join(','),
    ...rows.map((row, i) => [quoted(row), ...columns.map((_, j) => String(values[i * columns.length + j]))].join(',')),
    '',
  ]);
  return lines.join('\r\n');
}

/// NumPy's format, version 1.0: float32 [rows, columns].
export function npy({ rows, columns, values }: Table): Uint8Array {
  const about = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows.length}, ${columns.length}), }`;
  const padded = about.padEnd(Math.ceil((about.length + 11) / 64) * 64 - 11) + '\n'; // 10 bytes and a newline beside it
  const bytes = new Uint8Array(10 + padded.length + 4 * values.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  const view = new DataView(bytes.buffer);
  view.setUint16(8, padded.length, true);
  bytes.set(new TextEncoder().encode(padded), 10);
  for (let i = 0; i < values.length; ++i) view.setFloat32(10 + padded.length + 4 * i, values[i] ?? NaN, true);
  return bytes;
}
