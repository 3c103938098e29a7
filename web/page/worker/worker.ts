// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One instance of the engine in a thread of its own.

import { Engine, type HistogramOptions, type SaturationOptions } from '../../engine/engine';
import type { Answer, LongJob, Question } from './protocol';

let engine: Promise<Engine> | undefined;
const stopped = new Set<number>();

/// Between steps the thread looks at its messages: a stop, or a question that should not have to wait.
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const STEP_MS = 25;

/// Runs steps of about STEP_MS, after one of `count`, until `total` is done; says after each how far it is.
async function inSteps(
  id: number,
  total: number,
  count: number,
  step: (count: number) => number,
  tell: (done: number) => void,
) {
  let done = 0;
  while (done < total && !stopped.has(id)) {
    const start = performance.now();
    done = step(Math.min(count, total - done));
    const took = performance.now() - start;
    count = Math.max(1, Math.ceil(count * Math.min(4, STEP_MS / Math.max(took, 0.1))));
    tell(done);
    await breathe();
  }
}

function histogram(e: Engine, id: number, options: HistogramOptions, say: (answer: Answer) => void): Promise<void> {
  const work = e.histogram(options);
  const results = () => options.divisors.map((_, i) => work.read(i));
  const tell = (done: number) => say({ id, done, total: options.samples, result: results() });
  // The first step draws enough to look at, in 5 ms at most.
  return inSteps(id, options.samples, 2048, (count) => work.step(count), tell).finally(() => work.free());
}

async function saturation(
  e: Engine,
  id: number,
  { runs, percentiles }: { runs: readonly SaturationOptions[]; percentiles: readonly number[] },
  say: (answer: Answer) => void,
): Promise<void> {
  const total = runs.reduce((sum, { draws }) => sum + draws, 0);
  const results: ReturnType<ReturnType<Engine['saturation']>['read']>[] = [];
  let before = 0;
  for (const options of runs) {
    const work = e.saturation(options);
    const place = results.length;
    const tell = (done: number) => {
      results[place] = work.read(percentiles);
      say({ id, done: before + done, total, result: results });
    };
    await inSteps(id, options.draws, 1, (count) => work.step(count), tell).finally(() => work.free());
    before += options.draws;
    if (stopped.has(id)) return;
  }
}

/// GFLOP/s of fused attention, the best of some runs of 20 ms and more: coarse clocks of browsers need that.
async function benchmark(e: Engine, id: number, { n, d }: { n: number; d: number }, say: (answer: Answer) => void) {
  const work = e.benchmark(n, d);
  const RUNS = 8;
  let best = 0;
  try {
    for (let run = 1; run <= RUNS && !stopped.has(id); ++run) {
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

function long(e: Engine, id: number, job: LongJob, say: (answer: Answer) => void): Promise<void> {
  if (job.kind === 'histogram') return histogram(e, id, job.options, say);
  if (job.kind === 'saturation') return saturation(e, id, job.options, say);
  return benchmark(e, id, job.options, say);
}

self.onmessage = async ({ data }: MessageEvent<Question>): Promise<void> => {
  const say = (answer: Answer) => self.postMessage(answer);
  if (data.kind === 'module') {
    engine = Engine.instantiate(data.module);
    return;
  }
  if (data.kind === 'stop') {
    stopped.add(data.id);
    return;
  }
  const { id } = data;
  try {
    if (!engine) throw new Error('a question before the module');
    const e = await engine;
    if (data.kind === 'long') {
      await long(e, id, data.job, say);
      say({ id, end: true });
    } else {
      const method = e[data.method] as (...args: unknown[]) => unknown;
      say({ id, end: true, result: method.apply(e, [...data.args]) });
    }
  } catch (error) {
    say({ id, error: error instanceof Error ? error.message : String(error) });
  } finally {
    stopped.delete(id);
  }
};
