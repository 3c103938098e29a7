// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// One instance of a module with one memory; it runs in the thread it was made in: one a worker.

import { Arena, type Core, EngineError } from './memory.js';

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
    return new EngineError(this.text(this.exports.fv_message()));
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
