// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0

import type { Instance } from '../engine/instance.js';
import type { Core } from '../engine/memory.js';

/** What computes. */
export interface Info {
  /** Of foveate: "0.1.0". */
  readonly version: string;
  /** Relaxed multiply-adds may be fused, as browser and processor have it: a little faster, and other last bits. */
  readonly simd: 'strict' | 'relaxed';
}

export function infoOf(engine: Instance<Core>): Info {
  return { version: engine.version, simd: engine.relaxed ? 'relaxed' : 'strict' };
}
