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
  const now = chosen(fields);
  const itsNow = now[which === 0 ? 1 : 0];
  setAll([[mine, to], [its, itsNow === to ? now[which] : itsNow], ...also]);
}

/// What is chosen, two different ones: an address may name one twice.
export function chosen([first, second]: PairProps['fields']): readonly [number, number] {
  const [a, b] = [get(first), get(second)];
  return [a, a !== b ? b : b === second.max ? b - 1 : b + 1];
}

export function Pair(props: PairProps): JSX.Element {
  return (
    <>
      {([0, 1] as const).map((which) => (
        <label class="pick" key={which}>
          {props.labels[which]}
          <select
            value={chosen(props.fields)[which]}
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
