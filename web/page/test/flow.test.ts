// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The whole flow and the matrices: every number shown is the engine's, whatever is set.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';

import type { Engine, Options, Tensor } from '../../engine/engine';
import type { Matrix } from '../state/matrix';
import * as scene from '../state/scene';
import { engine, expectClose, gridValues, hasChromium, open, useBrowser } from './browser';

interface Setting {
  readonly hash: string;
  readonly heads?: number;
  readonly options?: Options;
  readonly sentence?: boolean;
}

function tensor({ rows, cols, data }: Matrix, heads: number): Tensor<Float32Array> {
  const d = cols / heads;
  return { data, shape: [1, heads, rows, d], stride: [rows * cols, d, cols, 1] };
}

function product(foveate: Engine, a: Matrix, b: Matrix): Matrix {
  const data = foveate.product(a.data, b.data, [a.rows, a.cols, b.cols]);
  return { rows: a.rows, cols: b.cols, data };
}

/// One head's columns of a packed [1, heads, rows, cols] result.
function ofHead(data: Float32Array, heads: number, h: number): Float32Array {
  const size = data.length / heads;
  return data.subarray(h * size, (h + 1) * size);
}

function computed(foveate: Engine, { heads = 1, options = {}, sentence = false }: Setting) {
  const x = scene.wordVectors.initial;
  const [q, k, v] = sentence
    ? [scene.wQ, scene.wK, scene.wV].map((w) => product(foveate, x, w.initial))
    : [scene.briefs.initial, scene.titles.initial, scene.skills.initial];
  if (!q || !k || !v) throw new Error('unreachable');
  const inputs = { q: tensor(q, heads), k: tensor(k, heads), v: tensor(v, heads) };
  const { weights, o } = foveate.attention(inputs, options, ['weights', 'o']);
  return {
    q,
    k,
    v,
    s: foveate.scores(inputs, { scale: 1 }),
    p: foveate.scores(inputs, options),
    a: weights as Float32Array,
    o: o as Float32Array,
  };
}

const SETTINGS: readonly Setting[] = [
  { hash: '' },
  { hash: 'scaling=off', options: { scale: 1 } },
  { hash: 'scaling=factor&factor=6', options: { scale: 1 / 6 } },
  { hash: 'mask=causal', options: { causal: true } },
  { hash: 'mask=window&left=0&right=2', options: { window: [0, 2] } },
  { hash: 'heads=2', heads: 2 },
  { hash: 'in=sentence', sentence: true },
  { hash: 'in=sentence&heads=2&mask=causal', sentence: true, heads: 2, options: { causal: true } },
  {
    hash: 'in=sentence&mask=own&mw=0.0.0_0.1.0_0.2.0_0.3.0_0.4.0_2.1.0',
    sentence: true,
    options: {
      mask: {
        data: Uint8Array.from({ length: 25 }, (_, at) => Number(at >= 5 && at !== 11)),
        shape: [1, 1, 5, 5],
      },
    },
  },
];

describe.skipIf(!hasChromium)('whole flow', () => {
  useBrowser();
  let foveate: Engine;
  beforeAll(async () => {
    foveate = await engine();
  });

  const flat = async (page: Page, id: string) => (await gridValues(page, id)).flat();

  test.each(SETTINGS)('numbers on the stage, $hash', async (setting) => {
    const { page, errors } = await open(`#/en/flow?${setting.hash}`);
    const { heads = 1 } = setting;
    const right = computed(foveate, setting);
    for (const id of ['q', 'k', 'v'] as const) expectClose(await flat(page, id), right[id].data);
    expectClose(await flat(page, 's'), ofHead(right.s, heads, 0));
    expectClose(await flat(page, 'p'), ofHead(right.p, heads, 0));
    expectClose(await flat(page, 'a'), ofHead(right.a, heads, 0));
    const z = await gridValues(page, 'z');
    const width = (z[0]?.length ?? 0) / heads;
    for (let h = 0; h < heads; ++h) {
      expectClose(z.flatMap((row) => row.slice(h * width, (h + 1) * width)), ofHead(right.o, heads, h)); // prettier-ignore
    }
    expect(errors).toEqual([]);
  });

  test.each(SETTINGS)('numbers as matrices, $hash', async (setting) => {
    const { page, errors } = await open(`#/zh/matrices?${setting.hash}`);
    const { heads = 1 } = setting;
    const right = computed(foveate, setting);
    for (let h = 0; h < heads; ++h) {
      const id = (letter: string) => (heads === 1 ? letter : `${letter}-${h + 1}`);
      expectClose(await flat(page, id('s')), ofHead(right.s, heads, h));
      expectClose(await flat(page, id('p')), ofHead(right.p, heads, h));
      expectClose(await flat(page, id('a')), ofHead(right.a, heads, h));
      expectClose(await flat(page, id('z')), ofHead(right.o, heads, h));
      const turned = await gridValues(page, id('k'));
      const width = right.k.cols / heads;
      for (let j = 0; j < right.k.rows; ++j) {
        const row = right.k.data.subarray(j * right.k.cols + h * width, j * right.k.cols + (h + 1) * width);
        expectClose(turned.map((of) => of[j] ?? NaN), row); // prettier-ignore
      }
    }
    expect(errors).toEqual([]);
  });

  test('an edit changes all that follows, and undo brings it back', async () => {
    const { page, errors } = await open('#/en/flow');
    const before = await flat(page, 's');
    await page.click('[data-grid="q"] [data-at="0.0"]');
    await page.keyboard.type('-1.5');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Enter');
    const edited = scene.briefs.initial.data.slice();
    edited[0] = Math.fround(-2.39);
    const q = { rows: 3, cols: 6, data: edited };
    const inputs = { q: tensor(q, 1), k: tensor(scene.titles.initial, 1), v: tensor(scene.skills.initial, 1) };
    await expect.poll(async () => (await flat(page, 'q'))[0]).toBe(edited[0]);
    await expect.poll(async () => (await flat(page, 's'))[0]).not.toBe(before[0]);
    expectClose(await flat(page, 's'), foveate.scores(inputs, { scale: 1 }));
    expectClose(await flat(page, 'z'), foveate.attention(inputs).o as Float32Array);
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/en/flow?q=0.0.-2.39');
    await page.keyboard.press('Control+z');
    await expect.poll(() => flat(page, 's')).toEqual(before);
    expect(errors).toEqual([]);
  });

  test('a computed number may be set: what follows is computed from it, the rest keeps its bits', async () => {
    const { page, errors } = await open('#/en/flow?mask=causal');
    const [p, a, z] = [await gridValues(page, 'p'), await gridValues(page, 'a'), await gridValues(page, 'z')];
    await page.focus('[data-grid="s"] [data-at="0.0"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('20');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await gridValues(page, 'p'))[1]?.[0]).not.toBe(p[1]?.[0]);
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/en/flow?mask=causal&pin-cvs-s=1.0.20');
    const row = Float32Array.from((await gridValues(page, 'p'))[1] as number[]);
    expectClose([row[0] as number], [20 / Math.sqrt(6)]);
    expect(row[7]).toBe(-Infinity);
    const weights = foveate.softmax(row).weights;
    expectClose((await gridValues(page, 'a'))[1] as number[], weights);
    expectClose(
      (await gridValues(page, 'z'))[1] as number[],
      foveate.product(weights, scene.skills.initial.data, [1, 8, 4]),
    );
    for (const i of [0, 2]) {
      expect((await gridValues(page, 'a'))[i]).toEqual(a[i]);
      expect((await gridValues(page, 'z'))[i]).toEqual(z[i]);
    }
    await page.keyboard.press('Delete');
    await expect.poll(() => gridValues(page, 'a')).toEqual(a);
    expect(await gridValues(page, 'z')).toEqual(z);
    expect(errors).toEqual([]);
  });

  test('a weight set by hand mixes the values; another head keeps its own', async () => {
    const { page } = await open('#/en/flow?in=sentence&heads=2&pin-sentence-a2=0.0.1_0.1.0_0.2.0_0.3.0_0.4.0');
    const right = computed(foveate, { hash: '', sentence: true, heads: 2 });
    await expect.poll(async () => (await gridValues(page, 'z'))[0]?.length).toBe(4);
    const z = (await gridValues(page, 'z'))[0] as number[];
    expectClose(z.slice(0, 2), ofHead(right.o, 2, 0).subarray(0, 2));
    expectClose(z.slice(2), right.v.data.subarray(2, 4)); // the first word's values, as they are
    await page.goto(page.url().replace('/flow', '/matrices'));
    expect((await gridValues(page, 'a-2'))[0]).toEqual([1, 0, 0, 0, 0]);
    expectClose((await gridValues(page, 'a-1'))[0] as number[], ofHead(right.a, 2, 0).subarray(0, 5));
  });

  test('Escape restores, a wrong number is refused beside the cell', async () => {
    const { page } = await open('#/en/flow');
    await page.focus('[data-grid="v"] [data-at="0.0"]');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.keyboard.type('9999');
    expect(await page.textContent('.cell-error')).toContain('1000');
    await page.keyboard.press('Escape');
    expect((await gridValues(page, 'v'))[0]).toEqual([2, 3, 3, 1]);
    await page.keyboard.press('4'); // a digit opens the cell that has the focus
    expect(await page.inputValue('.editor')).toBe('4');
    await expect.poll(async () => (await gridValues(page, 'v'))[0]).toEqual([2, 4, 3, 1]);
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await gridValues(page, 'v'))[0]).toEqual([2, 3, 3, 1]);
  });

  test('a number in hand lights what it comes from and is written out', async () => {
    const { page } = await open('#/en/flow');
    await gridValues(page, 'z');
    const lit = (id: string) => page.locator(`[data-grid="${id}"] .lit`).count();
    await page.focus('[data-grid="z"] [data-at="0.0"]');
    expect([await lit('a'), await lit('v'), await lit('q')]).toEqual([8, 8, 0]);
    const terms = await page.$$eval('.working .sum-term', (all) =>
      all.map((term) => Number((term as HTMLElement).dataset['value'])),
    );
    const right = computed(foveate, { hash: '' });
    const column = Float32Array.from({ length: 8 }, (_, j) => right.v.data[4 * j] as number);
    expectClose(terms, foveate.terms(right.a.subarray(0, 8), column));
    await page.focus('[data-grid="s"] [data-at="0.0"]');
    await page.keyboard.press('ArrowDown');
    expect([await lit('q'), await lit('k')]).toEqual([6, 6]);
    await page.focus('[data-grid="a"] [data-at="0.0"]');
    expect(await lit('p')).toBe(8);
    const exps = foveate.softmax(right.p.subarray(0, 8));
    await expect.poll(() => page.textContent('.working')).toContain(exps.sum.toPrecision(4));
  });

  test('steps show the numbers one after another', async () => {
    const { page } = await open('#/en/flow?mask=causal');
    await gridValues(page, 's');
    const there = (id: string) => page.locator(`[data-grid="${id}"] td[data-value]`).count();
    await page.click('.player >> text=scores');
    expect([await there('s'), await there('a'), await there('z')]).toEqual([1, 0, 0]);
    await page.click('.player >> text="Step"');
    expect(await there('s')).toBe(2);
    await page.click('.player >> text=divide');
    expect([await there('s'), await there('p'), await page.locator('[data-grid="p"] .out').count()]).toEqual([
      24, 8, 0,
    ]);
    await page.click('.player >> text=mask');
    expect(await page.locator('[data-grid="p"] .out').count()).toBeGreaterThan(0);
    await page.click('.player >> text=softmax');
    expect([await there('a'), await there('z')]).toEqual([8, 0]);
    await page.click('.player >> text=Play');
    await expect.poll(() => there('z'), { timeout: 20_000 }).toBe(12);
    await expect
      .poll(() => page.getAttribute('.player >> text="all"', 'aria-pressed'), { timeout: 20_000 })
      .toBe('true');
  });

  test('the line at work is lit in both listings, which follow the options', async () => {
    const { page } = await open('#/en/flow?in=sentence&mask=window&scaling=factor&factor=3');
    await gridValues(page, 's');
    const atWork = () => page.$$eval('.code .at-work', (lines) => lines.map((line) => line.textContent?.trim()));
    await page.focus('[data-grid="p"] [data-at="0.0"]');
    expect(await atWork()).toEqual(['options.scale = 1.0 / 3;', 'options.window_left = 1, options.window_right = 1;']);
    await page.click('.code >> text=NumPy');
    await page.focus('[data-grid="z"] [data-at="0.0"]');
    expect(await atWork()).toEqual(['z = a @ v']);
  });
});
