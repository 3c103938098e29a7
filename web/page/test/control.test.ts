// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Controls under hands: typing key by key, settings that belong together, and what an address may do to them.

import { describe, expect, test } from 'vitest';

import { hasChromium, open, useBrowser } from './browser';

describe.skipIf(!hasChromium)('controls', () => {
  useBrowser();

  test.each([
    ['#/en/weights', 0, '0.5', 'temp=0.5'],
    ['#/en/weights', 1, '-5', 'add=-5'],
    ['#/en/scaling', 0, '128', 'dk=128'],
    ['#/en/dot', 0, '0.75', 'stretch=0.75'],
  ])('%s: number field %i takes %s as it is typed', async (hash, which, text, setting) => {
    const { page, errors } = await open(hash);
    const field = page.locator('input.number').nth(which);
    await field.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Backspace');
    await page.keyboard.type(text, { delay: 30 });
    expect(await field.inputValue()).toBe(text);
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`${hash}?${setting}`);
    await page.keyboard.type('x', { delay: 30 });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe(text);
    expect(errors).toEqual([]);
  });

  test('what one figure resets, another does not go on telling', async () => {
    const { page } = await open('#/en/sum');
    await page.click('text="swap"');
    await expect.poll(() => page.textContent('#screen-swap .sentence')).toContain('swapped');
    await page.locator('button:has-text("reset")').first().click();
    await expect.poll(() => page.textContent('#screen-swap .sentence')).toContain('Nothing is swapped');
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/en/sum');
  });

  test('a sum is of one setting, also after a stop', async () => {
    const { page } = await open('#/en/scaling?dk=4');
    await expect.poll(() => page.textContent('#screen-scores .sentence')).toContain('= 4');
    await page.click('.snaps >> text="1024"');
    await page.locator('button:has-text("stop")').first().click();
    await page.waitForTimeout(500);
    const sentence = (await page.textContent('#screen-scores .sentence')) ?? '';
    if (/Stopped|computing/.test(sentence)) return; // nothing is said of a half
    // At d_k 4 the largest weight is some 22 %, at 1024 all.
    expect(sentence).toMatch(/= 4,.* 2\d %|= 1024,.*(99|100)[.\d]* %/);
  });

  test('the number in hand is not looked for in another input', async () => {
    const { page, errors } = await open('#/en/matrices?heads=2');
    await page.hover('[data-grid="s-2"] [data-at="0.0"]');
    await page.keyboard.press('2');
    await page.waitForSelector('.working');
    await page.waitForTimeout(300);
    expect(await page.textContent('.working')).not.toMatch(/no matrix|numbers/);
    await page.focus('[data-grid="k"] [data-at="7.0"]');
    await page.check('input[value="sentence"]', { force: true });
    await page.waitForSelector('[data-grid="x"]');
    await page.waitForTimeout(300);
    expect(await page.locator('.working .error').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('two that are compared are two, whatever the address says', async () => {
    const { page } = await open('#/en/weights?one=1');
    await page.waitForSelector('.compare td[data-value]');
    const names = await page.$$eval('.compare tbody th', (all) => all.slice(0, 2).map((th) => th.textContent));
    expect(names).toEqual(['CV 2', 'CV 3']);
  });

  test('going on at once leaves what was set behind in the history', async () => {
    const { page } = await open('#/en/weights');
    await page.click('.snaps >> text="0.1"');
    await page.keyboard.press('2');
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/en/flow?temp=0.1');
    await page.goBack();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/en/weights?temp=0.1');
  });

  test('a part that cannot be loaded is named once, and gone when the way is free', async () => {
    const { page } = await open('#/en/dot');
    await page.route('**/*.js', (route) => route.abort());
    await page.keyboard.press('2');
    await page.waitForSelector('.unreachable');
    await page.keyboard.press('3');
    await page.waitForTimeout(300);
    expect(await page.locator('.unreachable').count()).toBe(1);
    await page.unroute('**/*.js');
    await page.keyboard.press('1');
    await expect.poll(() => page.locator('.unreachable').count()).toBe(0);
  });

  test('where WebAssembly is switched off the page says so', async () => {
    const { page } = await open('#/en/flow', { script: 'delete globalThis.WebAssembly' });
    expect(await page.textContent('main > .error')).toContain('engine could not be started');
  });
});
