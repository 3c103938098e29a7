// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The part about training: what it shows of two models is what the engine makes of them, and what it says follows its rule.

import type { Page } from 'playwright-core';
import { describe, expect, it, test } from 'vitest';

import type { Course, TrainingOptions } from '../../engine/gradients';
import { asExpected, stepsTo, verdict } from '../parts/training/verdict';
import { expectClose, gradientEngine, hasChromium, open, STRICT, useBrowser } from './browser';

const STEPS = 800;

async function courses(options: Pick<TrainingOptions, 'dK' | 'seed' | 'rate'>): Promise<[Course, Course]> {
  const divisors = [1, Math.sqrt(options.dK)] as const;
  const work = (await gradientEngine()).training({ ...options, steps: STEPS, divisors });
  while (work.step(100) < STEPS);
  const read: [Course, Course] = [work.read(0, 20), work.read(1, 20)];
  work.free();
  return read;
}

async function settled(page: Page, says: string): Promise<void> {
  await page.waitForFunction(
    (says) =>
      document.querySelector('.run-line progress')?.classList.contains('idle') &&
      document.querySelector('.run-line p')?.textContent?.includes(says) &&
      document.querySelector('[data-name="loss-root"][data-value]'),
    says,
    { timeout: 60_000 },
  );
}

async function shown(page: Page, name: string): Promise<number[]> {
  const values = await Promise.all(
    ['root', 'one'].map((model) => page.getAttribute(`[data-name="${name}-${model}"]`, 'data-value')),
  );
  return values.map(Number);
}

function last(values: Float64Array): number {
  return values.at(-1) ?? NaN;
}

describe.skipIf(!hasChromium)('training', () => {
  useBrowser();

  it.each(['en', 'zh'])('shows the engine’s numbers and says what they come to: %s', async (language) => {
    const { page } = await open(`#/${language}/training?traindk=16&trainseed=3`, { block: STRICT });
    await settled(page, '800');
    const [unscaled, scaled] = await courses({ dK: 16, seed: 3, rate: 0.001 });
    expect(await shown(page, 'steps')).toEqual([stepsTo(scaled), stepsTo(unscaled)]);
    expect(await shown(page, 'loss')).toEqual([last(scaled.loss), last(unscaled.loss)]);
    expect(await shown(page, 'right')).toEqual([last(scaled.right), last(unscaled.right)]);
    expect(await shown(page, 'first')).toEqual([scaled.largest[0], unscaled.largest[0]]);

    const said = (await page.textContent('.sentence')) ?? '';
    for (const steps of [stepsTo(scaled), stepsTo(unscaled)]) expect(said).toContain(String(steps));
    const came = verdict(stepsTo(unscaled), stepsTo(scaled));
    expect(came).toBe('slower'); // with this seed
    expect(said).toContain(language === 'zh' ? '慢了' : 'slower');
    expect(said).toContain(language === 'zh' ? '事先没有预期' : 'no guess');

    await page.click('.menu > button');
    await page.click(`.menu li button:text-is("${language === 'zh' ? '显示为表格' : 'as a table'}")`);
    const rows = await page.$$eval('.tables table:nth-of-type(1) tbody tr', (all) =>
      all.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))),
    );
    expect(rows.length).toBe(40);
    expectClose(
      rows.flat(),
      Array.from(unscaled.loss).flatMap((loss, i) => [loss, unscaled.right[i] ?? NaN, unscaled.largest[i] ?? NaN]),
    );
  });

  it('runs in the module that the browser has, trains again with another seed, and stops', async () => {
    const { page, errors } = await open('#/en/training?traindk=4');
    await settled(page, 'seed 1');
    expect(await page.textContent('.sentence')).toMatch(/about equally fast\. That is what we expected/);
    const difference = Number(await page.getAttribute('[data-name="difference"]', 'data-value'));
    expect(difference).toBeGreaterThan(0);
    expect(difference).toBeLessThan(1e-4);

    await page.$eval('.run-line', async (line) => {
      const [stop, again] = line.querySelectorAll('button');
      again?.click();
      while (!line.textContent?.includes('seed 2')) await new Promise(requestAnimationFrame);
      stop?.click();
    });
    await page.waitForSelector('progress.idle', { state: 'attached' });
    expect(await page.evaluate(() => location.hash)).toBe('#/en/training?traindk=4&trainseed=2');
    const [, done = ''] = /stopped after (\d+)/.exec((await page.textContent('.run-line p')) ?? '') ?? [];
    expect(Number(done)).toBeGreaterThanOrEqual(20);
    expect(Number(done)).toBeLessThan(STEPS);
    expect(await page.textContent('.sentence')).toContain(`after ${done} of 800 steps`); // no verdict
    expect(errors).toEqual([]);
  });

  it('follows d_k and the learning rate, and undoes', async () => {
    const { page, errors } = await open('#/en/training?traindk=4&trainrate=0.01');
    await settled(page, 'learning rate 0.01,');
    await page.check('input[value="0.003"]', { force: true });
    await settled(page, 'learning rate 0.003,');
    await page.click('.snaps button:text-is("16")');
    await page.waitForFunction(() => location.hash === '#/en/training?traindk=16&trainrate=0.003');
    await settled(page, '= 16');
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => location.hash === '#/en/training?traindk=4&trainrate=0.01');
    expect(await page.isChecked('input[value="0.01"]')).toBe(true);
    expect(errors).toEqual([]);
  });

  it('without the module it says so, and the rest works', async () => {
    const { page } = await open('#/en/training', { block: '**/*gradients*.wasm' });
    await page.waitForSelector('#screen-training .error');
    await page.evaluate(() => (location.hash = '#/en/dot'));
    await expect.poll(() => page.textContent('h1')).toContain('dot product');
    expect(await page.locator('main > .error').count()).toBe(0);
  });
});

test('the verdict follows the rule', () => {
  const course = (right: number[]): Course => {
    const shares = Float64Array.from(right);
    return { loss: shares, right: shares, largest: shares };
  };
  expect(stepsTo(course([0.2, 0.89, 0.9, 0.8]))).toBe(60);
  expect(stepsTo(course([0.2, 0.89]))).toBeUndefined();
  expect(verdict(100, 100)).toBe('alike');
  expect(verdict(120, 100)).toBe('alike');
  expect(verdict(125, 100)).toBe('slower');
  expect(verdict(80, 100)).toBe('faster');
  expect(verdict(undefined, 100)).toBe('never');
  expect(verdict(100, undefined)).toBe('alone');
  expect(verdict(undefined, undefined)).toBe('neither');
  expect(asExpected(4, 'alike')).toBe(true);
  expect(asExpected(4, 'slower')).toBe(false);
  expect(asExpected(16, 'slower')).toBeUndefined();
  expect(asExpected(64, 'never')).toBe(true);
  expect(asExpected(256, 'alike')).toBe(false);
});
