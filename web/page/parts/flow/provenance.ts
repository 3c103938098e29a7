// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a cell of the flow is made of. Grids are named x, wq, wk, wv, q, k, v, s (raw scores), p (scaled and masked), a
// (weights), z; heads lie side by side in the columns of q, k, v and z, while s, p and a show one head.

import type { Flow } from '../../state/flow';
import type { Cell } from '../../ui/grid';

/// A block of cells of one grid.
export interface Block {
  readonly grid: string;
  readonly rows: readonly [number, number]; // [from, to)
  readonly columns: readonly [number, number];
}

const PROJECTIONS: Record<string, string> = { q: 'wq', k: 'wk', v: 'wv' };

function rowOf(grid: string, i: number, columns: readonly [number, number]): Block {
  return { grid, rows: [i, i + 1], columns };
}

/// What the cell is computed from at once; nothing, for an input.
export function sources(flow: Flow, head: number, { grid, i, j }: Cell): readonly Block[] {
  const keys: readonly [number, number] = [0, flow.k.rows];
  const features: readonly [number, number] = [head * flow.dK, (head + 1) * flow.dK];
  if (grid === 'z') return [rowOf('a', i, keys), { grid: 'v', rows: keys, columns: [j, j + 1] }];
  if (grid === 'a') return [rowOf('p', i, keys)];
  if (grid === 'p') return [rowOf('s', i, [j, j + 1])];
  if (grid === 's') return [rowOf('q', i, features), rowOf('k', j, features)];
  const w = PROJECTIONS[grid];
  if (!flow.x || !w) return [];
  const inner: readonly [number, number] = [0, flow.x.cols];
  return [rowOf('x', i, inner), { grid: w, rows: inner, columns: [j, j + 1] }];
}

export function cellsOf({ grid, rows, columns }: Block): Cell[] {
  const cells: Cell[] = [];
  for (let i = rows[0]; i < rows[1]; ++i) for (let j = columns[0]; j < columns[1]; ++j) cells.push({ grid, i, j });
  return cells;
}

/// Cells of one grid as the display asks for them.
export type Lit = ReadonlyMap<string, 'lit' | 'near'>;
export const keyOf = ({ grid, i, j }: Cell): string => `${grid}.${i}.${j}`;

/// All that a cell comes from: what it is computed from is lit, what that comes from is near.
export function provenance(flow: Flow, head: number, cell: Cell): Lit {
  const lit = new Map<string, 'lit' | 'near'>();
  let found = sources(flow, head, cell).flatMap(cellsOf);
  for (const each of found) lit.set(keyOf(each), 'lit');
  while (found.length > 0) {
    found = found.flatMap((each) => sources(flow, head, each).flatMap(cellsOf)).filter((each) => !lit.has(keyOf(each)));
    for (const each of found) lit.set(keyOf(each), 'near');
  }
  return lit;
}

/// The head that a cell belongs to: for z it is told by the column.
export function headOf(flow: Flow, shown: number, { grid, j }: Cell): number {
  if (grid !== 'z') return shown;
  return Math.floor(j / (flow.v.cols / flow.heads.length));
}
