// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// All that the visitor has set, as one value that is never changed in place: so undo is keeping the former one.

import { computed, signal } from '@preact/signals';

import { allFields, type Field } from './field';

type Values = ReadonlyMap<string, unknown>;

const values = signal<Values>(new Map());
const past = signal<readonly Values[]>([]);
const future = signal<readonly Values[]>([]);
const HISTORY = 500;

export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

/// The value of a field; reading it subscribes to it.
export function get<T>(field: Field<T>): T {
  return of(values.value, field);
}
function of<T>(all: Values, field: Field<T>): T {
  return all.has(field.key) ? (all.get(field.key) as T) : field.initial;
}

let gesture: string | undefined;

/// Sets fields as one step of the history. Steps that carry the same gesture (a drag, a slider held) are one: call
/// endGesture when it is over.
export function set<T>(field: Field<T>, value: T, ofGesture?: string): void {
  setAll([[field, value]], ofGesture);
}
export function setAll(changes: readonly (readonly [Field<unknown>, unknown])[], ofGesture?: string): void {
  const next = new Map(values.peek());
  for (const [field, value] of changes) next.set(field.key, value);
  const merges = ofGesture !== undefined && ofGesture === gesture;
  if (commit(next, merges)) gesture = ofGesture;
}
export function endGesture(): void {
  gesture = undefined;
}

/// False where nothing would change.
function commit(next: Values, merges: boolean): boolean {
  if (same(next, values.peek())) return false;
  if (!merges) past.value = [...past.peek().slice(1 - HISTORY), values.peek()];
  future.value = [];
  values.value = next;
  return true;
}

function same(a: Values, b: Values): boolean {
  for (const field of allFields()) {
    if (!Object.is(of(a, field), of(b, field))) return false;
  }
  return true;
}

/// These fields as they were at first; undo brings the rest back.
export function reset(fields: readonly Field<unknown>[]): void {
  const next = new Map(values.peek());
  for (const field of fields) next.delete(field.key);
  gesture = undefined;
  commit(next, false);
}

export function undo(): void {
  travel(past, future);
}
export function redo(): void {
  travel(future, past);
}
function travel(from: typeof past, to: typeof past): void {
  const target = from.peek().at(-1);
  if (!target) return;
  gesture = undefined;
  to.value = [...to.peek(), values.peek()];
  from.value = from.peek().slice(0, -1);
  values.value = target;
}

/// What differs from the initial state, as the address has it.
export function written(): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const field of allFields()) {
    const text = field.write(get(field));
    if (text !== '') parameters.set(field.key, text);
  }
  return parameters;
}

/// Takes the state that the parameters describe, as one step of the history. Says which were not understood.
export function read(parameters: URLSearchParams): string[] {
  const next = new Map<string, unknown>();
  const unknown = new Set(parameters.keys());
  for (const field of allFields()) {
    const text = parameters.get(field.key);
    const value = text === null ? undefined : field.read(text);
    if (value === undefined) continue;
    next.set(field.key, value);
    unknown.delete(field.key);
  }
  gesture = undefined;
  commit(next, false);
  return [...unknown];
}
