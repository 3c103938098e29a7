// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Every matrix of the flow on one stage, each number in its place, inputs editable.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { Flow, Head } from '../../state/flow';
import { type GridId, flowGrid } from '../../ui/flow_grids';
import { type Cell, Grid, inHand } from '../../ui/grid';
import { type Beat, beat, madeAt, pause } from './playback';
import { headOf, keyOf, type Lit, provenance, sources } from './provenance';
import { travel } from './travel';

/// The cell whose making is written out: what the beat makes, or the one in hand.
export function focusOf(beats: readonly Beat[]): Cell | undefined {
  const now = beat.value;
  return inHand.value ?? (now === undefined ? undefined : beats[now]?.made[0]);
}

const ROWS: Record<Flow['example'], readonly (readonly GridId[])[]> = {
  cvs: [
    ['q', 'k', 'v'],
    ['s', 'p', 'a', 'z'],
  ],
  sentence: [
    ['x', 'wq', 'wk', 'wv'],
    ['q', 'k', 'v'],
    ['s', 'p', 'a', 'z'],
  ],
};

export interface StageProps {
  readonly flow: Flow;
  readonly head: number;
  readonly beats: readonly Beat[];
}

export function Stage({ flow, head, beats }: StageProps): JSX.Element {
  const root = useRef<HTMLDivElement>(null);
  const now = beat.value;
  const making = now === undefined ? [] : (beats[now]?.made ?? []);
  useEffect(() => {
    const [first] = making;
    if (!first || !root.current) return;
    root.current
      .querySelector(`[data-grid="${first.grid}"] [data-at="${first.i}.${first.j}"]`)
      ?.scrollIntoView({ block: 'nearest' });
    travel(root.current, sources(flow, head, first), first);
  }, [now]);

  const cell = focusOf(beats);
  const lit: Lit = cell ? provenance(flow, headOf(flow, head, cell), cell) : new Map();
  const underWay = new Set(making.map(keyOf));
  const made = madeAt(beats);
  const maskBeat = beats.findIndex(({ stage }) => stage === 'mask');
  const bare = now !== undefined && maskBeat > now; // the mask is yet to come
  const h = flow.heads[head] as Head;
  const grid = (id: GridId): JSX.Element => {
    const key = (i: number, j: number) => `${id}.${i}.${j}`;
    return (
      <Grid
        key={id}
        id={id}
        {...flowGrid(flow, head, id, bare ? { ...h, masked: h.scaled } : h)}
        lit={(i, j) => (underWay.has(key(i, j)) ? 'lit' : lit.get(key(i, j)))}
        shown={(i, j) => now === undefined || (made.get(key(i, j)) ?? -1) <= now}
      />
    );
  };
  return (
    // Who touches or scrolls the stage wants to look: the next beat would scroll it away.
    <div class="stage" ref={root} onPointerDown={pause} onWheel={pause}>
      {ROWS[flow.example].map((ids) => (
        <div class="stage-row" key={ids.join()}>
          {ids.map(grid)}
        </div>
      ))}
    </div>
  );
}
