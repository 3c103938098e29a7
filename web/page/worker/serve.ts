// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What every worker does: one instance of a module in a thread of its own, and long work in steps.

import type { Answer, Job, LongKind, Method, Question } from './protocol';

const stopped = new Set<number>();

export function isStopped(id: number): boolean {
  return stopped.has(id);
}

/// Between steps the thread looks at its messages: a stop, or a question that should not have to wait.
export function breathe(): Promise<void> {
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
export async function inSteps(
  id: number,
  total: number,
  count: number,
  step: (count: number) => number,
  tell: (done: number) => void,
): Promise<void> {
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

export type Say = (answer: Answer) => void;

interface Run<R> {
  step(count: number): number;
  read(percentiles: readonly number[]): R;
  free(): void;
}

/// One run of draws after another: what each has come to, at these percentiles.
export async function inRuns<O extends { draws: number }, R>(
  id: number,
  { runs, percentiles }: { readonly runs: readonly O[]; readonly percentiles: readonly number[] },
  begin: (options: O) => Run<R>,
  say: Say,
): Promise<void> {
  const total = runs.reduce((sum, { draws }) => sum + draws, 0);
  const results: R[] = [];
  let before = 0;
  for (const options of runs) {
    const work = begin(options);
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

export interface Service<E> {
  instantiate(module: WebAssembly.Module): Promise<E>;
  call(engine: E, method: Method, args: readonly unknown[]): unknown;
  long(engine: E, id: number, job: Job<LongKind>, say: Say): Promise<void>;
}

/// Answers the questions of the page, from the module on, which comes first.
export function serve<E>({ instantiate, call, long }: Service<E>): void {
  let engine: Promise<E> | undefined;
  const say: Say = (answer) => self.postMessage(answer);
  self.onmessage = async ({ data }: MessageEvent<Question>): Promise<void> => {
    if (data.kind === 'module') {
      engine = instantiate(data.module);
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
        say({ id, end: true, result: call(e, data.method, data.args) });
      }
    } catch (error) {
      say({ id, error: error instanceof Error ? error.message : String(error) });
    } finally {
      stopped.delete(id);
    }
  };
}
