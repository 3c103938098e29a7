// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine that a page starts with.

import { Engine, type HistogramOptions } from '../../engine/engine';
import { breathe, inRuns, inSteps, isStopped, type Say, serve } from './serve';

function histogram(e: Engine, id: number, options: HistogramOptions, say: Say): Promise<void> {
  const work = e.histogram(options);
  const results = () => options.divisors.map((_, i) => work.read(i));
  const tell = (done: number) => say({ id, done, total: options.samples, result: results() });
  // The first step draws enough to look at, in 5 ms at most.
  return inSteps(id, options.samples, 2048, (count) => work.step(count), tell).finally(() => work.free());
}

/// GFLOP/s of fused attention, the best of some runs of 20 ms and more: coarse clocks of browsers need that.
async function benchmark(e: Engine, id: number, { n, d }: { n: number; d: number }, say: Say): Promise<void> {
  const work = e.benchmark(n, d);
  const RUNS = 8;
  let best = 0;
  try {
    for (let run = 1; run <= RUNS && !isStopped(id); ++run) {
      const start = performance.now();
      let flops = 0;
      while (performance.now() - start < 20) flops += work.step(1);
      best = Math.max(best, flops / (performance.now() - start) / 1e6);
      say({ id, done: run, total: RUNS, result: best });
      await breathe();
    }
  } finally {
    work.free();
  }
}

serve<Engine>({
  instantiate: (module) => Engine.instantiate(module),
  call: (e, method, args) => (e[method] as (...args: unknown[]) => unknown).apply(e, [...args]),
  async long(e, id, job, say) {
    if (job.kind === 'histogram') return histogram(e, id, job.options, say);
    if (job.kind === 'saturation') return inRuns(id, job.options, (options) => e.saturation(options), say);
    if (job.kind === 'benchmark') return benchmark(e, id, job.options, say);
    throw new Error(`${job.kind}: not here`);
  },
});
