// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// tests/cases in WebAssembly in Node: every forward case in float32 and float64.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { checkCase } from './case.mjs';
import { cases, casesFolder, engine, skips } from './load.mjs';

for (const module of ['strict', 'relaxed']) {
  test(`cases, ${module}`, { skip: skips(module) }, async (t) => {
    const foveate = await engine(module);
    assert.equal(foveate.relaxed, module === 'relaxed');
    for (const { name, skip } of cases) {
      const read = (file) => readFile(new URL(`${name}/${file}`, casesFolder));
      await t.test(name, { skip }, () => checkCase(foveate, read));
    }
  });
}
