// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Long work that follows its settings: as they change it starts anew, and what was drawn last stays until the next has
// something to show.

import { signal } from '@preact/signals';

import { run, type Running } from '../worker/pool';
import type { LongKind, OptionsOf, ResultOf } from '../worker/protocol';

export interface Drawn<K extends LongKind, S> {
  readonly settings: S;
  readonly result: ResultOf<K>;
  readonly done: number;
  readonly total: number;
}

export class Work<K extends LongKind, S> {
  readonly drawn = signal<Drawn<K, S> | undefined>(undefined);
  readonly running = signal(false);
  readonly error = signal<string | undefined>(undefined);

  private job: Running<K> | undefined;
  private shown = false; // something of the job
  private next: S | undefined;

  /// `enough` of it done is worth showing.
  constructor(
    private readonly kind: K,
    private readonly options: (settings: S) => OptionsOf<K>,
    private readonly enough: (settings: S) => number,
  ) {}

  /// However fast settings follow each other, each job that is begun comes to show something.
  draw(settings: S): void {
    if (this.job && !this.shown) {
      this.next = settings;
      return;
    }
    const last = this.drawn.peek();
    const there = last?.done === last?.total && JSON.stringify(last?.settings) === JSON.stringify(settings);
    this.stop();
    if (!there) this.start(settings);
  }

  stop(): void {
    this.next = undefined;
    this.job?.stop();
  }

  private start(settings: S): void {
    this.shown = false;
    this.running.value = true;
    this.error.value = undefined;
    const job = run(this.kind, this.options(settings), (result, done, total) => {
      if (this.job !== job || done < this.enough(settings)) return;
      this.shown = true;
      this.drawn.value = { settings, result, done, total };
      if (this.next !== undefined) this.draw(this.next);
    });
    this.job = job;
    const end = (error?: string): void => {
      if (this.job !== job) return;
      this.job = undefined;
      this.running.value = false;
      this.error.value = error;
      if (this.next !== undefined) this.draw(this.next);
    };
    job.finished.then(
      () => end(),
      (error: unknown) => end(error instanceof Error ? error.message : String(error)),
    );
  }
}
