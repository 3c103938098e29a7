// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The built page in Chromium, and the engine beside it in Node to compare with.

import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';

import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';

import { Engine } from '../../engine/engine';
import { GradientEngine } from '../../engine/gradients';

const DIST = process.env['FOVEATE_DIST'] ?? new URL('../../dist/', import.meta.url).pathname;
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/// False where there is no Chromium to test in.
export const hasChromium = existsSync(CHROMIUM);

let server: Server;
let browser: Browser;

export function useBrowser(): void {
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = normalize(new URL(request.url ?? '/', 'http://page').pathname);
      const file = join(DIST, path.endsWith('/') ? `${path}index.html` : path);
      if (!existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
      return createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });
}

export interface Look {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  reducedMotion?: boolean;
  touch?: boolean;
  block?: string; // requests that fail
  script?: string; // run before the page's own
}

/// Opens the page at '#/en/dot', say. What goes wrong there is collected in `errors`, which should stay empty.
export async function open(hash: string, look: Look = {}): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    colorScheme: look.theme ?? 'light',
    reducedMotion: look.reducedMotion === false ? 'no-preference' : 'reduce',
    hasTouch: look.touch === true,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  if (look.script) await page.addInitScript(look.script);
  if (look.block) await page.route(look.block, (route) => route.abort());
  const errors: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('requestfailed', (request) => errors.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${hash}`);
  await page.waitForSelector('main h1');
  return { page, errors };
}

/// The numbers that a grid shows, as they are in it, once it is there: NaN where a cell is empty.
export async function gridValues(page: Page, id: string): Promise<number[][]> {
  await page.waitForSelector(`[data-grid="${id}"] td[data-value]`);
  return page.$$eval(`[data-grid="${id}"] tbody tr`, (rows) =>
    rows.map((row) => [...row.querySelectorAll<HTMLElement>('td')].map((cell) => Number(cell.dataset['value'] ?? NaN))),
  );
}

/// The strict module, in this process: the page may run the relaxed one, so that last digits may differ.
export async function engine(): Promise<Engine> {
  return Engine.instantiate(await compiled('strict'));
}
export async function gradientEngine(): Promise<GradientEngine> {
  return GradientEngine.instantiate(await compiled('gradients-strict'));
}
async function compiled(name: string): Promise<WebAssembly.Module> {
  const bytes = await readFile(new URL(`../../../build/web/foveate-${name}.wasm`, import.meta.url));
  return WebAssembly.compile(new Uint8Array(bytes));
}
/// A look for those who compare to the last digit: the page then has the strict module too.
export const STRICT = '**/*relaxed*.wasm';

/// Until a check holds, as what it reads is on its way; then, or at last, as it says.
export async function eventually(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: 30_000, interval: 100 });
}

export function expectClose(shown: readonly number[], computed: ArrayLike<number>, tolerance = 1e-5): void {
  expect(shown.length).toBe(computed.length);
  shown.forEach((x, i) => {
    const y = computed[i] ?? NaN;
    if (!Number.isFinite(y)) expect(x).toBe(y);
    else expect(Math.abs(x - y)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(y)));
  });
}
