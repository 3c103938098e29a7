// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// NaN and Inf in gradients, on every target of this machine: they have no effect where they take no part, and reach all that
// depends on them where they do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "foveate/attention_backward.h"
#include "foveate/dropout.h"
#include "tests/packed_gradients.h"

namespace foveate::trial {
namespace {

template <class T>
class BackwardNotFinite : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BackwardNotFinite, Types);

/// Which keys of 70 each of 70 rows sees, and the options that say so.
template <class T>
struct Sight {
  static constexpr int64_t n = 70, length = 65;
  std::vector<unsigned char> sees = std::vector<unsigned char>(n * n);
  PackedGradients<T> call;

  explicit Sight(char way) : call({.n_q = n, .n_kv = n, .d_k = 3, .d_v = 5}) {
    call.bias.assign(n * n, T{0});
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        sees[i * n + j] = way == 'c'   ? j <= i
                          : way == 'w' ? j >= i - 2 && j <= i + 1
                          : way == 'l' ? j < length
                                       : (i * j) % 3 != 1;
        if (way == 'b' && !sees[i * n + j]) call.bias[i * n + j] = -kInf<T>;
      }
    }
    if (way == 'm') call.mask = sees;
    call.options.causal = way == 'c';
    if (way == 'w') call.options.window_left = 2, call.options.window_right = 1;
    if (way == 'l') call.options.kv_lengths = view(&length, 1), call.options.align = Align::top_left;
  }
  Sight(const Sight&) = delete;
  Sight& operator=(const Sight&) = delete;

  bool row_sees(int64_t i, int64_t j) const { return sees[i * n + j] != 0; }
  /// Whether some row sees both keys.
  bool together(int64_t j, int64_t key) const {
    for (int64_t i = 0; i < n; ++i) {
      if (row_sees(i, j) && row_sees(i, key)) return true;
    }
    return false;
  }
};

template <class T>
void expect_row_bits(const std::vector<T>& got, const std::vector<T>& want, int64_t row, int64_t n, const char* name) {
  EXPECT_EQ(std::memcmp(&got[row * n], &want[row * n], n * sizeof(T)), 0) << name << " of row " << row;
}

constexpr char kWays[] = {'m', 'b', 'c', 'w', 'l'};  // mask, bias, causal, window, length

/// In a key or a value: rows that do not see it, and keys that share no row with it.
TYPED_TEST(BackwardNotFinite, KeysThatTakeNoPartHaveNoEffect) {
  using T = TypeParam;
  for (const char way : kWays) {
    for (const T bad : {kNaN<T>, kInf<T>, -kInf<T>}) {
      for (const int64_t key : {0, 67}) {
        SCOPED_TRACE(testing::Message() << way << ' ' << bad << " key " << key);
        Sight<T> clean(way), dirty(way);
        std::fill_n(dirty.call.k.begin() + key * 3, 3, bad);
        std::fill_n(dirty.call.v.begin() + key * 5, 5, bad);
        on_each_target(clean.call, [&] {
          ASSERT_TRUE(dirty.call.differentiate().ok());
          for (int64_t i = 0; i < Sight<T>::n; ++i) {
            if (clean.row_sees(i, key)) continue;
            expect_row_bits(dirty.call.dq, clean.call.dq, i, 3, "dq");
            expect_row_bits(dirty.call.dbias, clean.call.dbias, i, Sight<T>::n, "dbias");
          }
          for (int64_t j = 0; j < Sight<T>::n; ++j) {
            if (clean.together(j, key)) continue;
            expect_row_bits(dirty.call.dk, clean.call.dk, j, 3, "dk");
            expect_row_bits(dirty.call.dv, clean.call.dv, j, 5, "dv");
          }
        });
      }
    }
  }
}

/// In a row of d_o or q: other rows, and the keys that it does not see.
TYPED_TEST(BackwardNotFinite, RowsHaveNoEffectOnWhatTheyDoNotSee) {
  using T = TypeParam;
  for (const char way : kWays) {
    for (const T bad : {kNaN<T>, kInf<T>}) {
      for (const bool in_q : {false, true}) {
        SCOPED_TRACE(testing::Message() << way << ' ' << bad << (in_q ? " q" : " d_o"));
        Sight<T> clean(way), dirty(way);
        constexpr int64_t row = 31;
        std::vector<T>& x = in_q ? dirty.call.q : dirty.call.d_o;
        std::fill_n(x.begin() + row * (in_q ? 3 : 5), in_q ? 3 : 5, bad);
        on_each_target(clean.call, [&] {
          ASSERT_TRUE(dirty.call.differentiate().ok());
          for (int64_t i = 0; i < Sight<T>::n; ++i) {
            if (i == row) continue;
            expect_row_bits(dirty.call.dq, clean.call.dq, i, 3, "dq");
            expect_row_bits(dirty.call.dbias, clean.call.dbias, i, Sight<T>::n, "dbias");
          }
          for (int64_t j = 0; j < Sight<T>::n; ++j) {
            if (clean.row_sees(row, j)) continue;
            expect_row_bits(dirty.call.dk, clean.call.dk, j, 3, "dk");
            expect_row_bits(dirty.call.dv, clean.call.dv, j, 5, "dv");
          }
        });
      }
    }
  }
}

/// In the bias of pairs that a mask forbids.
TYPED_TEST(BackwardNotFinite, BiasesThatTakeNoPartHaveNoEffect) {
  using T = TypeParam;
  Sight<T> clean('m'), dirty('m');
  for (int64_t pair = 0; pair < Sight<T>::n * Sight<T>::n; ++pair) {
    if (!clean.sees[pair]) dirty.call.bias[pair] = pair % 2 == 0 ? kNaN<T> : kInf<T>;
  }
  expect_same(clean.call, dirty.call);
}

/// A bias for all rows has the sum of them, not of the lanes beside them.
TYPED_TEST(BackwardNotFinite, AKeyThatNoRowSeesHasNoEffectOnABiasOfAllRows) {
  using T = TypeParam;
  for (const int64_t n_q : {1, 3, 50}) {
    PackedGradients<T> call({.n_q = n_q, .n_kv = 70, .d_k = 2, .d_v = 2});
    const std::vector<T> bias(70, T{0.5});
    call.options.bias = view<const T>(bias.data(), 1, 1, 1, 70);
    call.mask.assign(n_q * 70, 1);
    for (int64_t i = 0; i < n_q; ++i) call.mask[i * 70 + 66] = 0;
    std::fill_n(call.k.begin() + 66 * 2, 2, kNaN<T>);
    std::fill_n(call.v.begin() + 66 * 2, 2, kInf<T>);
    on_each_target(call, [&] {
      for (int64_t j = 0; j < 70; ++j) EXPECT_TRUE(j == 66 ? call.dbias[j] == 0 : std::isfinite(call.dbias[j])) << j;
    });
  }
}

/// A NaN at every place of a block, and around: which rows and keys it reaches. Rows see keys up to their own, then three
/// rows beside it.
template <class T>
struct Around {
  int64_t key;
  PackedGradients<T> call;

  explicit Around(int64_t at) : key(at), call({.n_q = 3, .n_kv = 131, .d_k = 2, .d_v = 2}) {
    call.options.causal = true;
    call.options.q_offset = key - 1;  // before the key, at it, past it
    call.bias.assign(3 * 131, 0);
  }
  bool row_sees(int64_t i, int64_t j) const { return j <= key - 1 + i; }
};

/// Calls body(around) for keys all over two blocks.
template <class T, class Body>
void for_places(const Body& body) {
  for (int64_t key = 0; key < 131; key += 1 + key / 9) {
    SCOPED_TRACE(testing::Message() << "key " << key);
    Around<T> around(key);
    body(around);
  }
}

TYPED_TEST(BackwardNotFinite, NaNInAKeyOrItsBias) {
  using T = TypeParam;
  for (const bool in_bias : {false, true}) {
    for_places<T>([&](Around<T>& x) {
      if (in_bias) x.call.bias[x.key] = x.call.bias[131 + x.key] = x.call.bias[262 + x.key] = kNaN<T>;
      if (!in_bias) x.call.k[x.key * 2 + 1] = kNaN<T>;
      on_each_target(x.call, [&] {
        expect_nan_rows(x.call.dq, 2, [](int64_t i) { return i > 0; });
        expect_nan_rows(x.call.dbias, 1, [&](int64_t p) { return p / 131 > 0 && x.row_sees(p / 131, p % 131); });
        expect_nan_rows(x.call.dk, 2, [&](int64_t j) { return x.row_sees(2, j); });
        expect_nan_rows(x.call.dv, 2, [&](int64_t j) { return x.row_sees(2, j); });
      });
    });
  }
}

TYPED_TEST(BackwardNotFinite, NaNInAValueReachesNoValuesGradient) {
  using T = TypeParam;
  for_places<T>([](Around<T>& x) {
    x.call.value(x.key, 1) = kNaN<T>;
    on_each_target(x.call, [&] {
      expect_nan_rows(x.call.dq, 2, [](int64_t i) { return i > 0; });
      expect_nan_rows(x.call.dbias, 1, [&](int64_t p) { return p / 131 > 0 && x.row_sees(p / 131, p % 131); });
      expect_nan_rows(x.call.dk, 2, [&](int64_t j) { return x.row_sees(2, j); });
      expect_nan_rows(x.call.dv, 2, [](int64_t) { return false; });
    });
  });
}

/// Row 1 of three: in d_o it reaches one column of dv, in q all.
TYPED_TEST(BackwardNotFinite, NaNInARow) {
  using T = TypeParam;
  for (const bool in_q : {false, true}) {
    for_places<T>([&](Around<T>& x) {
      (in_q ? x.call.q : x.call.d_o)[1 * 2 + 1] = kNaN<T>;
      on_each_target(x.call, [&] {
        expect_nan_rows(x.call.dq, 2, [](int64_t i) { return i == 1; });
        expect_nan_rows(x.call.dbias, 1, [&](int64_t p) { return p / 131 == 1 && x.row_sees(1, p % 131); });
        expect_nan_rows(x.call.dk, 2, [&](int64_t j) { return x.row_sees(1, j); });
        expect_nan_rows(x.call.dv, 1, [&](int64_t e) { return x.row_sees(1, e / 2) && (in_q || e % 2 == 1); });
      });
    });
  }
}

/// 0 * NaN is NaN: a weight that underflowed swallows neither a value nor d_o.
TYPED_TEST(BackwardNotFinite, AWeightOfZero) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({0, -1e4}, {1, kNaN<T>});
  call.bias = {0, 0};
  on_each_target(call, [&] {
    expect_all_nan(call.dbias);
    expect_all_nan(call.dq);
    EXPECT_EQ(call.dv, (std::vector<T>{1, 0}));
  });
  PackedGradients<T> of_d_o = of_scores<T>({0, -1e4}, {1, 2});
  of_d_o.d_o = {kNaN<T>};
  on_each_target(of_d_o, [&] { expect_all_nan(of_d_o.dv); });
}

TYPED_TEST(BackwardNotFinite, Infinity) {
  using T = TypeParam;
  for (const T inf : {kInf<T>, -kInf<T>}) {
    PackedGradients<T> call = of_scores<T>({0, 1, -1e4}, {1, inf, 3});
    call.bias = {0, 0, 0};
    on_each_target(call, [&] {
      for (const std::vector<T>* x : {&call.dbias, &call.dq, &call.dk}) {
        for (const T e : *x) EXPECT_FALSE(std::isfinite(e)) << e;
      }
      for (const T e : call.dv) EXPECT_TRUE(std::isfinite(e)) << e;
    });
    call = of_scores<T>({0, 1, -1e4}, {1, 2, 3});
    call.d_o = {inf};
    on_each_target(call, [&] {
      EXPECT_EQ(call.dv[0], inf);
      EXPECT_EQ(call.dv[1], inf);
      for (const std::vector<T>* x : {&call.dv, &call.dq, &call.dk}) {
        for (const T e : *x) EXPECT_FALSE(std::isfinite(e)) << e;
      }
    });
  }
}

/// A dropped weight is a factor of 0, which meets its value all the same.
TYPED_TEST(BackwardNotFinite, ADroppedPairIsAFactorOfZero) {
  using T = TypeParam;
  PackedGradients<T> call = of_scores<T>({0, 0}, {5, 3});
  call.bias = {0, 0};
  call.options.dropout = 0.5;
  bool keep[2] = {true, true};
  while (keep[0] || !keep[1]) {  // drops the first of two keys
    ++call.options.seed;
    ASSERT_TRUE(dropout_mask(view(keep, 1, 1, 1, 2), call.options).ok());
  }
  on_each_target(call, [&] {  // o is 3
    EXPECT_EQ(call.dv, (std::vector<T>{0, 1}));
    EXPECT_EQ(call.dbias, (std::vector<T>{-1.5, 1.5}));
  });
  PackedGradients<T> value = call, row = call;
  value.v[0] = kNaN<T>;
  on_each_target(value, [&] {
    expect_all_nan(value.dbias);
    EXPECT_EQ(value.dv, (std::vector<T>{0, 1}));
  });
  row.d_o = {kNaN<T>};
  on_each_target(row, [&] { expect_all_nan(row.dv); });
}

}  // namespace
}  // namespace foveate::trial
