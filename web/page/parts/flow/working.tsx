// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How the number in hand comes about, written out.

import type { JSX } from 'preact';

import type { Softmax } from '../../../engine/engine';
import type { Flow, Head } from '../../state/flow';
import { at, column, type Matrix, row } from '../../state/matrix';
import type { Live } from '../../state/live';
import { isPinned } from '../../state/pins';
import type { Role } from '../../ui/color';
import { flowGrid, type GridId, gridsOf } from '../../ui/flow_grids';
import { digits, full, percent } from '../../ui/format';
import type { Cell } from '../../ui/grid';
import { WrittenSum } from '../../ui/written_sum';
import { words } from '../../words';
import { call } from '../../worker/pool';
import { headOf } from './provenance';

export interface Working {
  readonly cell: Cell;
  readonly value: number;
  readonly rowName: string;
  readonly columnName: string;
  readonly byHand: boolean;
  readonly sum?: {
    readonly a: Float32Array;
    readonly b: Float32Array;
    readonly names: readonly string[];
    readonly products: Float32Array;
    readonly roles: readonly [Role, Role];
  };
  readonly quotient?: { readonly score: number; readonly masked: boolean };
  readonly softmax?: Softmax & { readonly scores: Float32Array; readonly names: readonly string[] };
}

/// The factors of a cell that is a sum of products.
function factors(
  flow: Flow,
  h: Head,
  { grid, i, j }: Cell,
  z: number,
): [Float32Array, Float32Array, Role, Role] | undefined {
  const { x, wQ, wK, wV } = flow;
  const w: Record<string, Matrix | undefined> = { q: wQ, k: wK, v: wV };
  if (grid === 's') return [row(h.q, i), row(h.k, j), 'q', 'k'];
  if (grid === 'z') return [row(h.weights, i), column(h.v, z), 'weight', 'v'];
  const projection = w[grid];
  if (x && projection) return [row(x, i), column(projection, j), 'x', 'w'];
  return undefined;
}

/// Asks the engine for the terms. `z` is the column within its head.
export async function workingOf(flow: Flow, shown: number, cell: Cell): Promise<Working | undefined> {
  const head = headOf(flow, shown, cell);
  const h = flow.heads[head];
  const grid = cell.grid as GridId;
  if (!h || !gridsOf(flow).includes(grid)) return undefined; // in hand in another part, or another input
  const { matrix, rows, columns, field, pins } = flowGrid(flow, head, grid);
  if (cell.i >= matrix.rows || cell.j >= matrix.cols) return undefined;
  const names = { rowName: rows[cell.i] ?? '', columnName: columns[cell.j] ?? '' };
  const byHand = pins === true && field !== undefined && isPinned(field, cell.i, cell.j);
  const base = { cell, value: at(matrix, cell.i, cell.j), byHand, ...names };
  if (byHand) return base;
  const sum = factors(flow, h, cell, cell.j - head * h.v.cols);
  if (sum) {
    const [a, b, roleA, roleB] = sum;
    const of =
      grid === 's'
        ? flowGrid(flow, head, 'q').columns.slice(head * flow.dK)
        : flowGrid(flow, head, grid === 'z' ? 'v' : 'wq').rows;
    return { ...base, sum: { a, b, names: of, products: await call('terms', a, b), roles: [roleA, roleB] } };
  }
  if (grid === 'p')
    return { ...base, quotient: { score: at(h.raw, cell.i, cell.j), masked: base.value === -Infinity } };
  if (grid === 'a') {
    const scores = row(h.masked, cell.i);
    return { ...base, softmax: { ...(await call('softmax', scores)), scores, names: columns } };
  }
  return base;
}

export function WorkingOut({
  working,
  divisor,
}: {
  readonly working: Live<Working | undefined>;
  readonly divisor: JSX.Element | undefined;
}): JSX.Element {
  const w = words().parts.flow;
  const it = working.value;
  if (working.error) return <p class="error">{working.error}</p>;
  if (!it) return <p class="quiet">{w.pointAtACell}</p>;
  const { cell, value, rowName, columnName } = it;
  return (
    <>
      <p class="working-of">
        {w.cellIs(w.letters[cell.grid as GridId], rowName, columnName)} <b data-value={value}>{full(value)}</b>
      </p>
      {it.sum && <WrittenSum of={w.letters[cell.grid as GridId]} {...it.sum} total={value} />}
      {it.quotient && <Quotient {...it.quotient} divisor={divisor} value={value} />}
      {it.softmax && <SoftmaxRow {...it.softmax} j={cell.j} value={value} />}
      {!it.sum && !it.quotient && !it.softmax && <p class="quiet">{it.byHand ? w.byHand : w.anInput}</p>}
    </>
  );
}

function Quotient({
  score,
  masked,
  divisor,
  value,
}: {
  readonly score: number;
  readonly masked: boolean;
  readonly divisor: JSX.Element | undefined;
  readonly value: number;
}): JSX.Element {
  const w = words().parts.flow;
  if (masked) return <p>{w.maskedOut}</p>;
  if (!divisor) return <p>{w.undivided}</p>;
  return (
    <p class="written">
      {digits(score, 4)} / {divisor} = <b>{digits(value, 4)}</b>
    </p>
  );
}

/// exp(score - max) of each key, their sum, and the share of one.
function SoftmaxRow({
  exps,
  max,
  sum,
  scores,
  names,
  j,
  value,
}: NonNullable<Working['softmax']> & { readonly j: number; readonly value: number }): JSX.Element {
  const w = words().parts.flow;
  if (max === -Infinity) return <p>{w.noKey}</p>;
  const exponent = digits(max, 4).startsWith('−') ? `(${digits(max, 4)})` : digits(max, 4);
  return (
    <div class="written-sum without-products">
      <span class="sum-of">
        <span class="over">
          exp({digits(scores[j] ?? NaN, 4)} − {exponent})
        </span>{' '}
        / Σ = {digits(exps[j] ?? NaN, 4)} / ({' '}
      </span>
      {Array.from(exps, (e, k) => (
        <span class={`sum-term${k === j ? ' here' : ''}`}>
          <small>{names[k]}</small>
          <span>
            {k > 0 && <span class="sum-plus">+ </span>}
            {digits(e)}
          </span>
        </span>
      ))}
      <b class="sum-total">
        ) = {digits(exps[j] ?? NaN, 4)} / {digits(sum, 4)} = {percent(value)}
      </b>
    </div>
  );
}
