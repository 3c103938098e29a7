// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The same state as matrices only: three products and a softmax, each written as an equation between grids.

import '../../style/matrices.css';

import type { ComponentChildren, JSX } from 'preact';

import { flow, type Flow, type Head } from '../../state/flow';
import { transposed } from '../../state/matrix';
import { pinFields } from '../../state/pins';
import * as scene from '../../state/scene';
import { Screen } from '../../ui/figure';
import { flowGrid, type GridId, tablesOf } from '../../ui/flow_grids';
import { M, Name } from '../../ui/formula';
import { Grid, type GridProps } from '../../ui/grid';
import { ExampleControl, HeadsControl, MaskControl, ScalingControl } from '../../ui/scene_controls';
import { words } from '../../words';

export function MatricesPart(): JSX.Element {
  const w = words().parts.matrices;
  const { value: it, error } = flow.value;
  const controls = (
    <>
      <ExampleControl />
      <ScalingControl />
      <MaskControl />
      <HeadsControl />
    </>
  );
  return (
    <Screen
      id="matrices"
      text={w.text}
      more={w.more}
      controls={controls}
      sentence={it ? w.say(shapesOf(it)) : words().ui.waiting}
      error={error}
      tables={() => (it ? tablesOf(it) : [])}
      fields={[...scene.sceneFields, ...pinFields]}
    >
      {it && (
        <>
          {it.x && <Projections flow={it} />}
          {it.heads.map((head, h) => (
            <HeadEquations key={h} flow={it} head={head} h={h} />
          ))}
        </>
      )}
    </Screen>
  );
}

export interface Shapes {
  readonly nQ: number;
  readonly nKv: number;
  readonly dK: number;
  readonly dV: number;
  readonly heads: number;
}
function shapesOf({ q, k, v, heads, dK }: Flow): Shapes {
  return { nQ: q.rows, nKv: k.rows, dK, dV: v.cols / heads.length, heads: heads.length };
}

function Projections({ flow }: { readonly flow: Flow }): JSX.Element {
  const triples: readonly (readonly [GridId, GridId])[] = [
    ['wq', 'q'],
    ['wk', 'k'],
    ['wv', 'v'],
  ];
  return (
    <>
      {triples.map(([w, made], i) => (
        <div class="equation" key={w}>
          <Grid id={i === 0 ? 'x' : `x-${w}`} {...flowGrid(flow, 0, 'x')} />
          <Sign>×</Sign>
          <Grid id={w} {...flowGrid(flow, 0, w)} />
          <Made>
            <Grid id={`${made}-made`} {...flowGrid(flow, 0, made)} />
          </Made>
        </div>
      ))}
    </>
  );
}

/// Q K^T = S, softmax of it = A, A V = Z, of one head.
function HeadEquations({
  flow,
  head,
  h,
}: {
  readonly flow: Flow;
  readonly head: Head;
  readonly h: number;
}): JSX.Element {
  const w = words().parts.matrices;
  const several = flow.heads.length > 1;
  const of = (id: GridId): GridProps => ({ ...ofHead(flow, head, h, id), id: several ? `${id}-${h + 1}` : id });
  return (
    <section aria-label={several ? w.head(h + 1) : undefined}>
      {several && <h3>{w.head(h + 1)}</h3>}
      <div class="equation">
        <Grid {...of('q')} />
        <Sign>×</Sign>
        <Grid {...turned(of('k'))} />
        <Made>
          <Grid {...of('s')} />
        </Made>
      </div>
      <div class="equation">
        <Sign>softmax</Sign>
        <Grid {...of('p')} />
        <Made>
          <Grid {...of('a')} />
        </Made>
      </div>
      <div class="equation">
        <Grid {...of('a')} id={`${of('a').id}-again`} />
        <Sign>×</Sign>
        <Grid {...of('v')} />
        <Made>
          <Grid {...of('z')} />
        </Made>
      </div>
    </section>
  );
}

function Sign({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <span class="sign">{children}</span>;
}

/// The sign stays with what it gives, wherever the line breaks.
function Made({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="made">
      <Sign>=</Sign>
      {children}
    </div>
  );
}

const HEAD_COLUMNS = { q: 'q', k: 'k', v: 'v', z: 'o' } as const;

/// A matrix of all heads, cut to one; its cells edit the whole one.
function ofHead(flow: Flow, head: Head, h: number, id: GridId): Omit<GridProps, 'id'> {
  const grid = flowGrid(flow, h, id);
  if (!(id in HEAD_COLUMNS) || flow.heads.length === 1) return grid;
  const matrix = head[HEAD_COLUMNS[id as keyof typeof HEAD_COLUMNS]];
  const from = h * matrix.cols;
  return {
    ...grid,
    matrix,
    columns: grid.columns.slice(from, from + matrix.cols),
    about: grid.about?.replace(/^\d+ × \d+/, `${matrix.rows} × ${matrix.cols}`) ?? '',
    entry: (i, j) => [i, from + j],
  };
}

function turned(grid: GridProps): GridProps {
  const { matrix, rows, columns, axes, entry = (i, j) => [i, j] as const } = grid;
  return {
    ...grid,
    matrix: transposed(matrix),
    rows: columns,
    columns: rows,
    axes: [axes[1], axes[0]],
    entry: (i, j) => entry(j, i),
    about: grid.about?.replace(/^\d+ × \d+/, `${matrix.cols} × ${matrix.rows}`) ?? '',
    name: (
      <M>
        <msup>
          <Name of="K" />
          <mi mathvariant="normal">T</mi>
        </msup>
      </M>
    ),
  };
}
