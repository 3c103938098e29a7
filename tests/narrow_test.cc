// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// float16 and bfloat16 as good as they can be expected to be: the largest error of o is at most twice that of the plain
// formula, with scores and weights stored in the type and sums in float32, plus one step of the type at the largest output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "foveate/attention.h"
#include "reference/attention.h"
#include "tests/each_target.h"
#include "tests/stored.h"

namespace foveate {
namespace {

using Problem = reference::Problem<double>;

/// The formula as one writes it with arrays of type E: S and P are stored, all arithmetic is float32.
template <class E>
std::vector<float> plain_formula(const Problem& p) {
  const auto stored = [](float x) { return static_cast<float>(E(x)); };
  const auto scale = static_cast<float>(p.scale.value_or(1 / std::sqrt(static_cast<double>(p.d_k))));
  std::vector<float> o;
  for (int64_t b = 0; b < p.b; ++b)
    for (int64_t h = 0; h < p.h_q; ++h)
      for (int64_t i = 0; i < p.n_q; ++i) {
        const int64_t h_k = h / (p.h_q / p.h_kv);
        const double* q = p.q.data() + ((b * p.h_q + h) * p.n_q + i) * p.d_k;
        const double* k = p.k.data() + (b * p.h_kv + h_k) * p.n_kv * p.d_k;
        const double* v = p.v.data() + (b * p.h_kv + h_k) * p.n_kv * p.d_v;
        std::vector<float> s(static_cast<size_t>(p.n_kv), -std::numeric_limits<float>::infinity());
        float top = p.sinks.empty() ? s[0] : static_cast<float>(p.sinks[h]);
        for (int64_t j = 0; j < p.n_kv; ++j) {
          if (!reference::takes_part(p, b, h, i, j)) continue;
          float dot = 0;
          for (int64_t d = 0; d < p.d_k; ++d) dot += static_cast<float>(q[d]) * static_cast<float>(k[j * p.d_k + d]);
          float score = scale * dot;
          if (p.softcap > 0) score = static_cast<float>(p.softcap) * std::tanh(score / static_cast<float>(p.softcap));
          if (!p.bias.empty()) score += static_cast<float>(p.bias[reference::pair_index(p, b, h, i, j)]);
          s[j] = stored(score);
          top = std::max(top, s[j]);
        }
        float z = p.sinks.empty() ? 0 : std::exp(static_cast<float>(p.sinks[h]) - top);
        for (float& x : s) z += x = x > -std::numeric_limits<float>::infinity() ? std::exp(x - top) : 0;
        std::vector<float> sum(static_cast<size_t>(p.d_v), 0);
        for (int64_t j = 0; j < p.n_kv; ++j) {
          if (s[j] == 0) continue;
          const float weight = stored(s[j] / z);
          for (int64_t d = 0; d < p.d_v; ++d) sum[d] += weight * static_cast<float>(v[j * p.d_v + d]);
        }
        for (const float x : sum) o.push_back(stored(x));
      }
  return o;
}

/// What q, k and v hold, at [row, component].
struct Content {
  const char* name;
  std::function<double(std::mt19937&, int64_t, int64_t)> q, k, v;
  double scale = 0;  ///< 0: the usual one
};

double normal(std::mt19937& random, int64_t = 0, int64_t = 0) { return std::normal_distribution<double>()(random); }
std::function<double(std::mt19937&, int64_t, int64_t)> times(double factor) {
  return [factor](std::mt19937& random, int64_t, int64_t) { return factor * normal(random); };
}

const Content kContents[] = {
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
constexpr Options kOptions[] = {
    {"plain"},
    {"causal", true},
    {"causal window", true, 100},
    {"softcap", false, -1, 5},
    {"bias", false, -1, 0, true},
    {"causal sinks", true, -1, 0, false, true},
    {"everything", true, 700, 20, true, true},
};

/// A call of one type throughout, and the oracle's problem.
template <class E>
class NarrowCall {
 public:
  NarrowCall(const Problem& sizes, const Content& content, const Options& options) : problem_(sizes) {
    Problem& p = problem_;
    std::mt19937 random(5);
    fill(q_, p.q, p.b * p.h_q * p.n_q, p.d_k, [&](int64_t i, int64_t d) { return content.q(random, i, d); });
    fill(k_, p.k, p.b * p.h_kv * p.n_kv, p.d_k, [&](int64_t i, int64_t d) { return content.k(random, i, d); });
    fill(v_, p.v, p.b * p.h_kv * p.n_kv, p.d_v, [&](int64_t i, int64_t d) { return content.v(random, i, d); });
    if (options.bias) {
      fill(bias_, p.bias, p.b * p.h_q * p.n_q, p.n_kv, [&](int64_t, int64_t) { return normal(random); });
      options_.bias = view<const E>(bias_.data(), p.b, p.h_q, p.n_q, p.n_kv);
    }
    if (options.sinks) {
      fill(sinks_, p.sinks, 1, p.h_q, [&](int64_t, int64_t) { return normal(random); });
      options_.sinks = view<const E>(sinks_.data(), p.h_q);
    }
    if (content.scale != 0) options_.scale = p.scale = content.scale;
    options_.causal = p.causal = options.causal;
    options_.window_left = p.window_left = options.window_left;
    options_.softcap = p.softcap = options.softcap;
    exact_ = reference::attention(p).o;
  }

  void expect_twice_as_good() const {
    const Problem& p = problem_;
    const double plain = largest_error(plain_formula<E>(p));
    if (std::isnan(plain)) return;  // scores beyond the type
    double largest = 0;
    for (const double x : exact_) largest = std::max(largest, std::abs(x));
    const double step = trial::number_of(E(static_cast<float>(largest))), bits = std::is_same_v<E, Float16> ? -10 : -7;
    const double least = std::is_same_v<E, Float16> ? 0x1p-24 : 0x1p-133;
    const double allowed =
        2 * plain + std::max(std::ldexp(1.0, (step == 0 ? 0 : std::ilogb(step)) + static_cast<int>(bits)), least);
    trial::on_each_target([&] {
      std::vector<E> o(exact_.size());
      const Status status = attention(view<const E>(q_.data(), p.b, p.h_q, p.n_q, p.d_k),
                                      view<const E>(k_.data(), p.b, p.h_kv, p.n_kv, p.d_k),
                                      view<const E>(v_.data(), p.b, p.h_kv, p.n_kv, p.d_v),
                                      {.o = view(o.data(), p.b, p.h_q, p.n_q, p.d_v)}, options_);
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<float> wide;
      for (const E x : o) wide.push_back(static_cast<float>(x));
      const double error = largest_error(wide);
      EXPECT_LE(error, allowed) << "plain formula: " << plain << ", largest output: " << largest;
      EXPECT_FALSE(std::isnan(error));
    });
  }

 private:
  template <class Draw>
  static void fill(std::vector<E>& to, std::vector<double>& numbers, int64_t rows, int64_t depth, const Draw& draw) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t d = 0; d < depth; ++d) {
        to.push_back(E(static_cast<float>(draw(i, d))));
        numbers.push_back(trial::number_of(to.back()));
      }
    }
  }

  /// NaN if any is.
  double largest_error(const std::vector<float>& o) const {
    double largest = 0;
    for (size_t i = 0; i < o.size(); ++i) {
      const double error = std::abs(static_cast<double>(o[i]) - exact_[i]);
      if (!(error <= largest)) largest = error;
      if (std::isnan(largest)) break;
    }
    return largest;
  }

  Problem problem_;
  std::vector<E> q_, k_, v_, bias_, sinks_;
  AttentionOptions options_;
  std::vector<double> exact_;
};

template <class E>
class Narrow : public testing::Test {
 public:
  static void check(const Problem& sizes, const Content& content, const Options& options) {
    if (testing::Test::HasFailure()) return;  // one report is enough
    SCOPED_TRACE(testing::Message() << content.name << ", " << options.name << ": b " << sizes.b << " h " << sizes.h_q
                                    << '/' << sizes.h_kv << " n_q " << sizes.n_q << " n_kv " << sizes.n_kv << " d "
                                    << sizes.d_k << '/' << sizes.d_v);
    NarrowCall<E>(sizes, content, options).expect_twice_as_good();
  }
};
using Types = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(Narrow, Types);

TYPED_TEST(Narrow, EachContentUnderEachOption) {
  for (const Content& content : kContents) {
    for (const Options& options : kOptions) {
      this->check({.b = 2, .h_q = 4, .h_kv = 2, .n_q = 20, .n_kv = 150, .d_k = 64, .d_v = 64}, content, options);
      this->check({.h_q = 8, .h_kv = 1, .n_q = 1, .n_kv = 700, .d_k = 64, .d_v = 40}, content, options);
    }
  }
}

TYPED_TEST(Narrow, Shapes) {
  for (const Content& content : {kContents[0], kContents[1], kContents[3]}) {
    for (const int64_t d : {1, 2, 3, 17, 40, 64, 80, 128, 256}) {
      for (const int64_t n : {1, 2, 3, 17, 64, 65, 300}) {
        for (const int64_t n_q : {1, 4, 33}) {
          this->check({.n_q = n_q, .n_kv = n, .d_k = d, .d_v = 1 + (d * 5) % 129}, content, kOptions[n % 2]);
        }
      }
    }
  }
}

TYPED_TEST(Narrow, LongRows) {
  for (const Content& content : kContents) {
    this->check({.h_q = 3, .n_q = 7, .n_kv = 3000, .d_k = 64, .d_v = 32}, content, kOptions[0]);
    this->check({.n_q = 50, .n_kv = 1500, .d_k = 40, .d_v = 17}, content, kOptions[6]);
  }
}

}  // namespace
}  // namespace foveate
