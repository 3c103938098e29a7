// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The weighted sum: contributions and outputs are the engine's, the output stays in the hull of the values, and values that
// change places leave every weight as it was.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import type { Engine } from '../../engine/engine';
import { hullOf } from '../parts/sum/hull';
import { at, column, edited, type Matrix, row } from '../state/matrix';
import * as scene from '../state/scene';
import { engine, expectClose, gridValues, hasChromium, open, useBrowser } from './browser';

const SKILLS = scene.skills.initial;

function attention(engine: Engine, values: Matrix, scale?: number) {
  const q = { data: row(scene.briefs.initial, 0), shape: [1, 1, 1, 6] } as const;
  const k = { data: scene.titles.initial.data, shape: [1, 1, 8, 6] } as const;
  const v = { data: values.data, shape: [1, 1, 8, 4] } as const;
  const result = engine.attention({ q, k, v }, scale === undefined ? {} : { scale }, ['o', 'weights']);
  return { z: result.o as Float32Array, weights: result.weights as Float32Array };
}

async function outputs(page: Page): Promise<number[]> {
  await page.waitForSelector('#screen-sum [data-skill]');
  return page.$$eval('#screen-sum [data-skill]', (all) =>
    all.map((each) => Number((each as SVGElement).dataset['value'])),
  );
}

async function diamond(page: Page): Promise<number[]> {
  const { x, y } = await page.$eval('#screen-hull .diamond', (each) => ({ ...(each as SVGElement).dataset }));
  return [Number(x), Number(y)];
}

function swapped(m: Matrix, a: number, b: number): Matrix {
  const from = (i: number) => (i === a ? b : i === b ? a : i);
  const rows = Array.from({ length: m.rows }, (_, i) => Array.from(row(m, from(i))));
  return { ...m, data: Float32Array.from(rows.flat()) };
}

describe.skipIf(!hasChromium)('weighted sum', () => {
  useBrowser();

  it('shows the weights, contributions and outputs of the engine', async () => {
    const { page, errors } = await open('#/en/sum');
    const here = await engine();
    const { z, weights } = attention(here, SKILLS);
    expectClose(await outputs(page), z);
    expectClose((await gridValues(page, 'sum-a')).flat(), weights);
    for (let s = 0; s < 4; ++s) {
      const shown = await page.$$eval(`#screen-sum [data-term^="${s}."]`, (all) =>
        all.map((each) => Number((each as SVGElement).dataset['value'])),
      );
      expectClose(shown, here.terms(weights, column(SKILLS, s)));
    }
    expect(await page.locator('#screen-sum .sentence').innerText()).toMatch(/modelling is 4\.31.*CV 2: 3\.69.*73\.9 %/);
    await page.click('#screen-sum .choice label:nth-child(3)');
    const written = page.locator('#screen-sum .sum-total');
    await expect.poll(async () => Number(await written.getAttribute('data-value'))).toBeCloseTo(z[2] ?? NaN, 5);
    expect(errors).toEqual([]);
  });

  it('answers to an edited value', async () => {
    const { page, errors } = await open('#/zh/sum');
    const here = await engine();
    await page.focus('[data-grid=sum-v] [data-at="0.0"]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('-3');
    await page.keyboard.press('Enter');
    const { z } = attention(here, edited(SKILLS, 1, 0, -3));
    await expect.poll(async () => (await outputs(page))[0]).toBeCloseTo(z[0] ?? NaN, 5);
    expectClose(await outputs(page), z);
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await outputs(page))[0]).toBeCloseTo(attention(here, SKILLS).z[0] ?? NaN, 5);
    expect(errors).toEqual([]);
  });

  it('keeps the output inside the hull at every temperature', async () => {
    const { page, errors } = await open('#/en/sum?vx=2&vy=3');
    const here = await engine();
    const corners = hullOf(
      SKILLS.data.reduce<[number, number][]>((all, _, i) => {
        if (i < SKILLS.rows) all.push([at(SKILLS, i, 2), at(SKILLS, i, 3)]);
        return all;
      }, []),
    );
    expect(corners).toEqual([
      [0, 5],
      [1, 1],
      [5, 1],
      [4, 2],
    ]);
    for (const t of [0.1, 0.5, 2, 10]) {
      await page.fill('#screen-hull input.number', String(t));
      const { z } = attention(here, SKILLS, 1 / Math.sqrt(6) / t);
      await expect.poll(async () => (await diamond(page))[0]).toBeCloseTo(z[2] ?? NaN, 4);
      const [x = NaN, y = NaN] = await diamond(page);
      expectClose([x, y], [z[2] ?? NaN, z[3] ?? NaN]);
      corners.forEach(([ax, ay], i) => {
        const [bx, by] = corners[(i + 1) % corners.length] as readonly [number, number];
        expect((bx - ax) * (y - ay) - (by - ay) * (x - ax)).toBeGreaterThan(-1e-5);
      });
    }
    await page.focus('#screen-hull input[type=range]');
    const [before = NaN] = await diamond(page);
    for (let i = 0; i < 30; ++i) await page.keyboard.press('ArrowLeft');
    await expect.poll(async () => (await diamond(page))[0]).not.toBeCloseTo(before, 4);
    expect(errors).toEqual([]);
  });

  it('swaps two rows of values: no weight changes, the output does', async () => {
    const { page, errors } = await open('#/en/sum');
    const here = await engine();
    await page.click('#screen-swap button:text-is("swap")');
    const [was, is] = [attention(here, SKILLS), attention(here, swapped(SKILLS, 1, 6))];
    const check = async (page: Page): Promise<void> => {
      await page.waitForSelector('#screen-swap .sentence:has-text("8 of 8 weights")');
      const [before, after] = await gridValues(page, 'swap-a');
      expect(after).toEqual(before);
      expectClose(before ?? [], was.weights);
      const [z, moved] = await gridValues(page, 'swap-z');
      expectClose(z ?? [], was.z);
      expectClose(moved ?? [], is.z);
      expect((await gridValues(page, 'swap-v'))[1]).toEqual([1, 5, 0, 5]);
    };
    await check(page);
    await expect.poll(() => page.url()).toContain('swapped=yes');
    const again = await open(new URL(page.url()).hash);
    await check(again.page);
    expect(again.errors).toEqual([]);
    await page.click('#screen-swap button:text-is("swap back")');
    await expect.poll(async () => (await gridValues(page, 'swap-z'))[1]).toEqual((await gridValues(page, 'swap-z'))[0]);
    expectClose((await gridValues(page, 'swap-v')).flat(), SKILLS.data);
    await expect.poll(() => page.url()).not.toContain('?');
    expect(errors).toEqual([]);
  });
});
