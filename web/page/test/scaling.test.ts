// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The part about scaling: what it shows of random scores is what the engine draws with the same seed.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import type { HistogramResult } from '../../engine/engine';
import { engine, eventually, expectClose, gradientEngine, hasChromium, open, STRICT, useBrowser } from './browser';

const SAMPLES = 100_000;
const PERCENTILES = [5, 25, 50, 75, 95];
const D_KS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

async function histogram(dK: number, seed: number, divisors: number[]): Promise<HistogramResult[]> {
  const work = (await engine()).histogram({
    dK,
    samples: SAMPLES,
    seed,
    bins: 8,
    divisors,
    ranges: divisors.map(() => 100),
  });
  while (work.step(5000) < SAMPLES);
  const results = divisors.map((_, i) => work.read(i));
  work.free();
  return results;
}

async function saturation(dK: number, seed: number, divisor: number) {
  const work = (await engine()).saturation({ dK, keys: 64, draws: 400, seed, divisor });
  while (work.step(100) < 400);
  const result = work.read(PERCENTILES);
  work.free();
  return result;
}

async function sensitivity(dK: number, seed: number, divisor: number) {
  const work = (await gradientEngine()).sensitivity({ dK, keys: 64, draws: 400, seed, divisor });
  while (work.step(100) < 400);
  const result = work.read(PERCENTILES);
  work.free();
  return result;
}

/// All that is running has ended, and what it came to is shown.
async function settled(page: Page): Promise<void> {
  // Its third figure waits until it is looked at.
  await page.locator('#screen-gradient .chart-box').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => {
    const lines = [...document.querySelectorAll('.run-line')];
    const named = ['largest-after', 'median-scaled', 'deviation-after', 'gradient-scaled'];
    return (
      lines.length === 3 &&
      lines.every((line) => line.querySelector('progress')?.classList.contains('idle')) &&
      named.every((name) => document.querySelector(`[data-name="${name}"]`))
    );
  });
}

async function shown(page: Page, name: string): Promise<number> {
  return Number(await page.getAttribute(`[data-name="${name}"]`, 'data-value'));
}

async function moments(page: Page): Promise<number[]> {
  return page.$$eval('#screen-scores .run-line b', (all) =>
    all.map((b) => Number((b as HTMLElement).dataset['value'])),
  );
}

/// What is shown comes to the engine's numbers: a run that a setting has begun may still be on its way.
async function expectShown(page: Page, dK: number, seed: number, divisor: number): Promise<void> {
  const [before, after] = await histogram(dK, seed, [1, divisor]);
  if (!before || !after) throw new Error('no histogram');
  const expected = [before.deviation, after.deviation, before.mean, before.variance];
  if (divisor !== 1) expected.push(after.mean, after.variance);
  const [bare, scaled, chosen] = [
    await saturation(dK, seed, 1),
    await saturation(dK, seed, Math.sqrt(dK)),
    await saturation(dK, seed, divisor),
  ];
  const percentiles = [bare.largest[2], chosen.largest[2], bare.norms[2], scaled.norms[2]].map((x) => x ?? NaN);
  await eventually(async () => {
    const deviations = [await shown(page, 'deviation-before'), await shown(page, 'deviation-after')];
    expectClose([...deviations, ...(await moments(page))], expected);
    const weights = [await shown(page, 'largest-before'), await shown(page, 'largest-after')];
    const medians = [await shown(page, 'median-unscaled'), await shown(page, 'median-scaled')];
    expectClose([...weights, ...medians], percentiles);
  });
}

/// A table of a figure, opened from its menu: row by row.
async function table(page: Page, screen: string, at: number): Promise<number[][]> {
  if ((await page.$(`#screen-${screen} .tables`)) === null) {
    await page.click(`#screen-${screen} .menu > button`);
    await page.click(`#screen-${screen} .menu li button:text-is("as a table")`);
  }
  return page.$eval(`#screen-${screen} .tables table:nth-of-type(${at})`, (shown) =>
    [...shown.querySelectorAll('tbody tr')].map((row) =>
      [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent?.replaceAll('−', '-'))),
    ),
  );
}

describe.skipIf(!hasChromium)('scaling', () => {
  useBrowser();

  it('shows the engine’s numbers, for each divisor', async () => {
    const { page, errors } = await open('#/en/scaling');
    await settled(page);
    await expectShown(page, 64, 1, 8);
    await page.check('#screen-scores input[value="one"]', { force: true });
    await settled(page);
    await expectShown(page, 64, 1, 1);
    await page.check('#screen-scores input[value="dk"]', { force: true });
    await settled(page);
    await expectShown(page, 64, 1, 64);
    expect(await page.textContent('#screen-scores .sentence')).toContain('0.125');
    expect(errors).toEqual([]);
  });

  it('draws the ribbons from the engine’s percentiles', async () => {
    const { page, errors } = await open('#/en/scaling');
    await settled(page);
    const bare = await table(page, 'saturation', 1);
    const scaled = await table(page, 'saturation', 2);
    for (const [i, dK] of D_KS.entries()) {
      expectClose(bare[i] ?? [], (await saturation(dK, 1, 1)).norms);
      expectClose(scaled[i] ?? [], (await saturation(dK, 1, Math.sqrt(dK))).norms);
    }
    const medians = (rows: number[][]) => [4, 6, 8, 10].map((i) => rows[i]?.[2] ?? NaN); // d_k 16, 64, 256, 1024
    const [at16 = NaN, at64 = NaN, at256 = NaN, at1024 = NaN] = medians(bare);
    expect([at16, at64, at256].map((x) => Number(x.toPrecision(1)))).toEqual([0.3, 0.2, 0.02]);
    expect(at1024).toBeLessThan(0.001);
    expectClose(medians(scaled), [0.18, 0.18, 0.18, 0.18], 0.01);

    await page.check('#screen-saturation input[value="largest"]', { force: true });
    expectClose((await table(page, 'saturation', 1))[8] ?? [], (await saturation(256, 1, 1)).largest);
    expect(errors).toEqual([]);
  });

  it('draws what reaches the query by the backward pass, and says how far that can be trusted', async () => {
    const { page } = await open('#/en/scaling?dk=256&seed=3', { block: STRICT });
    await settled(page);
    const [bare, scaled] = [await table(page, 'gradient', 1), await table(page, 'gradient', 2)];
    let [largest, entries] = [0, 0];
    for (const [i, dK] of D_KS.entries()) {
      for (const [rows, divisor] of [
        [bare, 1],
        [scaled, Math.sqrt(dK)],
      ] as const) {
        const { norms, check } = await sensitivity(dK, 3, divisor);
        largest = Math.max(largest, check.largest);
        entries += check.entries;
        norms.forEach((norm, at) => expect((rows[i]?.[at] ?? NaN) / norm).toBeCloseTo(1, 4)); // of any size
      }
    }
    const value = (name: string) => page.getAttribute(`#screen-gradient [data-name="${name}"]`, 'data-value');
    expect(Number(await value('difference'))).toBe(largest);
    expect(Number(await value('entries'))).toBe(entries);
    const { norms } = await sensitivity(256, 3, 1);
    expect(Number(await value('gradient-unscaled'))).toBe(norms[2]);

    const sentence = (await page.textContent('#screen-gradient .sentence')) ?? '';
    expect(sentence).toContain(`above ${norms[4]?.toPrecision(2)} in one of twenty`);
    expect(sentence).toContain('the weakest twentieth receives next to nothing, the strongest far more');
    await page.click('#screen-gradient .snaps button:text-is("1")');
    await eventually(async () => {
      expect(await page.textContent('#screen-gradient .sentence')).toContain('scaling changes neither end much');
    });
  });

  it('follows d_k by keys, snap points and drags, and undoes', async () => {
    const { page, errors } = await open('#/en/scaling');
    await settled(page);
    await page.focus('#screen-scores input[type=range]');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash === '#/en/scaling?dk=65');
    await settled(page);
    await expectShown(page, 65, 1, Math.sqrt(65));

    await page.click('#screen-scores .snaps button:text-is("256")');
    await settled(page);
    await expectShown(page, 256, 1, 16);
    expect(await page.inputValue('#screen-saturation input.number')).toBe('256');
    await page.keyboard.press('Control+z');
    expect(await page.inputValue('#screen-scores input.number')).toBe('65');

    await page.$eval('#screen-scores input[type=range]', async (slider: HTMLInputElement) => {
      for (let at = 0; at <= 9; at += 0.05) {
        slider.valueAsNumber = at;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
      slider.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await settled(page);
    await expectShown(page, 512, 1, Math.sqrt(512));
    await page.keyboard.press('Control+z'); // a drag is one step
    expect(await page.inputValue('#screen-scores input.number')).toBe('65');
    expect(errors).toEqual([]);
  });

  it('draws again with another seed, and stops', async () => {
    const { page, errors } = await open('#/en/scaling?dk=1024');
    await settled(page);
    await page.click('#screen-scores .run-line button:text-is("again")');
    await page.waitForFunction(() => location.hash === '#/en/scaling?dk=1024&seed=2');
    await settled(page);
    await expectShown(page, 1024, 2, 32);

    // Stopped on the first sight of the next seed
    await page.$eval('#screen-scores .run-line', async (line) => {
      const [stop, again] = line.querySelectorAll('button');
      again?.click();
      while (!line.textContent?.includes('seed 3')) await new Promise(requestAnimationFrame);
      stop?.click();
    });
    await page.waitForSelector('#screen-scores progress.idle', { state: 'attached' });
    const said = (await page.textContent('#screen-scores .run-line p')) ?? '';
    const [, done = ''] = /([\d,]+) of 100,000 scores, seed 3/.exec(said) ?? [];
    expect(Number(done.replace(',', ''))).toBeGreaterThan(0);
    expect(Number(done.replace(',', ''))).toBeLessThan(SAMPLES);
    expect(errors).toEqual([]);
  });

  it('takes its state from the address, and leads to the CVs', async () => {
    const { page, errors } = await open('#/zh/scaling?dk=256&by=dk&seed=7&ribbon=largest');
    await settled(page);
    expect(await page.isChecked('#screen-scores input[value="dk"]')).toBe(true);
    expect(await page.isChecked('#screen-saturation input[value="largest"]')).toBe(true);
    const [result] = await histogram(256, 7, [256]);
    const expected = [result?.deviation ?? NaN, (await saturation(256, 7, 1)).largest[2] ?? NaN];
    await eventually(async () => {
      expectClose([await shown(page, 'deviation-after'), await shown(page, 'median-unscaled')], expected);
    });
    await page.click('#screen-scores .figure-actions > button');
    expect(await page.inputValue('#screen-scores input.number')).toBe('64');
    await page.click('#screen-scores .screen-text button');
    await page.waitForFunction(
      () => location.hash.startsWith('#/zh/weights?') && location.hash.includes('scaling=off'),
    );
    expect(errors).toEqual([]);
  });
});
