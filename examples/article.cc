// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Scaled dot-product attention on random arrays, with and without the scaling: what dividing by sqrt(d_k) is for, in
// six remarks. Prints the figures that NumPy gives for seed 42.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "foveate/attention.h"

namespace {

using Array = std::vector<double>;

constexpr int64_t kBatch = 2, kHeads = 4, kLength = 8, kDim = 16;
constexpr int64_t kRows = kBatch * kHeads * kLength;

// np.random.seed and np.random.randn: the same bits (Mersenne Twister, Marsaglia's polar method).
class Randn {
 public:
  explicit Randn(uint32_t seed) : bits_(seed) {}

  Array array(int64_t size) {
    Array values(static_cast<size_t>(size));
    for (double& value : values) value = next();
    return values;
  }

 private:
  double uniform() {
    const auto high = static_cast<double>(bits_() >> 5), low = static_cast<double>(bits_() >> 6);
    return (high * 0x1p26 + low) * 0x1p-53;
  }

  double next() {
    if (spare_) return *std::exchange(spare_, std::nullopt);
    double x, y, r;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      r = x * x + y * y;
    } while (r >= 1 || r == 0);
    const double factor = std::sqrt(-2 * std::log(r) / r);
    spare_ = factor * x;
    return factor * y;
  }

  std::mt19937 bits_;
  std::optional<double> spare_;
};

struct Result {
  Array o = Array(kRows * kDim), weights = Array(kRows * kLength), lse = Array(kRows);
};

Result attend(const Array& q, const Array& k, const Array& v, const foveate::AttentionOptions& options) {
  const auto input = [](const Array& a) { return foveate::view(a.data(), kBatch, kHeads, kLength, kDim); };
  Result result;
  // Remark 1. One call scores every query against every key, in all heads of all sequences. The scores stay in
  // registers and cache: n x n numbers never reach memory.
  foveate::AttentionOutputs outputs;
  // Remark 2. o is the point of it all: each row a mean of the rows of v, by the weights of that query. The weights
  // themselves, which do take n x n numbers, are written because they are asked for here.
  outputs.o = foveate::view(result.o.data(), kBatch, kHeads, kLength, kDim);
  outputs.weights = foveate::view(result.weights.data(), kBatch, kHeads, kLength, kLength);
  outputs.lse = foveate::view(result.lse.data(), kBatch, kHeads, kLength, 1);
  // Remark 3. exp overflows from 710 on. So the largest score of a row is taken off all of its scores first; it cancels
  // between numerator and denominator. The engine does so as it goes, with the largest score so far.
  const foveate::Status status = foveate::attention(input(q), input(k), input(v), outputs, options);
  if (!status.ok()) {
    std::fprintf(stderr, "attention: %s\n", status.message());
    std::exit(1);
  }
  return result;
}

double variance(const Array& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return squares / count;
}

// Weights are exp(score - lse), so this is the score again.
Array scores(const Result& result) {
  Array s(result.weights.size());
  for (size_t i = 0; i < s.size(); ++i) s[i] = std::log(result.weights[i]) + result.lse[i / kLength];
  return s;
}

double mean_largest(const Array& weights) {
  double sum = 0;
  for (auto row = weights.begin(); row != weights.end(); row += kLength) sum += *std::max_element(row, row + kLength);
  return sum / kRows;
}

bool rows_sum_to_one(const Array& weights) {
  for (auto row = weights.begin(); row != weights.end(); row += kLength) {
    double sum = 0;
    for (auto weight = row; weight != row + kLength; ++weight) sum += *weight;
    if (!(std::abs(sum - 1) <= 1e-8)) return false;
  }
  return true;
}

}  // namespace

int main() {
  Randn random(42);
  const Array q = random.array(kRows * kDim);
  const Array k = random.array(kRows * kDim);
  const Array v = random.array(kRows * kDim);

  foveate::AttentionOptions unscaled;
  unscaled.scale = 1;
  const Result raw = attend(q, k, v, unscaled);
  // Remark 4. Left alone, `scale` is 1 / sqrt(d_k): a factor c multiplies the variance by c * c, so this one turns a
  // variance of d_k into 1.
  const Result scaled = attend(q, k, v, {});

  // Remark 5. Theory, put to the test: d_k products of independent factors of variance 1 add up to a variance of d_k.
  std::printf("variance of the raw scores:    %.2f (theory: d_k = %d)\n", variance(scores(raw)),
              static_cast<int>(kDim));
  std::printf("variance of the scaled scores: %.2f (theory: 1)\n", variance(scores(scaled)));
  // Remark 6. Spread-out scores let one key take nearly everything. Scaling gives the others a share, and softmax a
  // slope to learn by.
  std::printf("mean largest weight, unscaled: %.3f\n", mean_largest(raw.weights));
  std::printf("mean largest weight, scaled:   %.3f\n", mean_largest(scaled.weights));
  std::printf("rows sum to one:               %s\n", rows_sum_to_one(scaled.weights) ? "true" : "false");
}
