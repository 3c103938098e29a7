// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/experiment.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cli/errors.h"
#include "cli/legacy_random.h"
#include "foveate/attention.h"

namespace foveate::cli {
namespace {

using Array = std::vector<double>;

struct Inputs {
  Array q, k, v;
};

// All of one call's rows of weights, and what was divided out of them.
struct Attended {
  Array weights;
  Array lse;
};

Array randn(LegacyRandom& random, size_t size) {
  Array values(size);
  for (double& value : values) value = random.normal();
  return values;
}

Inputs draw_inputs(const ExperimentSetup& s) {
  LegacyRandom random(s.seed);
  const auto size = static_cast<size_t>(s.batch * s.heads * s.seq * s.d_k);
  Inputs inputs;
  inputs.q = randn(random, size);
  inputs.k = randn(random, size);
  inputs.v = randn(random, size);
  return inputs;
}

Attended attend(const ExperimentSetup& s, const Inputs& inputs, std::optional<double> scale, Executor* executor) {
  const auto rows = static_cast<size_t>(s.batch * s.heads * s.seq);
  Attended result{Array(rows * static_cast<size_t>(s.seq)), Array(rows)};
  const auto input = [&s](const Array& array) { return view(array.data(), s.batch, s.heads, s.seq, s.d_k); };
  AttentionOutputs outputs;
  outputs.weights = view(result.weights.data(), s.batch, s.heads, s.seq, s.seq);
  outputs.lse = view(result.lse.data(), s.batch, s.heads, s.seq, 1);
  AttentionOptions options;
  options.scale = scale;
  Execution execution;
  execution.executor = executor;
  const Status status = attention(input(inputs.q), input(inputs.k), input(inputs.v), outputs, options, execution);
  throw_unless_ok(status);
  return result;
}

// The engine never hands out scores, but a_ij = exp(s_ij - lse_i) gives them back: s_ij = ln a_ij + lse_i. From the
// scaled call, where they are of the order of 1 whatever d_k is; the unscaled weights of a large d_k underflow to 0.
Array recover_scores(const Attended& scaled, size_t seq) {
  Array scores(scaled.weights.size());
  for (size_t at = 0; at < scores.size(); ++at) scores[at] = std::log(scaled.weights[at]) + scaled.lse[at / seq];
  return scores;
}

// The population variance, as np.var.
double variance(const Array& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return squares / count;
}

double mean_largest(const Array& weights, size_t seq) {
  double sum = 0;
  for (auto row = weights.begin(); row != weights.end(); row += seq) sum += *std::max_element(row, row + seq);
  const size_t rows = weights.size() / seq;
  return sum / static_cast<double>(rows);
}

bool rows_sum_to_one(const Array& weights, size_t seq) {
  for (auto row = weights.begin(); row != weights.end(); row += seq) {
    double sum = 0;
    for (auto weight = row; weight != row + seq; ++weight) sum += *weight;
    if (!(std::abs(sum - 1) <= 1e-8 + 1e-5)) return false;  // np.allclose's tolerances
  }
  return true;
}

Weights first_head(const Array& weights, int64_t seq) {
  return {seq, seq, Array(weights.begin(), weights.begin() + seq * seq)};
}

}  // namespace

double experiment_bytes(const ExperimentSetup& s) {
  const auto seq = static_cast<double>(s.seq), d_k = static_cast<double>(s.d_k);
  const double rows = static_cast<double>(s.batch) * static_cast<double>(s.heads) * seq;
  const double q_k_v = 3 * d_k, weights_and_scores = 3 * seq, both_lse = 2;
  return sizeof(double) * (rows * (q_k_v + weights_and_scores + both_lse) + 2 * seq * seq);
}

ExperimentResult run_experiment(const ExperimentSetup& setup, Executor* executor) {
  const Inputs inputs = draw_inputs(setup);
  const auto seq = static_cast<size_t>(setup.seq);
  const auto d_k = static_cast<double>(setup.d_k);
  const Attended raw = attend(setup, inputs, 1.0, executor);
  const Attended scaled = attend(setup, inputs, std::nullopt, executor);

  ExperimentResult result;
  result.scaled_variance = variance(recover_scores(scaled, seq));
  result.raw_variance = d_k * result.scaled_variance;
  result.raw_largest = mean_largest(raw.weights, seq);
  result.scaled_largest = mean_largest(scaled.weights, seq);
  result.rows_sum_to_one = rows_sum_to_one(scaled.weights, seq);
  result.raw_weights = first_head(raw.weights, setup.seq);
  result.scaled_weights = first_head(scaled.weights, setup.seq);
  return result;
}

}  // namespace foveate::cli
