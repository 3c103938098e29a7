// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A screen of a part: a short text, one figure, and the sentence that says what the figure shows now. The sentence is what
// a screen reader hears of a change; the figure's menu has it as a picture, as numbers, and as a table.

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { place } from '../state/address';
import type { Field } from '../state/field';
import { words } from '../words';
import { ResetButton } from './control';
import { FigureMenu } from './figure_menu';
import { digits } from './format';
import type { Table } from './table';

export interface ScreenProps {
  readonly id: string; // names its files and anchors
  readonly title?: ComponentChildren; // left out where the part's own says it all
  readonly text: ComponentChildren;
  readonly more?: ComponentChildren; // the derivation
  readonly controls?: ComponentChildren;
  readonly children: ComponentChildren; // the figure
  readonly sentence: string;
  readonly error?: string | undefined; // the engine's line, beside what caused it
  readonly tables: () => readonly Table[];
  readonly fields?: readonly Field<unknown>[]; // what its reset clears
}

export function Screen(props: ScreenProps): JSX.Element | null {
  const figure = useRef<HTMLElement>(null);
  const asTable = useSignal(false);
  const titled = props.title ? `title-${props.id}` : 'part-title';
  const { embed } = place.value;
  if (embed && embed !== '1' && embed !== props.id) return null;
  return (
    <section class="screen" id={`screen-${props.id}`} aria-labelledby={titled}>
      <div class="screen-text">
        {props.title && <h2 id={titled}>{props.title}</h2>}
        {props.text}
        {props.more && (
          <details>
            <summary>{words().ui.more}</summary>
            {props.more}
          </details>
        )}
      </div>
      <figure ref={figure} aria-labelledby={titled}>
        <div class="figure-bar">
          <div class="figure-controls">{props.controls}</div>
          <div class="figure-actions">
            {props.fields && <ResetButton fields={props.fields} />}
            <FigureMenu id={props.id} figure={figure} tables={props.tables} asTable={asTable} />
          </div>
        </div>
        <div class="figure-body">{props.children}</div>
        {props.error && (
          <p class="error" role="alert">
            {props.error}
          </p>
        )}
        <figcaption>
          <Spoken text={props.sentence} />
        </figcaption>
        {asTable.value && <Tables tables={props.tables()} />}
      </figure>
    </section>
  );
}

const SETTLED_MS = 400; // a drag is not read out step by step

/// The sentence, for the eye at once, for the ear when it has settled.
function Spoken({ text }: { readonly text: string }): JSX.Element {
  const settled = useSignal('');
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <>
      <p class="sentence" aria-hidden="true">
        {text.replaceAll('d_k', 'dₖ')}
      </p>
      <p class="heard" aria-live="polite">
        {settled.value}
      </p>
    </>
  );
}

function Tables({ tables }: { readonly tables: readonly Table[] }): JSX.Element {
  return (
    <div class="tables">
      {tables.map(({ name, rows, columns, values }) => (
        <table key={name}>
          <caption>{name}</caption>
          <thead>
            <tr>
              <td />
              {columns.map((column) => (
                <th scope="col">{column}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr>
                <th scope="row">{row}</th>
                {columns.map((_, j) => (
                  <td>{digits(values[i * columns.length + j] ?? NaN, 6)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}
