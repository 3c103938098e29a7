// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The flow's matrices as grids: letter, meaning, names of rows and columns, and what may be edited. Both the stage and
// the matrices draw these.

import type { ComponentChildren } from 'preact';

import type { Field } from '../state/field';
import type { Flow, Head } from '../state/flow';
import { type Pinnable, pinsOf } from '../state/pins';
import type { Matrix } from '../state/matrix';
import * as scene from '../state/scene';
import { get } from '../state/store';
import { words } from '../words';
import type { Role } from './color';
import { M, Name } from './formula';
import type { GridProps } from './grid';
import { type Table, tableOf } from './table';
import { namesOf } from './scene_controls';

export type GridId = 'x' | 'wq' | 'wk' | 'wv' | 'q' | 'k' | 'v' | 's' | 'p' | 'a' | 'z';

interface Kind {
  readonly role: Role;
  readonly name: ComponentChildren;
  readonly axes: readonly [string, string];
  readonly field?: Field<Matrix>;
}

/// What softmax takes: the scores, divided, and masked.
function ScaledName(): ComponentChildren {
  const how = get(scene.scaling);
  const by =
    how === 'sqrt' ? (
      <msqrt>
        <Name of="d_k" />
      </msqrt>
    ) : (
      <mn>{String(get(scene.factor))}</mn>
    );
  return (
    <M>
      <Name of="S" />
      {how !== 'off' && (
        <>
          <mo>/</mo>
          {by}
        </>
      )}
      {get(scene.mask) !== 'none' && (
        <>
          <mo>+</mo>
          <Name of="M" />
        </>
      )}
    </M>
  );
}

function kinds(sentence: boolean): Record<GridId, Kind> {
  const { query, key, word, component, into, outOf } = words().scene;
  const letter = (of: string) => (
    <M>
      <Name of={of} />
    </M>
  );
  const input = (field: Field<Matrix>) => (sentence ? {} : { field });
  const pairs = [query, key] as const;
  return {
    x: { role: 'x', name: letter('X'), axes: [word, component], field: scene.wordVectors },
    wq: { role: 'w', name: letter('W_Q'), axes: [into, outOf], field: scene.wQ },
    wk: { role: 'w', name: letter('W_K'), axes: [into, outOf], field: scene.wK },
    wv: { role: 'w', name: letter('W_V'), axes: [into, outOf], field: scene.wV },
    q: { role: 'q', name: letter('Q'), axes: [query, component], ...input(scene.briefs) },
    k: { role: 'k', name: letter('K'), axes: [key, component], ...input(scene.titles) },
    v: { role: 'v', name: letter('V'), axes: [key, component], ...input(scene.skills) },
    s: { role: 'score', name: letter('S'), axes: pairs },
    p: { role: 'score', name: <ScaledName />, axes: pairs },
    a: { role: 'weight', name: letter('A'), axes: pairs },
    z: { role: 'output', name: letter('Z'), axes: [query, component] },
  };
}

function numbered(n: number): string[] {
  return Array.from({ length: n }, (_, i) => String(i + 1));
}

/// The scores and weights are one head's, all else has the heads side by side. Weights of each head may have a name of
/// their own beside the letter.
export function flowGrid(flow: Flow, h: number, id: GridId, head = flow.heads[h] as Head): Omit<GridProps, 'id'> {
  const s = words().scene;
  const sentence = flow.example === 'sentence';
  const { rows: queries, columns: keys } = namesOf(flow.example);
  const matrices: Record<GridId, Matrix | undefined> = {
    x: flow.x,
    wq: flow.wQ,
    wk: flow.wK,
    wv: flow.wV,
    q: flow.q,
    k: flow.k,
    v: flow.v,
    s: head.raw,
    p: head.masked,
    a: head.weights,
    z: flow.z,
  };
  const matrix = matrices[id];
  if (!matrix) throw new Error(`no matrix ${id} in this flow`);
  const columns: Partial<Record<GridId, readonly string[]>> = { x: s.kindsShort, s: keys, p: keys, a: keys };
  if (!sentence) Object.assign(columns, { q: s.featuresShort, k: s.featuresShort, v: s.skillsShort, z: s.skillsShort });
  const rows: Partial<Record<GridId, readonly string[]>> = { k: keys, v: keys };
  for (const w of ['wq', 'wk', 'wv'] as const) rows[w] = s.kindsShort;
  const meaning = s.meanings[id];
  const kind = kinds(sentence)[id];
  const pins = kind.field ? undefined : pinsOf(flow.example, id as Pinnable, flow.heads.length, h);
  return {
    ...kind,
    ...(pins && { field: pins, pins: true }),
    matrix,
    rows: rows[id] ?? queries,
    columns: columns[id] ?? numbered(matrix.cols),
    about: `${matrix.rows} × ${matrix.cols} · ${meaning}`,
    label: `${id.toUpperCase()}: ${meaning}, ${matrix.rows} × ${matrix.cols}`,
  };
}

export function gridsOf(flow: Flow): readonly GridId[] {
  return flow.x ? ['x', 'wq', 'wk', 'wv', 'q', 'k', 'v', 's', 'p', 'a', 'z'] : ['q', 'k', 'v', 's', 'p', 'a', 'z'];
}

/// All of a flow as numbers; scores and weights once a head.
export function tablesOf(flow: Flow): Table[] {
  return gridsOf(flow).flatMap((id) => {
    const heads = ['s', 'p', 'a'].includes(id) ? flow.heads : flow.heads.slice(0, 1);
    return heads.map((_, h) => {
      const { matrix, rows, columns, label } = flowGrid(flow, h, id);
      return tableOf(heads.length > 1 ? `${label} (${h + 1})` : label, rows, columns, matrix);
    });
  });
}
