// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the page asks of the engine beside attention itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { api, engine, skips } from './load.mjs';

const near = (x, y, within, what) =>
  assert.ok(Math.abs(x - y) <= within, `${what}: ${x}, expected ${y} within ${within}`);
const packed = (numbers, shape) => ({ data: Float32Array.from(numbers), shape });

function finish(work, total, count) {
  let done = 0;
  while (done < total) {
    const next = work.step(count);
    assert.ok(next > done);
    done = next;
  }
  assert.equal(done, total);
}

for (const module of ['strict', 'relaxed']) {
  test(`the page's engine, ${module}`, { skip: skips(module) }, async (t) => {
    const foveate = await engine(module);
    const q = packed([1, 2, 3, 4, -1, 0.5], [1, 1, 3, 2]);
    const k = packed([0.5, 1, -1, 2, 3, 0, 1, 1], [1, 1, 4, 2]);
    const v = packed([1, 2, 3, 4], [1, 1, 4, 1]);

    await t.test('the module imports nothing', async () => {
      await assert.doesNotReject(engine(module)); // instantiated with no imports
    });

    await t.test('bare scores are q . k', () => {
      const want = [2.5, 3, 3, 3, 5.5, 5, 9, 7, 0, 2, -3, -0.5];
      assert.deepEqual([...foveate.scores({ q, k, v }, { scale: 1 })], want);
    });

    await t.test('scores, their exps and sums make the weights of attention', () => {
      for (const options of [
        {},
        { causal: true },
        { window: [1, 0] },
        { softcap: 2, alibiSlopes: Float32Array.of(0.5) },
        { mask: { data: Uint8Array.of(1, 0, 1, 1), shape: [1, 1, 1, 4] } },
      ]) {
        const scores = foveate.scores({ q, k, v }, options);
        const { weights } = foveate.attention({ q, k, v }, options, ['weights']);
        for (let row = 0; row < 3; ++row) {
          const s = foveate.softmax(scores.slice(4 * row, 4 * row + 4));
          for (let j = 0; j < 4; ++j) {
            near(s.weights[j], weights[4 * row + j], 2e-7, `weight ${row} ${j}`);
            near(s.exps[j] / s.sum, weights[4 * row + j], 2e-7, `exp / sum ${row} ${j}`);
            assert.equal(weights[4 * row + j] === 0, scores[4 * row + j] === -Infinity);
          }
        }
      }
    });

    await t.test('one more in a score multiplies its share by e; temperature divides', () => {
      const { exps } = foveate.softmax(Float32Array.of(1, 2, 0));
      near(exps[1] / exps[0], Math.E, 1e-6, 'e');
      const hot = foveate.softmax(Float32Array.of(1, 2, 0), 2);
      near(hot.weights[1] / hot.weights[0], Math.exp(0.5), 1e-6, 'e^(1/2)');
      assert.throws(() => foveate.softmax(Float32Array.of(1), 0), /^EngineError: temperature: 0;/);
    });

    await t.test('dot products, lengths and angles', () => {
      const { dots, lengths, cosines, degrees, queryLength } = foveate.compare(
        Float32Array.of(3, 4),
        Float32Array.of(6, 8, -4, 3, -3, -4, 0, 0),
      );
      assert.deepEqual([...dots], [50, 0, -25, 0]);
      assert.deepEqual([...lengths], [10, 5, 5, 0]);
      assert.equal(queryLength, 5);
      assert.deepEqual([...cosines], [1, 0, -1, NaN]);
      assert.deepEqual([...degrees], [0, 90, 180, NaN]);
    });

    await t.test('rankings: largest first, ties as they lie, NaN last', () => {
      assert.deepEqual([...foveate.rank(Float32Array.of(1, NaN, 3, 1, -Infinity, 7))], [5, 2, 0, 3, 4, 1]);
    });

    await t.test('products of matrices, and their terms', () => {
      assert.deepEqual([...foveate.product(q.data, k.data.slice(0, 4), [3, 2, 2])], [-1.5, 5, -2.5, 11, -1, 0]);
      assert.deepEqual([...foveate.terms(Float32Array.of(1, 2, 3), Float32Array.of(4, -1, 0.5))], [4, -2, 1.5]);
    });

    await t.test('scores of random vectors have variance d_k, d_k / divisor^2 after division', () => {
      for (const dK of [1, 16, 64, 256]) {
        const samples = 100_000;
        const root = Math.sqrt(dK);
        const histogram = foveate.histogram({
          dK,
          samples,
          seed: 7,
          bins: 80,
          divisors: [1, root, dK],
          ranges: [8 * root, 8, 8 / root],
        });
        finish(histogram, samples, 30_000);
        [1, root, dK].forEach((divisor, i) => {
          const { counts, below, above, mean, variance } = histogram.read(i);
          const total = counts.reduce((x, y) => x + y, below + above);
          assert.equal(total, samples);
          const deviation = root / divisor;
          near(mean / deviation, 0, 0.02, 'mean');
          // Kurtosis 3 + 6 / d_k: five standard errors of the variance, 1.21 for scores in groups.
          near(variance / deviation ** 2, 1, 5 * Math.sqrt(((2 + 6 / dK) * 1.21) / samples), `variance, d_k ${dK}`);
        });
        histogram.free();
      }
    });

    await t.test('a seed gives the same scores whatever the steps', () => {
      for (const dK of [16, 256]) {
        const [few, many] = [7000, 100].map((count) => {
          const histogram = foveate.histogram({ dK, samples: 7000, seed: 5, bins: 80, divisors: [1], ranges: [80] });
          finish(histogram, 7000, count);
          const read = histogram.read(0);
          histogram.free();
          return read;
        });
        assert.deepEqual(few, many);
        assert.equal(few.deviation, Math.sqrt(few.variance));
      }
    });

    await t.test('components are standard normal', () => {
      // With one component q k / 1, the product of two normals: P(|q k| < 1) = 0.7910, by quadrature
      const histogram = foveate.histogram({ dK: 1, samples: 400_000, seed: 3, bins: 1, divisors: [1], ranges: [1] });
      finish(histogram, 400_000, 100_000);
      near(histogram.read(0).counts[0] / 400_000, 0.791, 0.004, 'share');
      histogram.free();
    });

    await t.test('unscaled softmax saturates as d_k grows, scaled does not', () => {
      const median = (dK, divisor) => {
        const work = foveate.saturation({ dK, keys: 64, draws: 400, seed: 1, divisor });
        finish(work, 400, 150);
        const { largest, norms } = work.read([50]);
        work.free();
        return { largest: largest[0], norm: norms[0] };
      };
      for (const [dK, largest, low, high] of [
        [16, 0.53, 0.2, 0.4],
        [64, 0.87, 0.1, 0.3],
        [256, 0.992, 0.002, 0.05],
        [1024, 1, 0, 0.001],
      ]) {
        const bare = median(dK, 1);
        near(bare.largest, largest, 0.06, `largest weight, d_k ${dK}`);
        assert.ok(bare.norm >= low && bare.norm <= high, `norm ${bare.norm}, d_k ${dK}`);
        const scaled = median(dK, Math.sqrt(dK));
        near(scaled.largest, 0.095, 0.02, `largest weight scaled, d_k ${dK}`);
        near(scaled.norm, 0.18, 0.02, `norm scaled, d_k ${dK}`);
      }
    });

    await t.test('one seed, one sequence', () => {
      const draw = (seed) => {
        const work = foveate.saturation({ dK: 8, keys: 4, draws: 5, seed, divisor: 1 });
        finish(work, 5, 2);
        const { norms } = work.read([0, 25, 50, 75, 100]);
        work.free();
        return [...norms];
      };
      assert.deepEqual(draw(5), draw(5));
      assert.notDeepEqual(draw(5), draw(6));
    });

    await t.test('wrong arguments are refused in a line', () => {
      const nothing = { dK: 0, keys: 1, draws: 1, seed: 1, divisor: 1 };
      assert.throws(() => foveate.saturation(nothing), /d_k: 0; expected 1 to/);
      assert.throws(() => foveate.attention({ q, k: packed([1, 2, 3], [1, 1, 1, 3]), v }), api.EngineError);
    });

    await t.test('nothing is kept: a thousand calls do not grow the memory', () => {
      const size = () => foveate.exports.memory.buffer.byteLength;
      const big = packed(new Float32Array(64 * 256), [1, 1, 256, 64]);
      const call = () => foveate.attention({ q: big, k: big, v: big }, {}, ['o', 'weights']);
      call();
      const before = size();
      for (let i = 0; i < 1000; ++i) call();
      assert.equal(size(), before);
    });

    await t.test('the benchmark counts 4 n^2 d operations a run', () => {
      const benchmark = foveate.benchmark(128, 16);
      assert.equal(benchmark.step(3), 3 * 4 * 128 * 128 * 16);
      benchmark.free();
    });
  });
}
