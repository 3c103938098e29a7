// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The installed package in Chromium, as a page without a bundler takes it: by its address.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { chromium } from 'playwright-core';

import { cases, root } from '../../engine/test/load.mjs';
import { installed } from './installed.mjs';

const CHROMIUM = '/usr/bin/chromium';
const skip = existsSync(CHROMIUM) ? false : 'chromium missing';
const TYPES = { js: 'text/javascript', mjs: 'text/javascript', wasm: 'application/wasm' };

/// /foveate/... is the installed package, anything else the repository.
const server = createServer(async (request, response) => {
  const path = new URL(request.url, 'http://page').pathname;
  try {
    const [, name, rest] = /^\/(foveate|)\/?(.*)$/.exec(path);
    const body = path === '/' ? '<!doctype html>' : await readFile(name ? join(installed, rest) : new URL(rest, root));
    const type = path === '/' ? 'text/html' : TYPES[path.split('.').pop()];
    response.writeHead(200, { 'content-type': type ?? 'application/octet-stream' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
let browser;
let page;

before(async () => {
  if (skip) return;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});
after(async () => {
  await browser?.close();
  server.close();
});

for (const [source, simd] of [
  [{}, 'relaxed'],
  [{ relaxed: false }, 'strict'],
  [{ relaxed: '/none.wasm' }, 'strict'],
  ['/foveate/wasm/foveate-strict.wasm', 'strict'],
]) {
  test(`cases in Chromium, init(${JSON.stringify(source)})`, { skip }, async () => {
    const info = await page.evaluate(async (source) => {
      const { init } = await import('/foveate/lib/package/index.js');
      const { initGradients } = await import('/foveate/lib/package/gradients.js');
      const { checkCase } = await import('/web/engine/test/case.mjs');
      const { checkGradients, hasGradients } = await import('/web/package/test/gradients_case.mjs');
      const engine = await init(source);
      const gradients = await initGradients();
      globalThis.check = async (name) => {
        const read = async (file) => new Uint8Array(await (await fetch(`/tests/cases/${name}/${file}`)).arrayBuffer());
        await checkCase(engine, read);
        const about = JSON.parse(new TextDecoder().decode(await read('case.json')));
        return hasGradients(about) ? checkGradients(engine, gradients, about, read) : 0;
      };
      return engine.info;
    }, source);
    assert.equal(info.simd, simd);
    let compared = 0;
    for (const { name, skip } of cases) if (!skip) compared += await page.evaluate((name) => check(name), name);
    assert.ok(compared > 30, `${compared} gradients`);
  });
}
