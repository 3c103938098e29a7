// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The installed package through a bundler, which finds the modules itself.
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { build } from 'vite';

import { project } from './installed.mjs';

test('Vite brings the modules that are used along, and warns of nothing', async () => {
  const warnings = [];
  const warn = (message) => warnings.push(message);
  const customLogger = { ...console, hasWarned: false, warnOnce: warn, warn, error: warn, info() {}, clearScreen() {} };
  customLogger.hasErrorLogged = () => false;
  writeFileSync(join(project, 'index.html'), '<script type="module" src="./main.js"></script>');
  const bundled = async (code) => {
    writeFileSync(join(project, 'main.js'), code);
    const outDir = join(project, 'dist');
    await build({
      root: project,
      configFile: false,
      customLogger,
      build: { outDir, emptyOutDir: true, target: 'es2022' },
    });
    return readdirSync(join(outDir, 'assets')).map((name) => name.replace(/-[\w-]{8}(\.\w+)$/, '$1'));
  };
  const forward = await bundled("import { init } from 'foveate'; console.log((await init()).info);");
  assert.deepEqual(forward.sort(), ['foveate-relaxed.wasm', 'foveate-strict.wasm', 'index.js']);
  const both = await bundled(
    "import { init } from 'foveate'; import { initGradients } from 'foveate/gradients'; console.log(init, initGradients);",
  );
  assert.equal(both.filter((name) => name.endsWith('.wasm')).length, 4);
  assert.deepEqual(warnings, []);
});
