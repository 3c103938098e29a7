// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Controls bound to fields: a choice of a few, a switch, a slider with a number field and snap points.

import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

import type { ChoiceField, Field, NumberField } from '../state/field';
import { endGesture, get, reset, set } from '../state/store';
import { words } from '../words';
import { digits } from './format';

export function Choice<T extends string>({
  field,
  label,
  names,
  spoken,
}: {
  readonly field: ChoiceField<T>;
  readonly label: ComponentChildren;
  readonly names: Readonly<Record<T, ComponentChildren>>;
  readonly spoken?: Readonly<Record<T, string>>; // where names are formulas
}): JSX.Element {
  const id = useId();
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      <div>
        {field.options.map((option) => (
          <label key={option}>
            <input
              type="radio"
              name={`${field.key}-${id}`}
              value={option}
              aria-label={spoken?.[option]}
              checked={get(field) === option}
              onChange={() => set(field, option)}
            />
            <span>{names[option]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export interface SliderProps {
  readonly field: NumberField;
  readonly label: ComponentChildren;
  readonly min: number;
  readonly max: number;
  readonly step?: number; // of the slider; on a logarithmic one, in octaves
  readonly logarithmic?: boolean;
  /// Places worth stopping at, and a word for some of them.
  readonly snaps?: readonly { readonly at: number; readonly name?: string }[];
}

export function Slider({ field, label, min, max, step, logarithmic, snaps = [] }: SliderProps): JSX.Element {
  const id = useId();
  const draft = useSignal<string | undefined>(undefined); // what is being typed, right or wrong
  const wrong = useSignal<string | undefined>(undefined);
  const x = get(field);
  const to = (value: number) => (logarithmic ? Math.log2(value) : value);
  const from = (position: number) => {
    const value = logarithmic ? 2 ** position : position;
    const near = snaps.find((snap) => Math.abs(to(snap.at) - position) < (to(max) - to(min)) / 150);
    return near ? near.at : field.whole ? Math.round(value) : Number(value.toPrecision(4));
  };
  const place = (value: number) => (to(value) - to(min)) / (to(max) - to(min));
  const typed = (text: string): void => {
    draft.value = text;
    const value = field.read(text.replace('−', '-'));
    wrong.value = value === undefined ? words().ui.outOfRange(field.min, field.max, field.whole) : undefined;
    if (value !== undefined) set(field, value, field.key);
  };
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <div class="slider-row">
        <div class="slider-track">
          <input
            id={id}
            type="range"
            min={to(min)}
            max={to(max)}
            step={step ?? (logarithmic ? 0.01 : (max - min) / 100)}
            value={Math.min(to(max), Math.max(to(min), to(x)))}
            aria-valuetext={digits(x, 4)}
            onInput={(event) => {
              wrong.value = undefined;
              set(field, from(event.currentTarget.valueAsNumber), field.key);
            }}
            onKeyDown={(event) => {
              const by = ['ArrowRight', 'ArrowUp'].includes(event.key)
                ? 1
                : ['ArrowLeft', 'ArrowDown'].includes(event.key)
                  ? -1
                  : 0;
              if (by === 0 || !field.whole) return;
              event.preventDefault(); // whole numbers one by one, however fine the slider is
              set(field, Math.min(field.max, Math.max(field.min, x + by)), field.key);
            }}
            onChange={endGesture}
            onBlur={endGesture}
          />
          {snaps.length > 0 && (
            <div class="snaps">
              {snaps.map((snap) => (
                <button
                  type="button"
                  key={snap.at}
                  class={x === snap.at ? 'here' : ''}
                  style={{ '--place': place(snap.at) }}
                  onClick={() => set(field, snap.at)}
                >
                  {digits(snap.at, 4)}
                  {snap.name && <small>{snap.name}</small>}
                </button>
              ))}
            </div>
          )}
        </div>
        <input
          class="number"
          type="text"
          inputMode="decimal"
          aria-label={words().ui.exactly}
          aria-invalid={wrong.value !== undefined}
          value={draft.value ?? digits(x, 7).replaceAll('−', '-')}
          onInput={(event) => typed(event.currentTarget.value)}
          onBlur={() => {
            endGesture();
            wrong.value = draft.value = undefined;
          }}
        />
      </div>
      {wrong.value && (
        <p class="error" role="alert">
          {wrong.value}
        </p>
      )}
    </div>
  );
}

/// Clears these fields.
export function ResetButton({ fields }: { readonly fields: readonly Field<unknown>[] }): JSX.Element {
  const changed = fields.some((field) => !Object.is(get(field), field.initial));
  return (
    <button type="button" class="quiet" disabled={!changed} onClick={() => reset(fields)}>
      {words().ui.reset}
    </button>
  );
}
