// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine with gradients, for the parts that need them: one thread, with a module of its own.

import relaxedUrl from '@wasm/foveate-gradients-relaxed.wasm?url';
import strictUrl from '@wasm/foveate-gradients-strict.wasm?url';

import { fetchModule } from '../../engine/engine';
import { Thread } from './thread';

let begun: Promise<Thread> | undefined;

export function thread(): Promise<Thread> {
  begun ??= fetchModule({ strict: strictUrl, relaxed: relaxedUrl }).then(
    (module) => new Thread(new Worker(new URL('./gradient_worker.ts', import.meta.url), { type: 'module' }), module),
  );
  begun.catch(() => (begun = undefined)); // the next to ask tries again
  return begun;
}
