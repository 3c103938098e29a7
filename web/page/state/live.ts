// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Values that the engine computes from others: computed signals whose answer takes a moment.

import { effect, type ReadonlySignal, signal } from '@preact/signals';

export interface Live<T> {
  /// The last answer; it stays while the next is under way. undefined before the first.
  readonly value?: T;
  /// The engine's line, where it refused.
  readonly error?: string;
}

/// `compute` reads signals before its first await, and is called again whenever one of them changes, as long as somebody
/// looks at the result. Answers that were overtaken are dropped.
export function live<T>(compute: () => Promise<T>): ReadonlySignal<Live<T>> {
  let latest = 0;
  let stop: (() => void) | undefined;
  const result = signal<Live<T>>(
    {},
    {
      watched() {
        stop = effect(() => {
          const turn = ++latest;
          compute().then(
            (value) => {
              if (turn === latest) result.value = { value };
            },
            (error: unknown) => {
              const line = error instanceof Error ? error.message : String(error);
              if (turn === latest) result.value = { ...result.peek(), error: line };
            },
          );
        });
      },
      unwatched() {
        stop?.();
      },
    },
  );
  return result;
}
