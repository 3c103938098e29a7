// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The layers of page and package look one way only, and no arithmetic of attention is done in them.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

import { expect, test } from 'vitest';

const WEB = new URL('../../', import.meta.url).pathname;

/// Lowest first; the first that matches is a file's own. A formula is markup alone, and words are made of it.
const LAYERS: readonly (readonly [string, RegExp])[] = [
  ['engine', /^engine\//],
  ['package', /^package\//],
  ['worker', /^page\/worker\//],
  ['formulas', /^page\/.*formulas?\.tsx$/],
  ['words', /^page\/words\//],
  ['state', /^page\/state\//],
  ['ui', /^page\/ui\//],
  ['parts', /^page\/parts\//],
  ['frame', /^page\/[^/]+\.tsx$/],
];

function layer(path: string): number {
  return LAYERS.findIndex(([, files]) => files.test(path));
}

const sources = ['engine', 'package', 'page']
  .flatMap((folder) =>
    readdirSync(join(WEB, folder), { recursive: true, encoding: 'utf8' }).map((f) => join(folder, f)),
  )
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('page/test/'));

/// What a source imports from the tree, as paths within it.
function imports(file: string): string[] {
  const text = readFileSync(join(WEB, file), 'utf8');
  const all = new Set(sources);
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].flatMap(([, target = '']) => {
    const base = relative(WEB, normalize(join(WEB, dirname(file), target))).replace(/\.js$/, '');
    return [`${base}.ts`, `${base}.tsx`, `${base}/index.ts`].filter((path) => all.has(path));
  });
}

test('every source belongs to a layer', () => {
  expect(sources.length).toBeGreaterThan(40);
  expect(sources.filter((file) => layer(file) < 0)).toEqual([]);
});

test('no layer looks up', () => {
  const up = sources.flatMap((file) =>
    imports(file)
      .filter((target) => layer(target) > layer(file))
      .map((target) => `${file} imports ${target}`),
  );
  expect(up).toEqual([]);
});

test('a part stands by itself', () => {
  const partOf = (path: string) => /^page\/parts\/([^/]+)\//.exec(path)?.[1];
  const across = sources.flatMap((file) =>
    imports(file)
      .filter((target) => partOf(file) && partOf(target) && partOf(file) !== partOf(target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(across).toEqual([]);
});

test('exponentials and products are the engine’s', () => {
  const drawn = sources.filter((file) => file.startsWith('page/'));
  const found = drawn.filter((file) => /Math\.(exp|exp2|expm1|tanh)\b/.test(readFileSync(join(WEB, file), 'utf8')));
  expect(found).toEqual([]);
});
