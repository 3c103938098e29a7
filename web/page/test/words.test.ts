// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Both languages say all that there is to say.

import { expect, test } from 'vitest';

import en, { type Book } from '../words/en';
import zh from '../words/zh';

/// Fragments of the page count as one text.
function isFragment(value: unknown): value is { props: unknown } {
  return typeof value === 'object' && value !== null && 'props' in value && 'type' in value;
}

function textOf(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (!isFragment(value)) return '';
  return textOf((value.props as { children?: unknown }).children);
}

/// Each leaf by its path: texts, fragments, functions.
function leaves(value: unknown, path = ''): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || isFragment(value)) return new Map([[path, value]]);
  return new Map(Object.entries(value).flatMap(([key, inner]) => [...leaves(inner, `${path}.${key}`)]));
}

async function all(book: Book): Promise<Map<string, unknown>> {
  const chapters = Object.entries(book.chapters).map(async ([id, load]) => [id, await load()] as const);
  return leaves({ ...book.common, parts: Object.fromEntries(await Promise.all(chapters)) });
}

const english = await all(en);
const chinese = await all(zh);

test('the keys are the same', () => {
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  expect(english.size).toBeGreaterThan(150);
});

test('each is of the same kind and takes as many values', () => {
  for (const [path, text] of english) {
    const other = chinese.get(path);
    expect(typeof other, path).toBe(typeof text);
    if (typeof text === 'function') expect((other as () => string).length, path).toBe(text.length);
  }
});

test('nothing is empty, and Chinese is Chinese', () => {
  const international = /^[\sA-Za-z0-9_·√+#.%()−=/]*$/; // names, symbols, units: the same in both
  for (const [path, text] of chinese) {
    if (typeof text === 'function') continue;
    expect(textOf(text).trim(), path).not.toBe('');
    expect(textOf(english.get(path)).trim(), path).not.toBe('');
    if (!international.test(textOf(text)))
      expect(textOf(text), path).toMatch(/[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/);
  }
});
