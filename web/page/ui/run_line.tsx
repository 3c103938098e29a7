// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Under a figure that is drawn at random: with what it was drawn, how far it is, and the way to stop it or draw again.

import '../style/run_line.css';

import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';

import type { NumberField } from '../state/field';
import { get, set } from '../state/store';
import { words } from '../words';

export interface Runs {
  readonly drawn: ReadonlySignal<{ readonly done: number; readonly total: number } | undefined>;
  readonly running: ReadonlySignal<boolean>;
  stop(): void;
}

export interface RunLineProps {
  readonly work: Runs;
  readonly seed: NumberField; // the next one is drawn by
  readonly also?: Runs; // runs and stops with it
  readonly children: ComponentChildren; // the settings of what is shown
}

export function RunLine({ work, seed, also, children }: RunLineProps): JSX.Element {
  const w = words();
  const drawn = work.drawn.value;
  const running = work.running.value || also?.running.value === true;
  const stop = (): void => {
    work.stop();
    also?.stop();
  };
  const again = (): void => set(seed, get(seed) === seed.max ? seed.min : get(seed) + 1);
  return (
    <div class="run-line">
      <progress
        class={running ? '' : 'idle'}
        aria-label={w.ui.waiting}
        max={drawn?.total ?? 1}
        value={drawn?.done ?? 0}
      />
      <p>{children}</p>
      <button type="button" class="quiet" disabled={!running} onClick={stop}>
        {w.ui.stop}
      </button>
      <button type="button" onClick={again}>
        {w.ui.again}
      </button>
    </div>
  );
}

/// Before its end.
export function stopped({ done, total }: { readonly done: number; readonly total: number }, running: boolean): boolean {
  return done < total && !running;
}

export function count(n: number): string {
  return n.toLocaleString('en-US');
}
