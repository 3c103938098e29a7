// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A cache of keys and values for a test to change and to look into.
#ifndef FOVEATE_TESTS_HELD_CACHE_H_
#define FOVEATE_TESTS_HELD_CACHE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "foveate/kv_cache.h"
#include "tests/kv_trial.h"

namespace foveate::trial {

inline std::string said(const Status& status) { return status.message(); }

/// A cache with one sequence, and what tests ask of it.
class Held {
 public:
  explicit Held(const KvCacheOptions& options) : options_(options) {
    EXPECT_EQ(said(KvCache::create(options, &cache)), "");
    first = add();
  }

  int64_t add() {
    int64_t number = -1;
    EXPECT_EQ(said(cache.add(&number)), "");
    return number;
  }

  int64_t fork(int64_t sequence) {
    int64_t copy = -1;
    EXPECT_EQ(said(cache.fork(sequence, &copy)), "");
    return copy;
  }

  /// n rows of random numbers.
  Status append(int64_t sequence, int64_t n, uint64_t seed = 1) {
    const Drawn k(DType::f32, options_.h_kv, n, options_.d_k, Drawn::Order::bhnd, seed);
    const Drawn v(DType::f32, options_.h_kv, n, options_.d_v, Drawn::Order::bhnd, seed + 1000);
    return cache.append(sequence, k.view(), v.view());
  }

  /// Appends one row of keys, of one head, and zeros as its values.
  template <class T>
  Status append_key(const std::vector<T>& row) {
    const auto d = static_cast<int64_t>(row.size());
    const std::vector<float> zeros(static_cast<size_t>(options_.d_v));
    return cache.append(first, view<const T>(row.data(), 1, 1, 1, d),
                        view<const float>(zeros.data(), 1, 1, 1, options_.d_v));
  }

  /// A stored number of the first sequence's keys, as attention() will take it, and the scale that is in it.
  double key(int64_t j, int64_t c) {
    double scale = 1;
    return stored(j, c, &scale);
  }
  double scale(int64_t j, int64_t c = 0) {
    double scale = 1;
    stored(j, c, &scale);
    return scale;
  }

  KvCache cache;
  int64_t first = -1;

 private:
  double stored(int64_t j, int64_t c, double* scale) {
    KvBatch batch;
    EXPECT_EQ(said(cache.view({&first, 1}, &batch)), "");
    const AttentionOptions o = batch.options();
    const ConstTensor& k = batch.k();
    const int64_t page = static_cast<const int32_t*>(o.block_table.data)[j / k.shape[2]], row = j % k.shape[2];
    const int64_t at = page * k.stride[0] + row * k.stride[2] + c;
    if (k.dtype != DType::i8) return trial::element({k.data, k.dtype, {1, 1, 1, at + 1}, {0, 0, 0, 1}}, 0, 0, at);
    const ConstTensor& s = o.k_scales;
    const bool channels = s.shape[3] != 1;
    *scale = static_cast<const float*>(s.data)[channels ? c : page * s.stride[0] + row * s.stride[2]];
    return static_cast<const int8_t*>(k.data)[at] * *scale;
  }

  KvCacheOptions options_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_HELD_CACHE_H_
