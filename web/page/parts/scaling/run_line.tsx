// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Under a figure that is drawn at random: with what it was drawn, how far it is, and the way to stop it or draw again.

import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';

import { get, set } from '../../state/store';
import { words } from '../../words';
import { seed } from './settings';

interface Runs {
  readonly drawn: ReadonlySignal<{ readonly done: number; readonly total: number } | undefined>;
  readonly running: ReadonlySignal<boolean>;
  stop(): void;
}

export interface RunLineProps {
  readonly work: Runs;
  readonly also?: Runs; // runs and stops with it
  readonly children: ComponentChildren; // the settings of what is shown
}

export function RunLine({ work, also, children }: RunLineProps): JSX.Element {
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
