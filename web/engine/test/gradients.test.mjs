// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The modules with gradients: what reaches a query, and two models that learn.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { api, gradientEngine, skips } from './load.mjs';

const between = (x, low, high, what) => assert.ok(x >= low && x <= high, `${what}: ${x}, expected ${low} to ${high}`);

for (const module of ['strict', 'relaxed']) {
  test(`gradients, ${module}`, { skip: skips(module) }, async (t) => {
    const foveate = await gradientEngine(module);

    const sensitivity = (options, percentiles = [5, 50, 95]) => {
      const work = foveate.sensitivity({ keys: 64, draws: 400, seed: 1, divisor: 1, ...options });
      while (work.step(150) < (options.draws ?? 400));
      const read = work.read(percentiles);
      work.free();
      return read;
    };
    const train = (options, counts = [20]) => {
      const work = foveate.training({ seed: 1, rate: 0.001, divisors: [1, Math.sqrt(options.dK)], ...options });
      for (let i = 0, done = 0; done < options.steps; ++i) done = work.step(counts[i % counts.length]);
      return work;
    };
    const courses = (options, counts) => {
      const work = train(options, counts);
      const read = [work.read(0, 20), work.read(1, 20)];
      work.free();
      return read;
    };
    const stepsTo = ({ right }) => 20 * (right.findIndex((share) => share >= 0.9) + 1 || Infinity);

    await t.test('the backward pass agrees with finite differences, however little is left of the gradient', () => {
      for (const dK of [1, 4, 64, 1024]) {
        for (const divisor of [1, Math.sqrt(dK)]) {
          const { check } = sensitivity({ dK, divisor, seed: 2 });
          assert.equal(check.entries, 40 * 4 * 64); // every tenth draw, four components, all keys
          // float32 beside float64: scores up to some 100 have errors of 1e-5, which weights take over
          between(check.largest, 1e-9, 1e-3, `d_k ${dK}, divisor ${divisor}`);
        }
      }
    });

    await t.test('scaled, rows are alike; unscaled, they are next to nothing, or much', () => {
      for (const dK of [64, 256, 1024]) {
        const [low, median, high] = sensitivity({ dK, divisor: Math.sqrt(dK) }).norms;
        between(low, 0.14, 0.17, 'scaled, low');
        between(median, 0.17, 0.19, 'scaled, median');
        between(high, 0.21, 0.26, 'scaled, high');
      }
      const [low, median, high] = sensitivity({ dK: 256 }).norms;
      between(low, 1e-9, 1e-4, 'low');
      between(median, 0.1, 1, 'median');
      between(high, 6, 9, 'high');
    });

    await t.test('with one component it is the derivative by hand', () => {
      // Two keys: ||d p / d q|| = sqrt(2) p (1 - p) |k_1 - k_2| is 0 only where the keys are one, and 0.35 |k_1 - k_2| at most.
      const [least, most] = sensitivity({ dK: 1, keys: 2 }, [0, 100]).norms;
      assert.ok(least > 0);
      between(most, 0.5, 0.36 * 9, 'two keys');
      const one = sensitivity({ dK: 8, keys: 1 }, [0, 100]); // whose weight is 1 whatever the query
      assert.deepEqual([...one.norms], [0, 0]);
      assert.equal(one.check.largest, 0);
    });

    await t.test('one seed, one sequence', () => {
      const draw = (seed) => [...sensitivity({ dK: 8, keys: 4, draws: 20, seed }).norms];
      assert.deepEqual(draw(5), draw(5));
      assert.notDeepEqual(draw(5), draw(6));
    });

    await t.test('the whole model’s gradient agrees with finite differences, at first and while it learns', () => {
      for (const dK of [1, 4, 16, 64]) {
        for (const steps of [1, 60]) {
          const work = train({ dK, steps });
          for (const model of [0, 1]) {
            const { largest, entries } = work.check(model, 40);
            assert.ok(entries >= 5 * 32, `${entries} entries`);
            between(largest, 1e-9, 2e-4, `d_k ${dK}, model ${model}, after ${steps}`);
          }
          work.free();
        }
      }
    });

    await t.test('models differ in the divisor alone: with the same one they are one', () => {
      const [a, b] = courses({ dK: 16, steps: 60, divisors: [4, 4] });
      assert.deepEqual(a, b);
      const [c] = courses({ dK: 16, steps: 60, divisors: [1, 4] });
      assert.notDeepEqual(a, c);
    });

    await t.test('a seed gives the same course whatever the steps', () => {
      const [few] = courses({ dK: 8, steps: 60 }, [1]);
      assert.deepEqual(courses({ dK: 8, steps: 60 }, [7, 50])[0], few);
      assert.notDeepEqual(courses({ dK: 8, steps: 60, seed: 2 })[0], few);
    });

    await t.test('points are means over their windows', () => {
      const work = train({ dK: 4, steps: 45 });
      const [each, wide] = [work.read(1, 1), work.read(1, 20)];
      work.free();
      assert.equal(each.loss.length, 45);
      assert.equal(wide.loss.length, 2); // the third is not whole
      for (const name of ['loss', 'right', 'largest']) {
        const mean = each[name].slice(20, 40).reduce((sum, x) => sum + x / 20, 0);
        assert.ok(Math.abs(wide[name][1] - mean) < 1e-12, name);
      }
    });

    await t.test('both learn to recall; unscaled, d_k 64 takes longer, d_k 4 does not', () => {
      for (const [dK, low, high] of [
        [4, 0.8, 1.25],
        [64, 1.25, 4],
      ]) {
        const [unscaled, scaled] = courses({ dK, steps: 800 });
        for (const { loss, right } of [unscaled, scaled]) {
          assert.ok(loss[0] > 2.5, `loss at first ${loss[0]}`); // ln 16 = 2.77 would be guessing
          assert.ok(right.at(-1) > 0.99, `right at last ${right.at(-1)}`);
        }
        between(stepsTo(unscaled) / stepsTo(scaled), low, high, `d_k ${dK}`);
        assert.ok(unscaled.largest[0] > scaled.largest[0]);
      }
    });

    await t.test('wrong arguments are refused in a line', () => {
      assert.throws(() => sensitivity({ dK: 4, divisor: 0 }), /divisor: 0; expected a number above 0/);
      assert.throws(() => train({ dK: 0, steps: 1 }), /d_k: 0; expected 1 to 1024/);
      assert.throws(() => train({ dK: 4, steps: 1, rate: -1 }), api.EngineError);
    });
  });
}
