// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine for the page: workers, each with an instance of its own. Calls go to the first ones, heads of a call divided
// among them; long work goes to the last, so that no call waits for it.

import { signal } from '@preact/signals';

import relaxedUrl from '@wasm/foveate-relaxed.wasm?url';
import strictUrl from '@wasm/foveate-strict.wasm?url';

import { fetchModule, hasRelaxedSimd, type Inputs, type Options, type Output } from '../../engine/engine';
import type { Arguments, LongKind, Method, OptionsOf, ResultOf, Returned } from './protocol';
import { type Running, start, Thread } from './thread';

export type { Running } from './thread';

/// Why there is no engine; undefined while all is well.
export const failure = signal<string | undefined>(undefined);

const CALLERS = Math.max(1, Math.min(4, (globalThis.navigator?.hardwareConcurrency ?? 2) - 1));

/// The threads, once the module is there: CALLERS for calls, one more for long work.
async function begin(): Promise<Thread[]> {
  const module = await fetchModule({ strict: strictUrl, relaxed: relaxedUrl });
  return Array.from({ length: CALLERS + 1 }, () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    return new Thread(worker, module, (message) => (failure.value = message));
  });
}

const threads = begin();
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
  return (await thread(i)).call(method, args);
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

/// Starts long work: that with gradients in a thread of its own, which is fetched by whoever asks first.
export function run<K extends LongKind>(
  kind: K,
  options: OptionsOf<K>,
  progress: (result: ResultOf<K>, done: number, total: number) => void,
): Running<K> {
  const gradients = kind === 'sensitivity' || kind === 'training';
  const last = gradients
    ? import('./gradients').then(({ thread }) => thread())
    : threads.then((all) => all[CALLERS] as Thread);
  return start(last, kind, options, progress);
}
