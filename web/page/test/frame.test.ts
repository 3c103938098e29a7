// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The frame: every part in both languages and themes is there, accessible, fits the screen, and is small.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import { hasChromium, open, useBrowser } from './browser';

const PARTS = ['dot', 'scaling', 'weights', 'sum', 'training', 'flow', 'matrices'];
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const looks = ['en', 'zh'].flatMap((language) =>
  (['light', 'dark'] as const).flatMap((theme) => PARTS.map((part) => ({ language, theme, part }))),
);

/// All of it, and the engine's first answers: a figure may wait until it comes into view.
async function lookedAt(page: Page): Promise<void> {
  await page.locator('.screen .figure-body').last().scrollIntoViewIfNeeded();
  await page.waitForTimeout(600);
}

describe.skipIf(!hasChromium)('frame', () => {
  useBrowser();

  test.each(looks)('axe finds nothing: $part, $language, $theme', async ({ language, theme, part }) => {
    const { page, errors } = await open(`#/${language}/${part}`, { theme });
    await lookedAt(page);
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
      const { violations } = await axe.run();
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
      );
    });
    expect(found).toEqual([]);
    expect(errors).toEqual([]);
    expect(await page.getAttribute('html', 'lang')).toBe(language === 'zh' ? 'zh-CN' : 'en');
    await page.context().close();
  });

  test.each([320, 360, 768, 1280, 1920])('nothing sticks out at %d px', async (width) => {
    for (const part of PARTS) {
      const { page } = await open(`#/zh/${part}`, { width });
      await lookedAt(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, part).toBeLessThanOrEqual(0);
      await page.context().close();
    }
  });

  test.each(['en', 'zh'])(
    'a visitor loads less than 100 KB, gzipped, and little for each part: %s',
    async (language) => {
      const { page } = await open(`#/${language}/dot`);
      const sizes = new Map<string, number>();
      page.on('response', async (response) => {
        const name = new URL(response.url()).pathname;
        sizes.set(name, execFileSync('gzip', ['-9c'], { input: await response.body() }).length);
      });
      const isGradients = (name: string) => name.includes('gradients') && name.endsWith('.wasm');
      const sum = (of: (name: string) => boolean) =>
        [...sizes].reduce((total, [name, size]) => (of(name) ? total + size : total), 0);
      const total = () => sum((name) => !isGradients(name));
      await page.reload({ waitUntil: 'networkidle' });
      await page.waitForTimeout(500);
      const names = [...sizes.keys()];
      expect(names.filter((name) => name.endsWith('.wasm')).length, names.join()).toBe(1);
      const loaded = [total()];
      expect(loaded[0]).toBeLessThan(100_000);
      expect(sum(isGradients)).toBe(0);
      for (const part of PARTS.slice(1)) {
        await page.evaluate((hash) => (location.hash = hash), `#/${language}/${part}`);
        await page.waitForTimeout(1000);
        loaded.push(total());
        expect((loaded.at(-1) ?? 0) - (loaded.at(-2) ?? 0), part).toBeLessThan(20_000);
      }
      // The engine with gradients: one module, for what needs it
      expect([...sizes.keys()].filter(isGradients).length).toBe(1);
      expect(sum(isGradients)).toBeLessThan(90_000);
      console.log(`the engine with gradients: ${sum(isGradients)}`);
      console.log(`bytes loaded, gzipped, from part to part, ${language}: ${loaded.join(', ')}`);
    },
  );

  test('keys 1 2 3 switch the mode, digits in a cell do not', async () => {
    const { page } = await open('#/en/dot');
    const at = () => page.evaluate(() => location.hash);
    await page.keyboard.press('2');
    await expect.poll(at).toBe('#/en/flow');
    await page.keyboard.press('3');
    await expect.poll(at).toBe('#/en/matrices');
    await page.focus('[data-grid="v"] [data-at="0.0"]');
    await page.keyboard.press('1');
    await page.keyboard.press('Enter');
    await expect.poll(at).toBe('#/en/matrices?v=0.0.1');
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press('1');
    await expect.poll(at).toBe('#/en/dot?v=0.0.1');
  });

  test('language, theme and state survive; the address brings all of it back', async () => {
    const { page } = await open('#/en/flow?scaling=off&mask=causal');
    await page.click('text=中');
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/zh/flow?scaling=off&mask=causal');
    await expect.poll(() => page.textContent('h1')).toContain('全流程');
    await page.click('text=深色');
    await page.reload();
    await expect.poll(() => page.getAttribute('html', 'data-theme')).toBe('dark');
    expect(await page.isChecked('input[value="causal"]')).toBe(true);
    await page.goBack();
    await expect.poll(() => page.textContent('h1')).toContain('whole flow');
  });

  test('what an address says wrongly is named', async () => {
    const { page } = await open('#/en/flow?scaling=off&factor=ten&nonsense=1');
    expect(await page.textContent('main > .error')).toContain('factor, nonsense');
    expect(await page.isChecked('input[value="off"]')).toBe(true);
  });

  test('everything is reached by Tab, in order, with a visible focus', async () => {
    const { page } = await open('#/en/flow');
    await page.waitForSelector('[data-grid="z"]');
    const reached = new Set<string>();
    for (let i = 0; i < 80; ++i) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const grid = element.closest('[data-grid]')?.getAttribute('data-grid');
        const visible = element.matches(':focus-visible');
        return { name: grid ?? element.textContent ?? '', tag: element.tagName, visible };
      });
      if (where.tag === 'BODY') break; // all round
      expect(where.visible, where.name).toBe(true);
      reached.add(where.name.trim());
    }
    for (const name of [
      'Skip to the figure',
      '中',
      'dark',
      'share',
      'Scaling',
      'Play',
      'q',
      'k',
      'v',
      's',
      'p',
      'a',
      'z',
      'NumPy',
    ]) {
      expect(
        [...reached].some((each) => each === name || each.startsWith(name)),
        name,
      ).toBe(true);
    }
  });

  test('a figure goes away as a picture, numbers, a table, and a snippet', async () => {
    const { page, errors } = await open('#/en/flow');
    await page.waitForSelector('[data-grid="z"] td[data-value]');
    const fetched = async (item: string): Promise<Buffer> => {
      await page.click('.menu > button');
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.menu >> text="${item}"`)]);
      return readFileSync((await download.path()) as string);
    };
    expect((await fetched('SVG')).toString()).toMatch(/^<svg[^]*15\.5[^]*<\/svg>$/);
    expect((await fetched('PNG')).subarray(1, 4).toString()).toBe('PNG');
    expect((await fetched('CSV')).toString()).toContain('brief 1,9.25,15.5,9,4,9.5,0.75,-0.75,10');
    const weights = await fetched('.npy: A: weights, 3 × 8');
    expect(weights.subarray(1, 6).toString()).toBe('NUMPY');
    expect(weights.length).toBe(128 + 4 * 24);
    await page.click('.menu > button');
    await page.click('.menu >> text="as a table"');
    expect(await page.locator('.tables table').count()).toBe(7);
    await page.click('.menu > button');
    await page.click('.menu >> text="embed"');
    const snippet = await page.inputValue('.snippet');
    const src = /src="([^"]*)"/.exec(snippet)?.[1]?.replaceAll('&amp;', '&') ?? '';
    await page.goto(src);
    await page.waitForSelector('[data-grid="z"]');
    expect(await page.locator('header, nav').count()).toBe(0);
    await page.goto(src.replace(/#.*/, '#/en/dot?embed=dot-rankings')); // one figure of three
    await page.waitForSelector('#screen-dot-rankings');
    expect(await page.locator('.screen').count()).toBe(1);
    expect(errors).toEqual([]);
  });

  test('without WebAssembly the page says so', async () => {
    const { page } = await open('#/en/flow', { block: '**/*.wasm' });
    await page.waitForSelector('main > .error');
    expect(await page.textContent('main > .error')).toContain('engine could not be started');
  });
});

interface AxeViolation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}
