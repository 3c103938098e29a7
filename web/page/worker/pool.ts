// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine for the page: workers, each with an instance of its own. Calls go to the first ones, heads of a call divided
// among them; long work goes to the last, so that no call waits for it.

import { signal } from '@preact/signals';

import relaxedUrl from '@wasm/foveate-relaxed.wasm?url';
import strictUrl from '@wasm/foveate-strict.wasm?url';

import { EngineError, fetchModule, hasRelaxedSimd, type Inputs, type Options, type Output } from '../../engine/engine';
import type { Answer, Arguments, LongJob, LongJobs, LongKind, Method, Question, Returned } from './protocol';

/// Why there is no engine; undefined while all is well.
export const failure = signal<string | undefined>(undefined);

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  progress?: (answer: Answer) => void;
}

let next = 1;

class Thread {
  private readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  private readonly waiting = new Map<number, Waiting>();

  constructor() {
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.take(data);
    this.worker.onerror = (event) => this.fail(event.message || 'the worker could not be started');
  }

  give(module: WebAssembly.Module): void {
    this.post({ kind: 'module', module });
  }
  ask(question: Exclude<Question, { kind: 'module' }>, progress?: (answer: Answer) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.set(question.id, progress ? { resolve, reject, progress } : { resolve, reject });
      this.post(question);
    });
  }
  stop(id: number): void {
    this.post({ kind: 'stop', id });
  }

  private post(question: Question): void {
    this.worker.postMessage(question);
  }
  private take(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    if (!waiting) return;
    if (answer.error === undefined && !answer.end) {
      waiting.progress?.(answer);
      return;
    }
    this.waiting.delete(answer.id);
    if (answer.error === undefined) waiting.resolve(answer.result);
    else waiting.reject(new EngineError(answer.error));
  }
  private fail(message: string): void {
    failure.value = message;
    for (const { reject } of this.waiting.values()) reject(new EngineError(message));
    this.waiting.clear();
  }
}

const CALLERS = Math.max(1, Math.min(4, (globalThis.navigator?.hardwareConcurrency ?? 2) - 1));

/// The threads, once the module is there: CALLERS for calls, one more for long work.
async function start(): Promise<Thread[]> {
  const module = await fetchModule({ strict: strictUrl, relaxed: relaxedUrl });
  return Array.from({ length: CALLERS + 1 }, () => {
    const thread = new Thread();
    thread.give(module);
    return thread;
  });
}

const threads = start();
threads.catch((error: unknown) => (failure.value = error instanceof Error ? error.message : String(error)));

export const relaxed = hasRelaxedSimd();

async function thread(i: number): Promise<Thread> {
  const all = await threads;
  return all[i % CALLERS] as Thread;
}

export async function call<M extends Method>(method: M, ...args: Arguments<M>): Promise<Returned<M>> {
  return ask(method, args, 0) as Promise<Returned<M>>;
}
async function ask(method: Method, args: readonly unknown[], i: number): Promise<unknown> {
  return (await thread(i)).ask({ kind: 'call', id: next++, method, args });
}

/// One head of a tensor, as a view: whoever takes it copies what it needs.
function head<T extends Inputs<Float32Array>['q']>(tensor: T, h: number): Inputs<Float32Array>['q'] {
  const { data, shape } = tensor;
  const [b, heads, n, d] = shape;
  const stride = tensor.stride ?? [heads * n * d, n * d, d, 1];
  return { data: data.subarray(h * stride[1]), shape: [b, 1, n, d], stride };
}

/// Attention of several heads, each in a worker of its own as far as they reach: its outputs and its scores, one entry a
/// head. Options that differ from head to head are not taken.
export function attentionByHead(
  inputs: Inputs<Float32Array>,
  options: Options,
  outputs: readonly Output[],
): Promise<{ o?: Float32Array; lse?: Float32Array; weights?: Float32Array }[]> {
  const each = Array.from({ length: inputs.q.shape[1] }, (_, h) =>
    ask('attention', [headsOf(inputs, h), options, outputs], h),
  );
  return Promise.all(each) as Promise<{ o?: Float32Array; lse?: Float32Array; weights?: Float32Array }[]>;
}
export function scoresByHead(inputs: Inputs<Float32Array>, options: Options): Promise<Float32Array[]> {
  const each = Array.from({ length: inputs.q.shape[1] }, (_, h) => ask('scores', [headsOf(inputs, h), options], h));
  return Promise.all(each) as Promise<Float32Array[]>;
}
function headsOf({ q, k, v }: Inputs<Float32Array>, h: number): Inputs<Float32Array> {
  return { q: head(q, h), k: head(k, h), v: head(v, h) };
}

export interface Running<K extends LongKind> {
  /// Resolves when it is done or stopped; rejects with the engine's line.
  finished: Promise<void>;
  stop(): void;
  kind: K;
}

/// Starts long work; `progress` hears of it about forty times a second.
export function run<K extends LongKind>(
  kind: K,
  options: LongJobs[K]['options'],
  progress: (result: LongJobs[K]['result'], done: number, total: number) => void,
): Running<K> {
  const id = next++;
  const heard = ({ result, done, total }: Answer): void =>
    progress(result as LongJobs[K]['result'], done ?? 0, total ?? 0);
  const job = { kind, options } as LongJob;
  const last = threads.then((all) => all[CALLERS] as Thread);
  const finished = last.then((thread) => thread.ask({ kind: 'long', id, job }, heard)).then(() => undefined);
  return { kind, finished, stop: () => void last.then((thread) => thread.stop(id)) };
}
