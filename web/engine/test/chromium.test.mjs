// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// tests/cases in WebAssembly in Chromium, through fetchModule as a page calls it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { cases, code, root } from './load.mjs';

const TYPES = { mjs: 'text/javascript', js: 'text/javascript', html: 'text/html', wasm: 'application/wasm' };

/// Serves what the page needs: the repository's files, engine.ts as compiled, and an empty page.
async function answer(request, response) {
  const path = new URL(request.url, 'http://page').pathname;
  const made = { '/': '<!doctype html><title>cases</title>', '/engine.js': code };
  try {
    const body = made[path] ?? (await readFile(new URL(path.slice(1), root)));
    const type = path === '/' ? TYPES.html : TYPES[path.split('.').pop()];
    response.writeHead(200, { 'content-type': type ?? 'application/octet-stream' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

const server = createServer(answer);
let browser;
let page;

before(async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});

after(async () => {
  await browser?.close();
  server.close();
});

/// Makes window.check(name) for one module; says whether it is the relaxed one.
function prepare(urls) {
  return page.evaluate(async (urls) => {
    const { Engine, fetchModule } = await import('/engine.js');
    const { checkCase } = await import('/web/engine/test/case.mjs');
    const foveate = await Engine.instantiate(await fetchModule(urls));
    globalThis.check = (name) =>
      checkCase(foveate, async (file) => {
        const response = await fetch(`/tests/cases/${name}/${file}`);
        return new Uint8Array(await response.arrayBuffer());
      });
    return foveate.relaxed;
  }, urls);
}

const STRICT = '/build/web/foveate-strict.wasm';
const RELAXED = '/build/web/foveate-relaxed.wasm';

for (const [name, urls, relaxed] of [
  ['relaxed', { strict: STRICT, relaxed: RELAXED }, true],
  ['strict, where the relaxed module cannot be had', { strict: STRICT, relaxed: '/none.wasm' }, false],
]) {
  test(`cases in Chromium, ${name}`, async (t) => {
    assert.equal(await prepare(urls), relaxed);
    for (const { name, skip } of cases) await t.test(name, { skip }, () => page.evaluate((name) => check(name), name));
  });
}
