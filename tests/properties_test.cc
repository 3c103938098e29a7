// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What holds of attention whatever the numbers are: properties of random calls, shrunk where one fails. RC_PARAMS, in the
// environment, sets the seed and the number of tries ("seed=2 max_success=1000").
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "foveate/attention.h"
#include "tests/any_call.h"
#include "tests/each_target.h"
#include "tests/error_bound.h"
#include "tests/packed_call.h"

namespace foveate::trial {
namespace {

/// o and lse lie within `times` the bound of those of the problem.
template <class T>
void assert_matches(const PackedCall<T>& call, const Expected<T>& expected, Judge<T> times = 1) {
  for (size_t row = 0; row < call.lse.size(); ++row) {
    assert_near(call.lse[row], expected.exact.lse[row], times * expected.lse_error(row));
    for (int64_t c = 0; c < call.shape.d_v; ++c) {
      const size_t at = row * call.shape.d_v + c;
      assert_near(call.o[at], expected.exact.o[at], times * expected.exact.abs_o[at] * expected.relative_error(row));
    }
  }
}

template <class T>
void permuted_keys_change_nothing() {
  const PackedCall<T> call = any_call<T>();
  const Expected<T> expected(problem_of(call));
  std::vector<int64_t> order(static_cast<size_t>(call.shape.n_kv));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(static_cast<uint64_t>(any_below(1 << 20))));
  PackedCall<T> permuted = with_keys(call, order);
  on_each_target([&] {
    attend(permuted);
    assert_matches(permuted, expected);
  });
}

template <class T>
void shifted_scores_shift_lse() {
  const PackedCall<T> call = any_call<T>();
  const T shift = static_cast<T>(any_below(2001) - 1000) / 8;
  PackedCall<T> shifted = call;
  for (T& x : shifted.bias) x += shift;
  for (T& x : shifted.sinks) x += shift;
  const Expected<T> expected(problem_of(call));
  Expected<T> bounds(problem_of(shifted));
  for (size_t row = 0; row < bounds.exact.lse.size(); ++row) bounds.exact.lse[row] = expected.exact.lse[row] + shift;
  bounds.exact.o = expected.exact.o;
  on_each_target([&] {
    attend(shifted);
    assert_matches(shifted, bounds);
  });
}

/// o = sum over pieces of exp(lse_piece - lse) o_piece, lse = ln sum exp(lse_piece). A weight of a piece errs by its lse
/// and the whole's; so three times the bound, and e once more.
template <class T>
void pieces_merge_to_the_whole() {
  const PackedCall<T> whole = any_call_with_positions<T>();
  const Expected<T> expected(problem_of(whole));
  const int64_t n = whole.shape.n_kv, cut = any_below(n + 1);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  PackedCall<T> first = with_keys(whole, {order.begin(), order.begin() + cut});
  PackedCall<T> second = with_keys(whole, {order.begin() + cut, order.end()});
  second.options.kv_offset = cut;
  (any_below(2) == 0 ? first : second).sinks.clear();
  on_each_target([&] {
    attend(first);
    attend(second);
    PackedCall<T> merged = whole;
    merged.o = first.o;
    merged.lse = first.lse;
    for (size_t row = 0; row < merged.lse.size(); ++row) {
      const Judge<T> a = first.lse[row], b = second.lse[row], top = std::max(a, b);
      if (std::isinf(top)) continue;  // neither has a key: o = 0, lse = -inf
      const Judge<T> lse = top + std::log(std::exp(a - top) + std::exp(b - top));
      merged.lse[row] = static_cast<T>(lse);
      for (int64_t c = 0; c < whole.shape.d_v; ++c) {
        const size_t at = row * whole.shape.d_v + c;
        merged.o[at] = static_cast<T>(std::exp(a - lse) * first.o[at] + std::exp(b - lse) * second.o[at]);
      }
    }
    assert_matches(merged, expected, Judge<T>{4});
  });
}

template <class T>
void grouped_heads_are_repeated_heads() {
  PackedCall<T> grouped = any_call_with_positions<T>(), repeated = with_repeated_heads(grouped);
  on_each_target([&] {
    attend(grouped);
    attend(repeated);
    RC_ASSERT(grouped.o == repeated.o);
    RC_ASSERT(grouped.lse == repeated.lse);
    RC_ASSERT(grouped.weights == repeated.weights);
  });
}

template <class T>
void weights_sum_to_what_the_sink_leaves() {
  using Real = Judge<T>;
  PackedCall<T> call = any_call_with_positions<T>();
  const Expected<T> expected(problem_of(call));
  on_each_target([&] {
    attend(call);
    for (size_t row = 0; row < call.lse.size(); ++row) {
      Real sum = 0;
      for (int64_t j = 0; j < call.shape.n_kv; ++j) sum += call.weights[row * call.shape.n_kv + j];
      const int64_t head = static_cast<int64_t>(row) / call.shape.n_q % call.shape.h_q;
      const Real lse = call.lse[row];
      const Real taken = call.sinks.empty() ? 0 : std::exp(call.sinks[head] - lse);
      const Real left = std::isinf(lse) ? 0 : 1 - taken;
      assert_near(sum, left, expected.relative_error(row) + taken * 2 * expected.lse_error(row));
    }
  });
}

template <class T>
void output_is_weights_times_values() {
  using Real = Judge<T>;
  PackedCall<T> call = any_call_with_positions<T>();
  const AttentionShape& s = call.shape;
  const Expected<T> expected(problem_of(call));
  on_each_target([&] {
    attend(call);
    for (int64_t row = 0; row < s.b * s.h_q * s.n_q; ++row) {
      const int64_t kv_head = row / s.n_q / (s.h_q / s.h_kv);  // counts over the batch too
      for (int64_t c = 0; c < s.d_v; ++c) {
        Real sum = 0, magnitude = 0;
        for (int64_t j = 0; j < s.n_kv; ++j) {
          const Real term =
              static_cast<Real>(call.weights[row * s.n_kv + j]) * call.v[(kv_head * s.n_kv + j) * s.d_v + c];
          sum += term;
          magnitude += std::abs(term);
        }
        assert_near(call.o[row * s.d_v + c], sum, 2 * expected.relative_error(row) * magnitude);
      }
    }
  });
}

RC_GTEST_PROP(FloatProperties, PermutedKeysChangeNothing, ()) { permuted_keys_change_nothing<float>(); }
RC_GTEST_PROP(FloatProperties, ShiftedScoresShiftLse, ()) { shifted_scores_shift_lse<float>(); }
RC_GTEST_PROP(FloatProperties, PiecesMergeToTheWhole, ()) { pieces_merge_to_the_whole<float>(); }
RC_GTEST_PROP(FloatProperties, GroupedHeadsAreRepeatedHeads, ()) { grouped_heads_are_repeated_heads<float>(); }
RC_GTEST_PROP(FloatProperties, WeightsSumToWhatTheSinkLeaves, ()) { weights_sum_to_what_the_sink_leaves<float>(); }
RC_GTEST_PROP(FloatProperties, OutputIsWeightsTimesValues, ()) { output_is_weights_times_values<float>(); }

RC_GTEST_PROP(DoubleProperties, PermutedKeysChangeNothing, ()) { permuted_keys_change_nothing<double>(); }
RC_GTEST_PROP(DoubleProperties, ShiftedScoresShiftLse, ()) { shifted_scores_shift_lse<double>(); }
RC_GTEST_PROP(DoubleProperties, PiecesMergeToTheWhole, ()) { pieces_merge_to_the_whole<double>(); }
RC_GTEST_PROP(DoubleProperties, GroupedHeadsAreRepeatedHeads, ()) { grouped_heads_are_repeated_heads<double>(); }
RC_GTEST_PROP(DoubleProperties, WeightsSumToWhatTheSinkLeaves, ()) { weights_sum_to_what_the_sink_leaves<double>(); }
RC_GTEST_PROP(DoubleProperties, OutputIsWeightsTimesValues, ()) { output_is_weights_times_values<double>(); }

}  // namespace
}  // namespace foveate::trial
