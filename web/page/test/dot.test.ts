// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The dot product's part: what it shows is what the engine computes, and dragging, keys and typing change it rightly.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';

import type { Engine } from '../../engine/engine';
import { row, transposed } from '../state/matrix';
import { briefs, titles } from '../state/scene';
import { engine, expectClose, gridValues, hasChromium, open, useBrowser } from './browser';

const Q = briefs.initial;
const K = titles.initial;

/// The readings beside the plane.
async function readings(page: Page): Promise<Record<string, number>> {
  await page.waitForSelector('[data-reading="dot"]');
  return page.$$eval('[data-reading]', (all) =>
    Object.fromEntries(all.map((one) => [one.getAttribute('data-reading'), Number(one.getAttribute('data-value'))])),
  );
}

async function expectMeeting(page: Page, computes: Engine, q: readonly number[], k: readonly number[]): Promise<void> {
  const [from, to] = [Float32Array.from(q), Float32Array.from(k)];
  const { dots, lengths, cosines, degrees, queryLength } = computes.compare(from, to);
  await page.waitForFunction((dot) => {
    const shown = document.querySelector('[data-reading="dot"]')?.getAttribute('data-value');
    return Math.abs(Number(shown ?? NaN) - dot) < 1e-4;
  }, dots[0] ?? NaN);
  const shown = await readings(page);
  expectClose([shown['dot'] ?? NaN], dots);
  expectClose([shown['q-length'] ?? NaN, shown['k-length'] ?? NaN], [queryLength, lengths[0] ?? NaN]);
  expectClose([shown['cosine'] ?? NaN], cosines);
  expectClose([shown['along'] ?? NaN], computes.terms(Float32Array.of(queryLength), cosines));
  expect(Math.abs((shown['degrees'] ?? NaN) - (degrees[0] ?? NaN))).toBeLessThanOrEqual(0.0501); // shown in tenths
  expectClose(await terms(page, '#screen-dot-arrows'), computes.terms(from, to));
}

async function terms(page: Page, screen: string): Promise<number[]> {
  return page.$$eval(`${screen} .sum-term`, (all) => all.map((one) => Number(one.getAttribute('data-value'))));
}
async function total(page: Page, screen: string): Promise<number> {
  return Number(await page.getAttribute(`${screen} .sum-total`, 'data-value'));
}

/// CVs in the order of a list, and their values.
async function list(page: Page, id: string): Promise<{ order: number[]; values: number[] }> {
  const rows = await page.$$eval(`[data-list="${id}"] [data-cv]`, (all) =>
    all.map((one) => ['data-cv', 'data-rank', 'data-value'].map((name) => Number(one.getAttribute(name)))),
  );
  const order: number[] = [];
  for (const [cv = 0, rank = 0] of rows) order[rank - 1] = cv - 1;
  return { order, values: rows.map(([, , value = NaN]) => value) };
}

const said = (page: Page, screen: string): Promise<string | null> => page.textContent(`${screen} .sentence`);

describe.skipIf(!hasChromium)('dot product', () => {
  useBrowser();
  let computes: Engine;
  beforeAll(async () => {
    computes = await engine();
  });

  test('two arrows: readings and the sum are the engine’s', async () => {
    const { page, errors } = await open('#/en/dot');
    await expectMeeting(page, computes, [4, 2], [1, 2]);
    expect(await total(page, '#screen-dot-arrows')).toBe(8);
    expect(await said(page, '#screen-dot-arrows')).toContain('36.9°');

    await page.getByRole('button', { name: 'right angle' }).click();
    await expectMeeting(page, computes, [4, 2], [-1, 2]);
    expect(await said(page, '#screen-dot-arrows')).toContain('right angle');
    await page.getByRole('button', { name: 'twice as long' }).click();
    await expectMeeting(page, computes, [4, 2], [-2, 4]);
    expect(await page.getByRole('button', { name: 'twice as long' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'opposite' }).click();
    await expectMeeting(page, computes, [4, 2], [-4, -2]);
    await page.getByRole('button', { name: 'same way' }).click();
    await expectMeeting(page, computes, [4, 2], [4, 2]);
    expect(errors).toEqual([]);
  });

  test('a finger drags a tip, and the page does not scroll with it', async () => {
    const { page, errors } = await open('#/en/dot', { width: 360, height: 740, touch: true });
    await expectMeeting(page, computes, [4, 2], [1, 2]);
    const circle = page.locator('[data-tip="q"] circle');
    await circle.evaluate((it) => it.scrollIntoView({ block: 'center' }));
    const [hold, plane] = [await circle.boundingBox(), await page.locator('.plane svg').boundingBox()];
    if (!hold || !plane) throw new Error('no plane');
    const [x, y, unit] = [hold.x + hold.width / 2, hold.y + hold.height / 2, plane.width / 12];
    const scrolled = await page.evaluate(() => scrollY);
    const finger = await page.context().newCDPSession(page);
    await finger.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    for (let i = 1; i <= 8; ++i) {
      const touchPoints = [{ x, y: y + (i / 4) * unit }];
      await finger.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints });
    }
    await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await expectMeeting(page, computes, [4, 0], [1, 2]);
    expect(await page.evaluate(() => scrollY)).toBe(scrolled);
    expect(errors).toEqual([]);
  });

  test('tips move by pointer and by keys; the address keeps them, undo takes a gesture back', async () => {
    const { page, errors } = await open('#/en/dot');
    await expectMeeting(page, computes, [4, 2], [1, 2]);
    const hold = await page.locator('[data-tip="k"] circle').boundingBox();
    const plane = await page.locator('.plane svg').boundingBox();
    if (!hold || !plane) throw new Error('no plane');
    const unit = plane.width / 12;
    const [x, y] = [hold.x + hold.width / 2, hold.y + hold.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + unit, y + unit, { steps: 3 });
    await page.mouse.move(x + 2 * unit, y + 3 * unit, { steps: 3 });
    await page.mouse.up();
    await expectMeeting(page, computes, [4, 2], [3, -1]);
    await page.mouse.move(x, y); // no longer held
    await expectMeeting(page, computes, [4, 2], [3, -1]);

    const q = page.locator('[data-tip="q"]');
    await q.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Alt+ArrowRight');
    await expectMeeting(page, computes, [3.01, 2.1], [3, -1]);
    expect(await q.getAttribute('aria-valuetext')).toBe('Transformer 3.01, recommendation 2.1');
    for (let i = 0; i < 5; ++i) await page.keyboard.press('Shift+ArrowRight');
    await expectMeeting(page, computes, [5, 2.1], [3, -1]); // the plane's end

    await page.waitForFunction(() => location.hash.includes('arrows=0.0.5_'));
    const again = await open(await page.evaluate(() => location.hash));
    await expectMeeting(again.page, computes, [5, 2.1], [3, -1]);

    await page.locator('h1').click();
    await page.keyboard.press('Control+z');
    await expectMeeting(page, computes, [4, 2], [3, -1]);
    await page.keyboard.press('Control+z');
    await expectMeeting(page, computes, [4, 2], [1, 2]);
    expect([...errors, ...again.errors]).toEqual([]);
  });

  test('an arrow without length has no angle', async () => {
    const { page, errors } = await open('#/en/dot?arrows=1.0.0_1.1.0');
    const shown = await readings(page);
    expect(shown['dot']).toBe(0);
    expect(shown['degrees']).toBeNaN();
    expect(await said(page, '#screen-dot-arrows')).toContain('no angle');
    expect(errors).toEqual([]);
  });

  test('rankings by dot product and by cosine, and a title that wins by length alone', async () => {
    const { page, errors } = await open('#/en/dot');
    await page.waitForSelector('[data-list="cosine"] [data-cv]');
    const plain = computes.compare(row(Q, 0), K.data);
    const [byDot, byCosine] = [await list(page, 'dot'), await list(page, 'cosine')];
    expectClose(byDot.values, plain.dots);
    expectClose(byCosine.values, plain.cosines);
    expect(byDot.order).toEqual([...computes.rank(plain.dots)]);
    expect(byCosine.order).toEqual([...computes.rank(plain.cosines)]);
    expect([byDot.order.indexOf(7), byCosine.order.indexOf(7)]).toEqual([1, 2]);
    expect(await said(page, '#screen-dot-rankings')).toBe(
      'CV 8 is second by dot product (10), but third by cosine (0.704).',
    );

    const slider = page.getByRole('slider', { name: 'Length of CV 8’s title, times' });
    await page.getByRole('button', { name: '1.6' }).click();
    await page.waitForSelector('[data-list="dot"] [data-cv="8"][data-rank="1"]');
    const long = K.data.slice();
    long.set(computes.product(row(K, 7), Float32Array.of(1.6), [6, 1, 1]), 42);
    const stretched = computes.compare(row(Q, 0), long);
    expectClose((await list(page, 'dot')).values, stretched.dots);
    const turned = await list(page, 'cosine');
    expectClose(turned.values, plain.cosines);
    expect(turned.order).toEqual(byCosine.order);
    expect(await said(page, '#screen-dot-rankings')).toContain('climbs from second to first');

    await slider.focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => location.hash.includes('stretch=3'));
    await page.selectOption('#screen-dot-rankings select', '7');
    await page.waitForSelector('.slope-row.marked[data-cv="7"]');
    expectClose((await list(page, 'dot')).values.slice(6), [-2.25, 10]);
    expect(errors).toEqual([]);
  });

  test('all pairs: one product, any score written out, Q and K open to editing', async () => {
    const { page, errors } = await open('#/en/dot');
    await page.waitForSelector('[data-grid="dot-s"] td[data-value]');
    const kt = transposed(K);
    const scores = computes.product(Q.data, kt.data, [3, 6, 8]);
    expectClose((await gridValues(page, 'dot-q')).flat(), Q.data);
    expectClose((await gridValues(page, 'dot-kt')).flat(), kt.data);
    expectClose((await gridValues(page, 'dot-s')).flat(), scores);
    expectClose(await terms(page, '#screen-dot-pairs'), computes.terms(row(Q, 0), row(K, 1)));

    await page.locator('[data-grid="dot-s"] [data-at="2.6"]').hover();
    await page.waitForFunction(() => document.querySelector('#screen-dot-pairs .sum-of')?.textContent?.includes('37'));
    expectClose(await terms(page, '#screen-dot-pairs'), computes.terms(row(Q, 2), row(K, 6)));
    expectClose([await total(page, '#screen-dot-pairs')], scores.subarray(22, 23));
    const lit = (grid: string): Promise<(string | null)[]> =>
      page.$$eval(`[data-grid="${grid}"] .lit`, (cells) => cells.map((cell) => cell.getAttribute('data-at')));
    expect(await lit('dot-q')).toEqual([0, 1, 2, 3, 4, 5].map((c) => `2.${c}`));
    expect(await lit('dot-kt')).toEqual([0, 1, 2, 3, 4, 5].map((c) => `${c}.6`));

    await page.locator('[data-grid="dot-kt"] [data-at="0.6"]').click(); // CV 7's Transformer
    await page.keyboard.press('Control+a');
    await page.keyboard.type('2.5');
    await page.keyboard.press('Enter');
    const keys = K.data.slice();
    keys[36] = 2.5;
    const now = computes.product(Q.data, transposed({ ...K, data: keys }).data, [3, 6, 8]);
    await page.waitForFunction(
      (score) =>
        Number(document.querySelector('[data-grid="dot-s"] [data-at="0.6"]')?.getAttribute('data-value')) === score,
      now[6],
    );
    expectClose((await gridValues(page, 'dot-s')).flat(), now);
    expectClose((await list(page, 'dot')).values, now.subarray(0, 8)); // the rankings are of the same titles
    await page.waitForFunction(() => location.hash.includes('k=6.0.2.5'));

    await page.locator('[data-grid="dot-s"] [data-at="0.0"]').focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => document.querySelector('#screen-dot-pairs .sum-of')?.textContent?.includes('21'));
    expectClose(await terms(page, '#screen-dot-pairs'), computes.terms(row(Q, 1), row(K, 0)));
    expect(errors).toEqual([]);
  });

  test('nothing overflows, in both languages', async () => {
    for (const language of ['en', 'zh']) {
      for (const width of [360, 768, 1280, 1920]) {
        const { page, errors } = await open(`#/${language}/dot`, { width });
        await page.waitForSelector('[data-grid="dot-s"] td[data-value]');
        await page.$$eval('details', (all) => all.forEach((one) => one.setAttribute('open', '')));
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        expect(errors).toEqual([]);
        await page.context().close();
      }
    }
  });
});
