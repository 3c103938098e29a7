// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of float16 or bfloat16 throughout, and the plain formula in that type, which they are measured by.
#ifndef FOVEATE_TESTS_NARROW_PROBLEM_H_
#define FOVEATE_TESTS_NARROW_PROBLEM_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "reference/attention.h"
#include "tests/stored.h"

namespace foveate::narrow {

using Problem = reference::Problem<double>;

/// A float as arrays of type E hold it.
template <class E>
float stored(float x) {
  return static_cast<float>(E(x));
}

/// The formula as one writes it with arrays of type E: scores and weights are stored, all arithmetic is float32.
template <class E>
struct PlainRow {
  std::vector<float> weights;  ///< 0 where j takes no part
  std::vector<float> slopes;   ///< the derivative of softcap
};

template <class E>
PlainRow<E> plain_row(const Problem& p, int64_t b, int64_t h, int64_t i) {
  constexpr float none = -std::numeric_limits<float>::infinity();
  const auto scale = static_cast<float>(reference::scale_of(p)), cap = static_cast<float>(p.softcap);
  const double* q = p.q.data() + reference::query_row(p, b, h, i) * p.d_k;
  PlainRow<E> row{std::vector<float>(static_cast<size_t>(p.n_kv), none),
                  std::vector<float>(static_cast<size_t>(p.n_kv), 1)};
  std::vector<float>& s = row.weights;
  float top = p.sinks.empty() ? none : static_cast<float>(p.sinks[h]);
  for (int64_t j = 0; j < p.n_kv; ++j) {
    if (!reference::takes_part(p, b, h, i, j)) continue;
    const double* k = p.k.data() + reference::key_row(p, b, h, j) * p.d_k;
    float dot = 0;
    for (int64_t d = 0; d < p.d_k; ++d) dot += static_cast<float>(q[d]) * static_cast<float>(k[d]);
    float score = scale * dot;
    if (cap > 0) {
      const float x = std::tanh(score / cap);
      row.slopes[j] = 1 - x * x;
      score = cap * x;
    }
    if (!p.bias.empty()) score += static_cast<float>(p.bias[reference::pair_index(p, b, h, i, j)]);
    s[j] = stored<E>(score);
    top = std::max(top, s[j]);
  }
  float z = p.sinks.empty() ? 0 : std::exp(static_cast<float>(p.sinks[h]) - top);
  for (float& x : s) z += x = x > none ? std::exp(x - top) : 0;
  for (float& x : s) x = x == 0 ? 0 : stored<E>(x / z);
  return row;
}

/// What q, k and v hold, at [row, component].
struct Content {
  const char* name;
  std::function<double(std::mt19937&, int64_t, int64_t)> q, k, v;
};

inline double normal(std::mt19937& random, int64_t = 0, int64_t = 0) {
  return std::normal_distribution<double>()(random);
}
inline std::function<double(std::mt19937&, int64_t, int64_t)> times(double factor) {
  return [factor](std::mt19937& random, int64_t, int64_t) { return factor * normal(random); };
}

inline const Content kContents[] = {
    {"normal", normal, normal, normal},
    {"large scores", times(6), times(6), normal},
    {"one-hot weights", [](std::mt19937&, int64_t, int64_t d) { return d == 0 ? 100.0 : 0.0; },
     [](std::mt19937& random, int64_t j, int64_t d) { return d == 0 ? static_cast<double>(j % 97) : normal(random); },
     normal},
    {"large values", normal, normal,
     [](std::mt19937& random, int64_t, int64_t) { return std::clamp(3e4 * normal(random), -6e4, 6e4); }},
    {"values of one sign near the largest", times(0.1), normal,
     [](std::mt19937& random, int64_t, int64_t) { return 6e4 + 5e3 * std::tanh(normal(random)); }},
    {"subnormal values", normal, normal, times(0x1p-20)},
    {"subnormal keys", times(0x1p14), times(0x1p-19), normal},
    {"constant rows", [](std::mt19937&, int64_t, int64_t) { return 0.7; },
     [](std::mt19937&, int64_t, int64_t) { return -1.3; },
     [](std::mt19937&, int64_t, int64_t d) { return 0.1 * static_cast<double>(d + 1); }},
    {"alternating values", times(0.01), normal,
     [](std::mt19937&, int64_t j, int64_t) { return j % 2 == 0 ? 1000.0 : -1000.0; }},
    {"one outlier a row", normal,
     [](std::mt19937& random, int64_t, int64_t d) { return d == 0 ? 40.0 : normal(random); },
     [](std::mt19937& random, int64_t j, int64_t) { return j % 50 == 0 ? 300.0 : normal(random); }},
};

struct Options {
  const char* name;
  bool causal = false;
  int64_t window_left = -1;
  double softcap = 0;
  bool bias = false, sinks = false;
};
inline constexpr Options kOptions[] = {
    {"plain"},
    {"causal", true},
    {"causal window", true, 100},
    {"softcap", false, -1, 5},
    {"bias", false, -1, 0, true},
    {"causal sinks", true, -1, 0, false, true},
    {"everything", true, 700, 20, true, true},
};

/// Rows of numbers, rounded to E, as an array of it and as the oracle's.
template <class E, class Draw>
void fill(std::vector<E>& to, std::vector<double>& numbers, int64_t rows, int64_t depth, const Draw& draw) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t d = 0; d < depth; ++d) {
      to.push_back(E(static_cast<float>(draw(i, d))));
      numbers.push_back(trial::number_of(to.back()));
    }
  }
}

/// A call of type E throughout, and the oracle's problem.
template <class E>
struct NarrowCall {
  Problem problem;
  std::vector<E> q, k, v, bias, sinks;
  AttentionOptions options;

  NarrowCall(const Problem& sizes, const Content& content, const Options& with) : problem(sizes) {
    Problem& p = problem;
    std::mt19937 random(5);
    fill(q, p.q, p.b * p.h_q * p.n_q, p.d_k, [&](int64_t i, int64_t d) { return content.q(random, i, d); });
    fill(k, p.k, p.b * p.h_kv * p.n_kv, p.d_k, [&](int64_t i, int64_t d) { return content.k(random, i, d); });
    fill(v, p.v, p.b * p.h_kv * p.n_kv, p.d_v, [&](int64_t i, int64_t d) { return content.v(random, i, d); });
    if (with.bias) {
      fill(bias, p.bias, p.b * p.h_q * p.n_q, p.n_kv, [&](int64_t, int64_t) { return normal(random); });
      options.bias = view<const E>(bias.data(), p.b, p.h_q, p.n_q, p.n_kv);
    }
    if (with.sinks) {
      fill(sinks, p.sinks, 1, p.h_q, [&](int64_t, int64_t) { return normal(random); });
      options.sinks = view<const E>(sinks.data(), p.h_q);
    }
    options.causal = p.causal = with.causal;
    options.window_left = p.window_left = with.window_left;
    options.softcap = p.softcap = with.softcap;
  }
  NarrowCall(const NarrowCall&) = delete;
  NarrowCall& operator=(const NarrowCall&) = delete;

  ConstTensor q_view() const { return view<const E>(q.data(), problem.b, problem.h_q, problem.n_q, problem.d_k); }
  ConstTensor k_view() const { return view<const E>(k.data(), problem.b, problem.h_kv, problem.n_kv, problem.d_k); }
  ConstTensor v_view() const { return view<const E>(v.data(), problem.b, problem.h_kv, problem.n_kv, problem.d_v); }
};

/// NaN if any is.
template <class Range>
double largest_error(const Range& got, const std::vector<double>& exact) {
  double largest = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double error = std::abs(static_cast<double>(static_cast<float>(got[i])) - exact[i]);
    if (!(error <= largest)) largest = error;
    if (std::isnan(largest)) break;
  }
  return largest;
}

inline double largest(const std::vector<double>& exact) {
  double most = 0;
  for (const double x : exact) most = std::max(most, std::abs(x));
  return most;
}

/// The distance of numbers of type E next to x.
template <class E>
double step_at(double x) {
  constexpr bool is_f16 = std::is_same_v<E, Float16>;
  const double rounded = trial::number_of(E(static_cast<float>(x)));
  const int exponent = rounded == 0 ? 0 : std::ilogb(rounded);
  return std::max(std::ldexp(1.0, exponent - (is_f16 ? 10 : 7)), is_f16 ? 0x1p-24 : 0x1p-133);
}

}  // namespace foveate::narrow

#endif  // FOVEATE_TESTS_NARROW_PROBLEM_H_
