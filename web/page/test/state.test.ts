// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Fields, undo, and what the address holds.

import { beforeEach, expect, test } from 'vitest';

import { allFields, choice, matrixField, number } from '../state/field';
import { edited, matrix } from '../state/matrix';
import { canRedo, canUndo, endGesture, get, read, redo, reset, set, undo, written } from '../state/store';

const size = number('size', 4, { min: 1, max: 8, whole: true });
const kind = choice('kind', ['plain', 'fancy']);
const table = matrixField(
  'table',
  matrix([
    [1, 2],
    [3, 4],
  ]),
);

beforeEach(() => reset([...allFields()]));

test('undo and redo go through every step', () => {
  set(size, 5);
  set(kind, 'fancy');
  undo();
  expect([get(size), get(kind)]).toEqual([5, 'plain']);
  undo();
  expect(get(size)).toBe(4);
  redo();
  redo();
  expect([get(size), get(kind)]).toEqual([5, 'fancy']);
  expect(canRedo.value).toBe(false);
});

test('a gesture is one step, two gestures are two', () => {
  for (const x of [5, 6, 7]) set(size, x, 'drag');
  endGesture();
  set(size, 8, 'drag');
  undo();
  expect(get(size)).toBe(7);
  undo();
  expect(get(size)).toBe(4);
});

test('setting what is there already is no step', () => {
  set(size, 5);
  undo();
  set(size, 4);
  expect(canRedo.value).toBe(true); // nothing was done that would end what can be redone
  set(table, edited(get(table), 0, 1, 2));
  expect(get(table)).toBe(table.initial);
});

test('a new step ends what could be redone', () => {
  set(size, 5);
  undo();
  set(size, 6);
  expect(canRedo.value).toBe(false);
  expect(canUndo.value).toBe(true);
});

test('the address holds what differs, and reads back the same', () => {
  expect(written().toString()).toBe('');
  set(size, 7);
  set(kind, 'fancy');
  set(table, edited(edited(get(table), 0, 1, -2.5), 1, 0, Math.fround(0.1)));
  const text = written().toString();
  const before = [...get(table).data];
  reset([size, kind, table]);
  expect(read(new URLSearchParams(text))).toEqual([]);
  expect([get(size), get(kind), ...get(table).data]).toEqual([7, 'fancy', ...before]);
});

test.each([
  ['size=9', 'size'],
  ['size=2.5', 'size'],
  ['size=', 'size'],
  ['size=NaN', 'size'],
  ['kind=none', 'kind'],
  ['table=2.0.1', 'table'],
  ['table=0.0.x', 'table'],
  ['table=0.0.1e99', 'table'],
  ['table=0.0.1_', 'table'],
  ['nothing=1', 'nothing'],
])('%s is named as not understood, and the rest is taken', (text, key) => {
  expect(read(new URLSearchParams(`${text}&kind=fancy`.replace('kind=none&kind=fancy', 'kind=none')))).toEqual([key]);
  expect(get(size)).toBe(4);
  expect(get(table)).toBe(table.initial);
});
