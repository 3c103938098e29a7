// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The flow as it comes about, beat by beat: which cells are there, and which are being made.

import { signal } from '@preact/signals';

import type { Flow } from '../../state/flow';
import type { Cell } from '../../ui/grid';

export const stages = ['project', 'scores', 'scale', 'mask', 'softmax', 'sum'] as const;
export type Stage = (typeof stages)[number];

export interface Beat {
  readonly stage: Stage;
  readonly made: readonly Cell[];
}

function rowCells(grid: string, i: number, columns: number, from = 0): Cell[] {
  return Array.from({ length: columns }, (_, j) => ({ grid, i, j: from + j }));
}
function indices(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}

export function beatsOf(flow: Flow, head: number, masked: boolean): Beat[] {
  const { q, k, v, x, heads } = flow;
  const rows = indices(q.rows);
  const beats: Beat[] = [];
  if (x) {
    for (const [grid, m] of Object.entries({ q, k, v })) {
      for (const i of indices(m.rows)) beats.push({ stage: 'project', made: rowCells(grid, i, m.cols) });
    }
  }
  for (const i of rows) {
    for (const j of indices(k.rows)) beats.push({ stage: 'scores', made: [{ grid: 's', i, j }] });
  }
  const width = v.cols / heads.length;
  for (const i of rows) beats.push({ stage: 'scale', made: rowCells('p', i, k.rows) });
  if (masked) beats.push({ stage: 'mask', made: rows.flatMap((i) => rowCells('p', i, k.rows)) });
  for (const i of rows) beats.push({ stage: 'softmax', made: rowCells('a', i, k.rows) });
  for (const i of rows) beats.push({ stage: 'sum', made: rowCells('z', i, width, head * width) });
  return beats;
}

/// The beat being played; undefined: all is there.
export const beat = signal<number | undefined>(undefined);
export const playing = signal(false);

/// From a beat on to the end; from the start where there is none.
export function play(): void {
  beat.value ??= 0;
  playing.value = true;
}
export function pause(): void {
  playing.value = false;
}
/// One beat on or back. Past the last, all is there.
export function step(by: 1 | -1, beats: readonly Beat[]): void {
  const now = beat.peek() ?? (by > 0 ? -1 : beats.length);
  const then = now + by;
  beat.value = then < 0 ? 0 : then >= beats.length ? undefined : then;
  if (beat.value === undefined) playing.value = false;
}
export function jump(stage: Stage, beats: readonly Beat[]): void {
  playing.value = false;
  const first = beats.findIndex((each) => each.stage === stage);
  beat.value = first < 0 ? undefined : first;
}
export function showAll(): void {
  playing.value = false;
  beat.value = undefined;
}

/// The beat at which a cell is made, by its key; what is not in it is there from the start.
export function madeAt(beats: readonly Beat[]): ReadonlyMap<string, number> {
  const at = new Map<string, number>();
  beats.forEach(({ made, stage }, b) => {
    if (stage === 'mask') return; // it changes what is there
    for (const { grid, i, j } of made) at.set(`${grid}.${i}.${j}`, b);
  });
  return at;
}
