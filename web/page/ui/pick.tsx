// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two selects whose choices differ: taking what the other has exchanges them.

import type { JSX } from 'preact';

import type { Field, NumberField } from '../state/field';
import { get, setAll } from '../state/store';

export interface PairProps {
  readonly fields: readonly [NumberField, NumberField];
  readonly labels: readonly [string, string];
  readonly names: readonly string[];
  /// What a new choice changes besides.
  readonly also?: readonly (readonly [Field<unknown>, unknown])[];
}

/// Sets fields[which] and keeps the two different.
export function choose({ fields, also = [] }: Omit<PairProps, 'labels' | 'names'>, which: 0 | 1, to: number): void {
  const [mine, its] = [fields[which], fields[which === 0 ? 1 : 0]];
  setAll([[mine, to], ...(get(its) === to ? [[its, get(mine)] as const] : []), ...also]);
}

export function Pair(props: PairProps): JSX.Element {
  return (
    <>
      {([0, 1] as const).map((which) => (
        <label class="pick" key={which}>
          {props.labels[which]}
          <select
            value={get(props.fields[which])}
            onChange={(event) => choose(props, which, Number(event.currentTarget.value))}
          >
            {props.names.map((name, at) => (
              <option key={at} value={at}>
                {name}
              </option>
            ))}
          </select>
        </label>
      ))}
    </>
  );
}
