// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
import { defineConfig } from 'vitest/config';

// One file at a time: each browser test has the machine to itself.
export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  test: {
    include: ['page/test/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } }, // a machine may be busy
  },
});
