// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rounding errors as measured: the table under `Measured` in docs/numerics.md, in Markdown. For each target and each type,
// the largest error against the oracle, beside that of the plain formula, and how much of the derived bound it takes. The
// same numbers on every run. Rows computed one at a time must have the same bits, or it fails.
//
//   build/bench/error_table
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "foveate/target.h"
#include "reference/attention.h"
#include "tests/error_bound.h"
#include "tests/stored.h"

namespace foveate::benchmarks {
namespace {

constexpr int64_t kHeads = 2, kN = 1024, kD = 64;

/// What the arrays hold.
struct Data {
  const char* name;
  double q_factor;  ///< of normal q, and so of the scores
  double v_mean;    ///< of normal v
};
constexpr Data kData[] = {{"normal", 1, 0}, {"hostile", 30, 20}};

/// The largest error of o and of lse, and the largest share that one takes of its bound.
struct Errors {
  double o = 0, o_share = 0, lse = 0, lse_share = 0;
};

/// Half of the distance between numbers of the type at x: the rounding of what is stored.
double half_step(DType dtype, double x) {
  const int bits = dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : 0;
  return bits == 0 || x == 0 ? 0 : std::ldexp(1.0, std::ilogb(x) - bits);
}

/// A causal problem with queries of type Q over keys and values of type K, computed in T.
template <class T, class Q, class K>
class Measurement {
 public:
  using Real = trial::Judge<T>;

  explicit Measurement(const Data& data) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    problem_.h_q = problem_.h_kv = kHeads;
    problem_.n_q = problem_.n_kv = kN;
    problem_.d_k = problem_.d_v = kD;
    problem_.causal = true;
    fill_rows(q_, problem_.q, nullptr, [&] { return data.q_factor * normal(random); });
    fill_rows(k_, problem_.k, &k_scales_, [&] { return normal(random); });
    fill_rows(v_, problem_.v, &v_scales_, [&] { return data.v_mean + normal(random); });
    trial::Storage<Real> storage = {dtype_of<Q>(), dtype_of<K>(), dtype_of<K>(), {}};
    if (kInt8) {
      options_.k_scales = view<const float>(k_scales_.data(), 1, kHeads, kN, 1);
      options_.v_scales = view<const float>(v_scales_.data(), 1, kHeads, kN, 1);
      for (const float scale : k_scales_) storage.key_scales.insert(storage.key_scales.end(), kD, scale);
    }
    options_.causal = true;
    expected_.emplace_back(problem_, storage);
    for (const Real x : expected_[0].exact.o) largest_ = std::max(largest_, static_cast<double>(std::abs(x)));
  }

  /// On the active target, of one call for all rows.
  Errors engine() const {
    std::vector<Q> o(q_.size());
    std::vector<T> lse(static_cast<size_t>(kHeads * kN));
    attend(0, kN, o, lse);
    return judge(o, lse);
  }

  /// Whether rows computed one at a time, as in decoding, have the bits that they have in one call.
  bool rows_have_one_result() const {
    std::vector<Q> o(q_.size()), o_by_rows(q_.size());
    std::vector<T> lse(static_cast<size_t>(kHeads * kN)), lse_by_rows(lse.size());
    attend(0, kN, o, lse);
    for (int64_t row = 0; row < kN; ++row) attend(row, 1, o_by_rows, lse_by_rows);
    return std::memcmp(o.data(), o_by_rows.data(), o.size() * sizeof(Q)) == 0 &&
           std::memcmp(lse.data(), lse_by_rows.data(), lse.size() * sizeof(T)) == 0;
  }

  /// S = Q K^T, softmax, P V: S and P stored as Q, all arithmetic in T.
  Errors plain_formula() const {
    const auto stored = [](T x) {
      return static_cast<T>(trial::number_of(trial::element_of<Q>(static_cast<double>(x))));
    };
    const T scale = 1 / std::sqrt(static_cast<T>(kD));
    std::vector<Q> o;
    std::vector<T> lse;
    for (int64_t row = 0; row < kHeads * kN; ++row) {
      const int64_t first_key = row / kN * kN, keys = row % kN + 1;
      std::vector<T> s;
      for (int64_t j = 0; j < keys; ++j) {
        T dot = 0;
        for (int64_t d = 0; d < kD; ++d) dot += number(problem_.q, row, d) * number(problem_.k, first_key + j, d);
        s.push_back(stored(scale * dot));
      }
      const T top = *std::max_element(s.begin(), s.end());
      T z = 0;
      for (T& x : s) z += x = std::exp(x - top);
      std::vector<T> sum(kD, 0);
      for (int64_t j = 0; j < keys; ++j) {
        const T weight = stored(s[j] / z);
        for (int64_t d = 0; d < kD; ++d) sum[d] += weight * number(problem_.v, first_key + j, d);
      }
      for (const T x : sum) o.push_back(trial::element_of<Q>(static_cast<double>(x)));
      lse.push_back(top + std::log(z));
    }
    return judge(o, lse);
  }

 private:
  static constexpr bool kInt8 = std::is_same_v<K, int8_t>;

  /// Draws elements and the numbers that they stand for. int8 rows get the scale that their largest number asks for.
  template <class E, class Draw>
  static void fill_rows(std::vector<E>& to, std::vector<Real>& numbers, std::vector<float>* scales, const Draw& draw) {
    for (int64_t row = 0; row < kHeads * kN; ++row) {
      std::vector<double> drawn(kD);
      double largest = 0;
      for (double& x : drawn) largest = std::max(largest, std::abs(x = draw()));
      float scale = 1;
      if (std::is_same_v<E, int8_t>) scales->push_back(scale = static_cast<float>(largest / 127));
      for (const double x : drawn) {
        const double steps = std::is_same_v<E, int8_t> ? std::clamp(std::round(x / scale), -127.0, 127.0) : x;
        to.push_back(trial::element_of<E>(steps));
        numbers.push_back(static_cast<Real>(trial::number_of(to.back())) * scale);
      }
    }
  }

  static T number(const std::vector<Real>& numbers, int64_t row, int64_t d) {
    return static_cast<T>(numbers[static_cast<size_t>(row * kD + d)]);
  }

  /// `rows` rows from `first` on, over the keys up to the last of them.
  void attend(int64_t first, int64_t rows, std::vector<Q>& o, std::vector<T>& lse) const {
    const auto part = [&](auto tensor, auto* data, int64_t from, int64_t count) {
      tensor.data = data + from * tensor.stride[2];
      tensor.shape[2] = count;
      return tensor;
    };
    const int64_t keys = first + rows;
    AttentionOptions options = options_;
    for (ConstTensor* scales : {&options.k_scales, &options.v_scales}) {
      if (scales->present()) scales->shape[2] = keys;
    }
    const Status status = attention(part(view<const Q>(q_.data(), 1, kHeads, kN, kD), q_.data(), first, rows),
                                    part(view<const K>(k_.data(), 1, kHeads, kN, kD), k_.data(), 0, keys),
                                    part(view<const K>(v_.data(), 1, kHeads, kN, kD), v_.data(), 0, keys),
                                    {.o = part(view(o.data(), 1, kHeads, kN, kD), o.data(), first, rows),
                                     .lse = part(view(lse.data(), 1, kHeads, kN, 1), lse.data(), first, rows)},
                                    options);
    if (status.ok()) return;
    fmt::print(stderr, "{}\n", status.message());
    std::exit(1);
  }

  Errors judge(const std::vector<Q>& o, const std::vector<T>& lse) const {
    const trial::Expected<T>& expected = expected_[0];
    Errors errors;
    const auto raise = [](double& largest, Real x) { largest = std::max(largest, static_cast<double>(x)); };
    for (int64_t row = 0; row < kHeads * kN; ++row) {
      for (int64_t at = row * kD; at < (row + 1) * kD; ++at) {
        const Real want = expected.exact.o[at];
        const Real error = std::abs(static_cast<Real>(trial::number_of(o[at])) - want);
        const Real bound = expected.exact.abs_o[at] * expected.o_error(row);
        raise(errors.o, error / static_cast<Real>(largest_));
        raise(
            errors.o_share,
            error / (bound + static_cast<Real>(half_step(dtype_of<Q>(), static_cast<double>(std::abs(want) + bound)))));
      }
      const Real error = std::abs(static_cast<Real>(lse[row]) - expected.exact.lse[row]);
      raise(errors.lse, error);
      raise(errors.lse_share, error / expected.lse_error(row));
    }
    return errors;
  }

  reference::Problem<Real> problem_;
  std::vector<Q> q_;
  std::vector<K> k_, v_;
  std::vector<float> k_scales_, v_scales_;
  AttentionOptions options_;
  std::vector<trial::Expected<T>> expected_;  ///< one
  double largest_ = 0;                        ///< |o|
};

/// Prints the rows of one type: a row for all targets of which it would read the same. False where some row has two results.
template <class T, class Q, class K>
bool print_rows(const char* type) {
  bool one_result = true;
  for (const Data& data : kData) {
    const Measurement<T, Q, K> measurement(data);
    const Errors plain = measurement.plain_formula();
    std::vector<std::pair<std::string, std::string>> rows;  // what is told, and the targets it is told of
    for (int64_t i = 0; i < target_count(); ++i) {
      const char* target = target_name(i);
      if (!pin_target(target).ok()) continue;
      if (!measurement.rows_have_one_result()) {
        fmt::print(stderr, "{}, {} data: rows computed one at a time have other bits on {}\n", type, data.name, target);
        one_result = false;
      }
      const Errors errors = measurement.engine();
      const std::string told = fmt::format("{:.1e} | {:.1e} | {:.1f} % | {:.1e} | {:.1e} | {:.1f} %", errors.o, plain.o,
                                           100 * errors.o_share, errors.lse, plain.lse, 100 * errors.lse_share);
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == told; });
      if (same == rows.end()) {
        rows.emplace_back(told, target);
      } else {
        same->second += std::string(", ") + target;
      }
    }
    for (const auto& [told, targets] : rows) fmt::print("| {} | {} | {} | {} |\n", type, data.name, targets, told);
  }
  return one_result;
}

bool print_table() {
  fmt::print(
      "| type | data | targets | error of o | plain formula | of its bound | error of lse | plain formula | of its "
      "bound |\n");
  fmt::print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  bool one_result = print_rows<double, double, double>("float64");
  one_result &= print_rows<float, float, float>("float32");
  one_result &= print_rows<float, Float16, Float16>("float16");
  one_result &= print_rows<float, BFloat16, BFloat16>("bfloat16");
  one_result &= print_rows<float, float, BFloat16>("float32 over bfloat16");
  one_result &= print_rows<float, float, Float16>("float32 over float16");
  one_result &= print_rows<float, float, int8_t>("float32 over int8");
  return one_result;
}

}  // namespace
}  // namespace foveate::benchmarks

int main() { return foveate::benchmarks::print_table() ? 0 : 1; }
