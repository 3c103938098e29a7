// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Speed of the modules in Node, one thread: fused attention, the best of some turns that the modules take one after the
// other. npm run bench [N [D]]
import { engine, skips } from './test/load.mjs';

const [n = 1024, d = 64] = process.argv.slice(2).map(Number);
const TURNS = 15;
const TURN_MS = 150;

const modules = ['strict', 'relaxed'].filter((name) => {
  const why = skips(name);
  if (why) console.log(`skipped: ${name} (${why})`);
  return !why;
});
const best = new Map();
for (let turn = 0; turn < TURNS; ++turn) {
  for (const name of modules) {
    const work = (await engine(name)).benchmark(n, d);
    work.step(1);
    const start = performance.now();
    let flops = 0;
    while (performance.now() - start < TURN_MS) flops += work.step(1);
    best.set(name, Math.max(best.get(name) ?? 0, flops / (performance.now() - start) / 1e6));
    work.free();
  }
}
for (const [name, gflops] of best) console.log(`${name}: ${gflops.toFixed(1)} GFLOP/s, n ${n}, d ${d}`);
