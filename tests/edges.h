// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where kernels turn from one way to another, for tests that judge them: sizes, options one by one, ways to
// lie in memory, types that go together.
#ifndef FOVEATE_TESTS_EDGES_H_
#define FOVEATE_TESTS_EDGES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include "foveate/attention.h"
#include "tests/each_target.h"
#include "tests/placed.h"
#include "tests/spec.h"

namespace foveate::trial {

/// The number of query rows a full tile has, on each target.
template <class T>
std::set<int64_t> tile_rows() {
  std::set<int64_t> rows;
  on_each_target([&] {
    AttentionPlan plan;
    ASSERT_TRUE(attention_plan({.dtype = dtype_of<T>()}, 1, &plan).ok());
    rows.insert(plan.tile_rows);
  });
  return rows;
}

/// Query counts at the edges of vectors and tiles of every target.
template <class T>
std::set<int64_t> edges() {
  std::set<int64_t> counts = {1, 2};
  for (int64_t rows : tile_rows<T>()) {
    for (int64_t near : {-1, 0, 1}) {
      counts.insert(rows / 3 + near);
      counts.insert(rows + near);
    }
  }
  counts.erase(0);
  return counts;
}

/// The dtype of biases and vectors that is not the natural one.
template <class T>
constexpr DType kOther = sizeof(T) == 4 ? DType::f64 : DType::f32;

inline constexpr int64_t kHeadDims[] = {1, 2, 3, 7, 8, 9, 17, 64, 65, 80, 128, 256};

/// Every option, each alone.
template <class T>
std::vector<Spec> each_option() {
  return {
      Spec{.scale = 0.3},
      {.scale = 0.0},
      {.scale = -2.0},
      {.causal = true},
      {.causal = true, .align = Align::top_left},
      {.window_left = 0},
      {.window_left = 20},
      {.window_right = 0},
      {.window_right = 3},
      {.window_left = 9, .window_right = 4},
      {.align = Align::top_left, .window_left = 9, .window_right = 4},
      {.window_left = INT64_MAX, .window_right = INT64_MAX},
      {.mask = Whole{1, 1, 1, 1}},
      {.bias = Whole{1, 1, 1, 1}},
      {.bias = Whole{1, 1, 1, 1}, .bias_forbids = true},
      {.bias = Whole{1, 1, 1, 1}, .bias_type = kOther<T>},
      {.bias = Whole{1, 1, 1, 1}, .bias_huge = true, .bias_type = kOther<T>},
      {.softcap = 0.25},
      {.softcap = 30},
      {.alibi = true},
      {.alibi = true, .vector_type = kOther<T>, .vector_stride = -1},
      {.sinks = true},
      {.sinks = true, .vector_type = kOther<T>, .vector_stride = 3},
      {.q_lengths = true},
      {.kv_lengths = true},
      {.q_lengths = true, .kv_lengths = true, .int32 = true, .vector_stride = 2},
      {.causal = true, .q_offset = 40},
      {.causal = true, .q_offset = -3},
      {.causal = true, .q_offset = 1040, .kv_offset = 1000},
      {.kv_offset = -70},
      {.non_finite = 5},
      {.magnitude = 30},
      {.magnitude = 1e-20},
  };
}

inline const Placement kWaysToLie[] = {
    {.order = {0, 2, 1, 3}},                       // bnhd
    {.order = {0, 1, 3, 2}},                       // transposed: the last axis is not adjacent
    {.order = {3, 2, 1, 0}, .gap = {3, 1, 1, 1}},  // Fortran order, sliced
    {.gap = {1, 1, 1, 2}},                         // every other component
    {.gap = {1, 2, 3, 1}},                         // every third row of every other head
    {.reversed = {true, true, true, true}},
    {.reversed = {false, false, true, false}},
    {.order = {0, 1, 3, 2}, .reversed = {false, false, false, true}},
    {.guard = 1},  // misaligned by one element
    {.guard = 0, .stride_of_one = -1234567},
};

/// What is used: one narrow type throughout, or a cache narrower than the queries.
struct Family {
  DType q, k, v;

  Spec of(Spec spec) const {
    spec.q_type = q;
    spec.k_type = k;
    spec.v_type = v;
    return spec;
  }
};
inline constexpr Family kFamilies[] = {
    {DType::f16, DType::f16, DType::f16}, {DType::bf16, DType::bf16, DType::bf16},
    {DType::f32, DType::f16, DType::f16}, {DType::f32, DType::bf16, DType::bf16},
    {DType::f32, DType::i8, DType::i8},   {DType::bf16, DType::i8, DType::i8},
    {DType::f16, DType::i8, DType::i8},
};

/// A number that may be set from outside.
inline int64_t from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoll(text, nullptr, 10) : otherwise;
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_EDGES_H_
