// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One instance of a module with one memory; it runs in the thread it was made in: one a worker.

import { EngineError } from './arguments.js';
import { Arena, type Core } from './memory.js';

const ENGINE_NAMES: Readonly<Record<string, string>> = {
  window_left: 'window',
  window_right: 'window',
  alibi_slopes: 'alibiSlopes',
  q_lengths: 'qLengths',
  kv_lengths: 'kvLengths',
  q_offset: 'qOffset',
  kv_offset: 'kvOffset',
  d_o: 'dO',
};

/// The engine's line with arguments named as they are here.
function renamed(line: string): string {
  return line.replace(/\b\w+\b/g, (name) => ENGINE_NAMES[name] ?? name);
}

export abstract class Instance<E extends Core> {
  /// Whether multiply-adds are relaxed ones.
  readonly relaxed: boolean;

  protected constructor(protected readonly exports: E) {
    exports._initialize();
    this.relaxed = exports.fv_relaxed() === 1;
  }

  protected static async exportsOf<E extends Core>(module: WebAssembly.Module): Promise<E> {
    const instance = await WebAssembly.instantiate(module, {});
    return instance.exports as unknown as E;
  }

  /// The engine's line about what it refused last.
  lastError(): EngineError {
    return new EngineError(renamed(this.text(this.exports.fv_message())));
  }

  get version(): string {
    return this.text(this.exports.fv_version());
  }

  private text(pointer: number): string {
    const bytes = new Uint8Array(this.exports.memory.buffer, pointer);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  /// Runs `work` with an arena that is freed afterwards, whatever happens.
  scoped<T>(work: (arena: Arena) => T): T {
    const arena = new Arena(this.exports);
    try {
      return work(arena);
    } finally {
      arena.free();
    }
  }

  protected check(code: number): void {
    if (code !== 0) throw this.lastError();
  }
}
