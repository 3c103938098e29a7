// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One element of a product of matrices, written out: what it comes to, term by term. Each term is a small column: what it
// is about, its two factors in the colours of their roles, their product. All numbers come from the engine.

import type { ComponentChildren, JSX } from 'preact';

import type { Role } from './color';
import { digits } from './format';

export interface WrittenSumProps {
  readonly of: ComponentChildren; // what is written out: q · k
  readonly names?: readonly string[]; // of the terms
  readonly a: ArrayLike<number>; // the first factors
  readonly b: ArrayLike<number>;
  readonly roles: readonly [Role, Role];
  readonly products: ArrayLike<number>;
  readonly total: number;
  readonly write?: (x: number) => string;
}

export function WrittenSum(props: WrittenSumProps): JSX.Element {
  const { names, a, b, roles, products, total, write = (x) => digits(x, 4) } = props;
  return (
    <p class="written-sum">
      <span class="sum-of">{props.of} =</span>
      {Array.from(products, (product, i) => (
        <span class="sum-term" data-value={product}>
          {names && <small>{names[i]}</small>}
          <span>
            {i > 0 && <span class="sum-plus">+ </span>}
            <Factor x={a[i] ?? NaN} role={roles[0]} write={write} />
            {' × '}
            <Factor x={b[i] ?? NaN} role={roles[1]} write={write} bracketed />
          </span>
          <small class="sum-product">= {write(product)}</small>
        </span>
      ))}
      <b class="sum-total" data-value={total}>
        = {write(total)}
      </b>
    </p>
  );
}

interface FactorProps {
  readonly x: number;
  readonly role: Role;
  readonly write: (x: number) => string;
  readonly bracketed?: boolean; // where it is negative
}

/// Text in a role's colour.
const INKS: Readonly<Record<Role, string>> = {
  q: 'q',
  k: 'k',
  v: 'v',
  x: 'x',
  w: 'w',
  score: 'ink',
  weight: 'weight',
  output: 'v',
};

function Factor({ x, role, write, bracketed }: FactorProps): JSX.Element {
  const text = write(x);
  return (
    <span style={{ color: `var(--${INKS[role]})` }}>{bracketed && text.startsWith('−') ? `(${text})` : text}</span>
  );
}
