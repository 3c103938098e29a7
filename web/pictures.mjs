// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The READMEs' pictures, taken anew from the built page: npm run pictures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { chromium } from 'playwright-core';

const root = new URL('../', import.meta.url).pathname;
const port = 7399;
const server = spawn(`${root}build/release/foveate`, ['serve', '--port', String(port)]);
await once(server.stdout, 'data');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  for (const language of ['en', 'zh']) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 664 }, deviceScaleFactor: 1.5 });
    await page.goto(`http://127.0.0.1:${port}/#/${language}/weights?scaling=off`);
    await page.waitForFunction(() => document.querySelector('.badge')?.textContent?.includes('GFLOP'));
    await page.waitForTimeout(1000);
    await page.screenshot({ path: `${root}docs/attention.${language}.png` });
    await page.close();
  }
} finally {
  await browser.close();
  server.kill();
}
