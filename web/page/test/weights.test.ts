// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// From scores to weights: the numbers shown are the engine's, and answer to scaling, temperature and what is added.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import type { Engine } from '../../engine/engine';
import { matrix, row } from '../state/matrix';
import * as scene from '../state/scene';
import { engine, expectClose, hasChromium, open, useBrowser } from './browser';

const TITLES = scene.titles.initial;
const BRIEF = row(scene.briefs.initial, 0);

/// The brief's scores, computed here.
function scores(engine: Engine, options: { scale?: number } = {}): Float32Array {
  const q = { data: BRIEF, shape: [1, 1, 1, 6] } as const;
  const k = { data: TITLES.data, shape: [1, 1, 8, 6] } as const;
  return engine.scores({ q, k, v: k }, options);
}

async function column(page: Page, screen: string, name: string): Promise<number[]> {
  await page.waitForSelector(`#screen-${screen} [data-number=${name}]`);
  return page.$$eval(`#screen-${screen} [data-number=${name}]`, (all) =>
    all.map((each) => Number((each as SVGElement).dataset['value'])),
  );
}

async function rows(page: Page, screen: string) {
  const columns = ['score', 'exp', 'weight', 'sum', 'total'].map((name) => column(page, screen, name));
  const [score, exp, weight, sum, total] = await Promise.all(columns);
  return { score: score ?? [], exp: exp ?? [], weight: weight ?? [], sum: sum?.[0], total: total?.[0] };
}

async function expectRows(page: Page, screen: string, of: Float32Array, engine: Engine, t = 1): Promise<void> {
  const { weights, exps, sum } = engine.softmax(of, t);
  await expect.poll(async () => Math.abs(((await column(page, screen, 'sum'))[0] ?? NaN) - sum)).toBeLessThan(1e-4);
  const shown = await rows(page, screen);
  expectClose(shown.score, of);
  expectClose(shown.exp, exps);
  expectClose(shown.weight, weights);
  expect(shown.total).toBeCloseTo(1, 5);
}

function sentence(page: Page, screen: string) {
  return page.locator(`#screen-${screen} .sentence`).innerText();
}

/// [weight, rival's weight, ratio, factor] after, and the first three before.
async function compared(page: Page) {
  const cells = await page.$$eval('#screen-odds .compare td[data-value]', (all) =>
    all.map((each) => Number((each as HTMLElement).dataset['value'])),
  );
  const [a0, a1, b0, b1, r0, r1, factor] = cells;
  return { before: [a0, b0, r0], after: [a1, b1, r1], factor };
}

describe.skipIf(!hasChromium)('weights', () => {
  useBrowser();

  it('shows the scores, exponentials and weights of the engine', async () => {
    const { page, errors } = await open('#/en/weights');
    const here = await engine();
    await expectRows(page, 'weights', scores(here), here);
    expect(await sentence(page, 'weights')).toContain('CV 2 takes 73.9 % of the attention');
    await page.click('#screen-weights input[value=off]');
    const raw = scores(here, { scale: 1 });
    expect(Array.from(raw)).toEqual([9.25, 15.5, 9, 4, 9.5, 0.75, -0.75, 10]);
    await expectRows(page, 'weights', raw, here);
    expect(await sentence(page, 'weights')).toContain('Without scaling, CV 2 takes 99.0 %');
    await page.click('#screen-weights input[value=factor]');
    await expectRows(page, 'weights', scores(here, { scale: 1 / scene.factor.initial }), here);
    expect(errors).toEqual([]);
  });

  it('takes the temperature by keys and by number, and keeps it in the address', async () => {
    const { page, errors } = await open('#/en/weights');
    const here = await engine();
    await page.focus('#screen-weights input[type=range]');
    for (let i = 0; i < 20; ++i) await page.keyboard.press('ArrowRight');
    const t = Number(await page.inputValue('#screen-weights input.number'));
    expect(t).toBeGreaterThan(1.1);
    await expectRows(page, 'weights', scores(here), here, t);
    await page.fill('#screen-weights input.number', '0.1');
    await expectRows(page, 'weights', scores(here), here, 0.1);
    await expect.poll(() => page.url()).toContain('temp=0.1');
    const again = await open(new URL(page.url()).hash);
    await expectRows(again.page, 'weights', scores(here), here, 0.1);
    expect(await sentence(again.page, 'weights')).toContain('at T = 0.1');
    expect([...errors, ...again.errors]).toEqual([]);
  });

  it('multiplies the ratio by e for each 1 that is added to a score', async () => {
    const { page, errors } = await open('#/en/weights');
    const here = await engine();
    const changed = (by: number) => scores(here).map((s, j) => (j === 7 ? s + by : s));
    await expectRows(page, 'odds', changed(1), here);
    await page.fill('#screen-odds input.number', '2.5');
    await expectRows(page, 'odds', changed(2.5), here);
    const { before, after, factor } = await compared(page);
    const [was, is] = [here.softmax(scores(here)).weights, here.softmax(changed(2.5)).weights];
    expectClose(before as number[], [was[7] ?? NaN, was[1] ?? NaN, (was[7] ?? NaN) / (was[1] ?? NaN)]);
    expectClose(after as number[], [is[7] ?? NaN, is[1] ?? NaN, (is[7] ?? NaN) / (is[1] ?? NaN)]);
    expect(factor).toBeCloseTo(Math.exp(2.5), 4);
    expect((after[2] ?? NaN) / (before[2] ?? NaN)).toBeCloseTo(Math.exp(2.5), 3);

    await page.click('#screen-odds input[value=all]');
    await expectRows(
      page,
      'odds',
      scores(here).map((s) => s + 2.5),
      here,
    );
    const all = await compared(page);
    expectClose(all.after as number[], all.before as number[]);
    expect(all.factor).toBe(1);
    expect(errors).toEqual([]);
  });

  it('comes to a weight of exactly 0 in float32', async () => {
    const { page, errors } = await open('#/en/weights');
    await page.click('text=try −120');
    await expect.poll(async () => (await column(page, 'odds', 'weight'))[7]).toBe(0);
    expect(await sentence(page, 'odds')).toMatch(/CV 8 lies 122 below.*exactly 0/);
    await page.fill('#screen-odds input.number', '120');
    await expect.poll(async () => (await column(page, 'odds', 'weight'))[1]).toBe(0);
    expect(await sentence(page, 'odds')).toContain('that of CV 2 is now too small');
    expect(errors).toEqual([]);
  });

  it('keeps the two that are compared different, in Chinese too', async () => {
    const { page, errors } = await open('#/zh/weights');
    const selects = page.locator('#screen-odds select');
    await selects.first().selectOption('1');
    expect(await selects.evaluateAll((all) => all.map((each) => (each as HTMLSelectElement).value))).toEqual([
      '1',
      '7',
    ]);
    await page.waitForSelector('#screen-odds .sentence:has-text("简历 2 的分数加 1")');
    await page.click('#screen-odds [data-row="4"][data-number=score]');
    await expect.poll(() => selects.first().inputValue()).toBe('4');
    expect(errors).toEqual([]);
  });

  it('follows an edited title', async () => {
    const { page, errors } = await open('#/en/weights?k=1.0.-3&scaling=off');
    const here = await engine();
    const edited = matrix(Array.from({ length: 8 }, (_, i) => Array.from(row(TITLES, i))));
    edited.data[6] = -3;
    const q = { data: BRIEF, shape: [1, 1, 1, 6] } as const;
    const k = { data: edited.data, shape: [1, 1, 8, 6] } as const;
    await expectRows(page, 'weights', here.scores({ q, k, v: k }, { scale: 1 }), here);
    expect(errors).toEqual([]);
  });
});
