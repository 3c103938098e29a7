// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The engine with gradients: random draws, and two models that learn.

import { GradientEngine } from '../../engine/gradients';
import type { OptionsOf } from './protocol';
import { inRuns, inSteps, type Say, serve } from './serve';

async function training(e: GradientEngine, id: number, options: OptionsOf<'training'>, say: Say): Promise<void> {
  const work = e.training(options);
  const each = <T>(of: (model: 0 | 1) => T): [T, T] => [of(0), of(1)];
  try {
    const checks = each((model) => work.check(model, options.checked));
    const tell = (done: number) =>
      say({
        id,
        done,
        total: options.steps,
        result: { courses: each((model) => work.read(model, options.window)), checks },
      });
    await inSteps(id, options.steps, 1, (count) => work.step(count), tell);
  } finally {
    work.free();
  }
}

serve<GradientEngine>({
  instantiate: (module) => GradientEngine.instantiate(module),
  call(_, method) {
    throw new Error(`${method}: not here`);
  },
  async long(e, id, job, say) {
    if (job.kind === 'sensitivity') return inRuns(id, job.options, (options) => e.sensitivity(options), say);
    if (job.kind === 'training') return training(e, id, job.options, say);
    throw new Error(`${job.kind}: not here`);
  },
});
