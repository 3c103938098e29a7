// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A minute of hasty hands leaves a page that works. MONKEY_SECONDS and MONKEY_SEED run it otherwise.

import { describe, expect, test } from 'vitest';

import * as scene from '../state/scene';
import { engine, expectClose, gridValues, hasChromium, open, useBrowser } from './browser';

const SECONDS = Number(process.env['MONKEY_SECONDS'] ?? 60);
const SEED = Number(process.env['MONKEY_SEED'] ?? Date.now() % 1e6);

/// Mulberry32: one seed, one sequence.
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const KEYS = ['Tab', 'Shift+Tab', 'Enter', 'Escape', 'Space', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', '1', '2', '3', '-', '.', '9', 'e', 'Control+z', 'Control+Shift+z', 'Shift+ArrowUp', 'Backspace', 'Delete', 'PageDown', 'PageUp']; // prettier-ignore

describe.skipIf(!hasChromium)('monkey', () => {
  useBrowser();

  test(`${SECONDS} s of clicks, drags and keys, seed ${SEED}`, { timeout: (SECONDS + 60) * 1000 }, async () => {
    const { page, errors } = await open('#/en/dot', { reducedMotion: false });
    const next = random(SEED);
    const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T;
    const somewhere = () => [next() * 1280, next() * 900] as const;
    const acts: readonly (() => Promise<void>)[] = [
      () => page.mouse.click(...somewhere()),
      () => page.keyboard.press(pick(KEYS)),
      () => page.keyboard.press(pick(KEYS)),
      () => page.mouse.wheel(0, (next() - 0.5) * 2000),
      async () => {
        await page.mouse.move(...somewhere());
        await page.mouse.down();
        await page.mouse.move(...somewhere(), { steps: 5 });
        await page.mouse.up();
      },
      async () => {
        const controls = page.locator(
          'button:visible:enabled, input:visible, select:visible, summary:visible, nav a:visible',
        );
        const n = await controls.count();
        if (n > 0)
          await controls
            .nth(Math.floor(next() * n))
            .click({ timeout: 500, force: true })
            .catch(() => undefined);
      },
    ];
    const end = Date.now() + SECONDS * 1000;
    let done = 0;
    for (; Date.now() < end; ++done) await pick(acts)();
    expect(done).toBeGreaterThan(SECONDS); // hands, not a pause
    expect(errors).toEqual([]);

    await page.evaluate(() => (location.hash = '#/en/dot')); // away from the flow, which may stand in mid-step
    await expect.poll(() => page.textContent('h1')).toContain('dot product');
    await page.evaluate(() => (location.hash = '#/en/flow'));
    await page.waitForSelector('[data-grid="z"] td[data-value]');
    const foveate = await engine();
    const scores = foveate.product(
      scene.briefs.initial.data,
      Float32Array.from(
        { length: 48 },
        (_, at) => scene.titles.initial.data[(at % 8) * 6 + Math.floor(at / 8)] as number,
      ),
      [3, 6, 8],
    );
    await expect.poll(async () => (await gridValues(page, 's'))[0]?.length).toBe(8);
    expectClose((await gridValues(page, 's')).flat(), scores);
    expect(errors).toEqual([]);
  });
});
