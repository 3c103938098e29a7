// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A field is one thing that a visitor can set: its initial value, and how the address writes it. Whoever needs one
// declares it at module level; the store holds the values, the address those that differ from the initial ones.

import { edited, type Matrix } from './matrix';

export interface Field<T> {
  readonly key: string; // in the address; unique
  readonly initial: T;
  /// '' for the initial value.
  write(value: T): string;
  /// undefined where the text is no such value: the initial one then holds.
  read(text: string): T | undefined;
}

const fields = new Map<string, Field<unknown>>();

export function allFields(): Iterable<Field<unknown>> {
  return fields.values();
}

function declare<T>(field: Field<T>): Field<T> {
  if (fields.has(field.key)) throw new Error(`two fields have the key ${field.key}`);
  fields.set(field.key, field);
  return field;
}

/// As short as it reads back to the same float32.
function short(x: number): string {
  const digits = [7, 8].find((n) => Math.fround(Number(x.toPrecision(n))) === Math.fround(x));
  return String(Number(x.toPrecision(digits ?? 9)));
}

export interface NumberField extends Field<number> {
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
}

export function number(
  key: string,
  initial: number,
  { min = -Infinity, max = Infinity, whole = false }: { min?: number; max?: number; whole?: boolean } = {},
): NumberField {
  const read = (text: string): number | undefined => {
    const x = text.trim() === '' ? NaN : Number(text);
    return Number.isFinite(x) && x >= min && x <= max && (!whole || Number.isInteger(x)) ? x : undefined;
  };
  const field = { key, initial, min, max, whole, write: (x: number) => (x === initial ? '' : short(x)), read };
  declare(field);
  return field;
}

export interface ChoiceField<T extends string> extends Field<T> {
  readonly options: readonly T[];
}

/// One of some words; the first is the initial one.
export function choice<const T extends string>(key: string, options: readonly [T, ...T[]]): ChoiceField<T> {
  const field = {
    key,
    options,
    initial: options[0],
    write: (value: T) => (value === options[0] ? '' : value),
    read: (text: string) => options.find((option) => option === text),
  };
  declare(field);
  return field;
}

/// A matrix of fixed shape: the address has what was edited, as row.column.number, joined by underscores.
export function matrixField(key: string, initial: Matrix, limit = 1e4): Field<Matrix> {
  const write = ({ data }: Matrix): string => {
    const edits: string[] = [];
    data.forEach((x, at) => {
      if (Object.is(x, initial.data[at])) return;
      edits.push(`${Math.floor(at / initial.cols)}.${at % initial.cols}.${short(x)}`);
    });
    return edits.join('_');
  };
  const read = (text: string): Matrix | undefined => {
    let m = initial;
    for (const edit of text.split('_')) {
      const [, i, j, x] = /^(\d+)\.(\d+)\.(-?[\d.]+(?:e-?\d+)?)$/.exec(edit) ?? [];
      const entry = Number(x);
      if (!(Number(i) < m.rows && Number(j) < m.cols && Math.abs(entry) <= limit)) return undefined;
      m = edited(m, Number(i), Number(j), entry);
    }
    return m;
  };
  return declare({ key, initial, write, read });
}
