// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A worker, and who waits for its answers.

import { EngineError } from '../../engine/engine';
import type { Answer, Job, LongKind, OptionsOf, Question, ResultOf } from './protocol';

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  progress?: (answer: Answer) => void;
}

let next = 1;

export class Thread {
  private readonly waiting = new Map<number, Waiting>();

  /// `failed` hears of a worker that could not be started, or came to an end.
  constructor(
    private readonly worker: Worker,
    module: WebAssembly.Module,
    private readonly failed: (message: string) => void = () => undefined,
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.take(data);
    this.worker.onerror = (event) => this.fail(event.message || 'the worker could not be started');
    this.post({ kind: 'module', module });
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    return this.ask({ kind: 'call', id: next++, method, args } as Question & { id: number });
  }
  long(job: Job<LongKind>, progress: (answer: Answer) => void): { id: number; end: Promise<unknown> } {
    const id = next++;
    return { id, end: this.ask({ kind: 'long', id, job }, progress) };
  }
  stop(id: number): void {
    this.post({ kind: 'stop', id });
  }

  private ask(question: Question & { id: number }, progress?: (answer: Answer) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.set(question.id, progress ? { resolve, reject, progress } : { resolve, reject });
      this.post(question);
    });
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
    this.failed(message);
    for (const { reject } of this.waiting.values()) reject(new EngineError(message));
    this.waiting.clear();
  }
}

export interface Running<K extends LongKind> {
  /// Resolves when it is done or stopped; rejects with the engine's line.
  finished: Promise<void>;
  stop(): void;
  kind: K;
}

/// Starts long work in a thread; `progress` hears of it about forty times a second.
export function start<K extends LongKind>(
  thread: Promise<Thread>,
  kind: K,
  options: OptionsOf<K>,
  progress: (result: ResultOf<K>, done: number, total: number) => void,
): Running<K> {
  const heard = ({ result, done, total }: Answer): void => progress(result as ResultOf<K>, done ?? 0, total ?? 0);
  const begun = thread.then((there) => ({ there, ...there.long({ kind, options } as Job<LongKind>, heard) }));
  return {
    kind,
    finished: begun.then(({ end }) => end).then(() => undefined),
    stop: () => void begun.then(({ there, id }) => there.stop(id)).catch(() => undefined), // `finished` says why
  };
}
