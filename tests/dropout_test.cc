// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Dropout: which weights are kept, exactly; that it is a property of the pair; that lse and weights are without it.
// Its numbers are judged with all other options' by kernel_test and the fuzzer.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "foveate/attention.h"
#include "reference/philox.h"
#include "tests/each_target.h"
#include "tests/thread_executor.h"

namespace foveate::trial {
namespace {

using Words = std::array<uint32_t, 4>;

// The known answers of Random123, kat_vectors.
TEST(Philox, KnownAnswers) {
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(reference::philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(reference::philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(reference::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// Attention whose values are the unit vectors: o is the weights, as dropout leaves them.
template <class T>
struct Kept {
  int64_t b = 2, h = 3, n_q = 5, n_kv = 83;
  AttentionOptions options = {};
  std::vector<T> o = {}, weights = {}, lse = {};

  void attend(Executor* executor = nullptr) {
    const auto size = [](auto... n) { return static_cast<size_t>((... * n)); };
    std::vector<T> q(size(b, h, n_q)), k(size(b, h, n_kv)), v(size(b, h, n_kv, n_kv), T{0});
    for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<T>(i % 7) / 4;
    for (size_t i = 0; i < k.size(); ++i) k[i] = static_cast<T>(i % 5) / 4;
    for (int64_t i = 0; i < b * h * n_kv; ++i) v[static_cast<size_t>(i * n_kv + i % n_kv)] = 1;
    o.resize(size(b, h, n_q, n_kv));
    weights.resize(o.size());
    lse.resize(q.size());
    const Status status = attention(view<const T>(q.data(), b, h, n_q, 1), view<const T>(k.data(), b, h, n_kv, 1),
                                    view<const T>(v.data(), b, h, n_kv, n_kv),
                                    {.o = view(o.data(), b, h, n_q, n_kv),
                                     .lse = view(lse.data(), b, h, n_q, 1),
                                     .weights = view(weights.data(), b, h, n_q, n_kv)},
                                    options, {.executor = executor});
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// Where p_0 and key 0 stand.
  void expect_the_mask(int64_t first_query, int64_t first_key) const {
    const double p = options.dropout;
    size_t at = 0;
    int64_t kept = 0;
    for (int64_t batch = 0; batch < b; ++batch)
      for (int64_t head = 0; head < h; ++head)
        for (int64_t i = 0; i < n_q; ++i)
          for (int64_t j = 0; j < n_kv; ++j, ++at) {
            const bool keep = reference::keeps(p, options.seed, batch, head, first_query + i, first_key + j);
            kept += keep;
            const double want = keep ? static_cast<double>(weights[at]) / (1 - p) : 0;
            ASSERT_NEAR(o[at], want, 8 * std::numeric_limits<T>::epsilon() * want)
                << "b " << batch << " h " << head << " i " << i << " j " << j;
          }
    // Kept ones are binomial: six standard deviations.
    const double n = static_cast<double>(at), share = (1 - p) * n;
    EXPECT_NEAR(static_cast<double>(kept), share, 6 * std::sqrt(n * p * (1 - p)) + 1);
  }
};

template <class T>
class Dropout : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Dropout, Types);

TYPED_TEST(Dropout, KeepsWhatPhiloxKeeps) {
  on_each_target([] {
    for (const double p : {0.1, 0.5, 0.99, 1e-12}) {
      for (const uint64_t seed : {uint64_t{0}, uint64_t{42}, uint64_t{0x123456789abcdef0}}) {
        Kept<TypeParam> call{.options = {.dropout = p, .seed = seed}};
        call.attend();
        call.expect_the_mask(call.n_kv - call.n_q, 0);
      }
    }
  });
}

TYPED_TEST(Dropout, CountsPositionsWhereverKeysStand) {
  on_each_target([] {
    for (const int64_t offset :
         {int64_t{1}, int64_t{63}, int64_t{1022}, int64_t{-5}, int64_t{-1024}, int64_t{1} << 33}) {
      Kept<TypeParam> call{.options = {.q_offset = 7, .kv_offset = offset, .dropout = 0.5, .seed = 9}};
      call.attend();
      call.expect_the_mask(7, offset);
    }
  });
}

TYPED_TEST(Dropout, IsThePairsOwnWhateverComesWithIt) {
  on_each_target([] {
    Kept<TypeParam> whole{.options = {.q_offset = 3, .dropout = 0.3, .seed = 5}};
    whole.n_kv = 2500;
    whole.b = whole.h = 1;
    whole.attend();
    ThreadExecutor executor(3);
    Kept<TypeParam> parallel = whole;
    parallel.attend(&executor);
    EXPECT_EQ(parallel.o, whole.o);
    for (int64_t i = 0; i < whole.n_q; ++i) {  // row by row
      Kept<TypeParam> row = whole;
      row.n_q = 1;
      row.options.q_offset = 3 + i;
      row.attend();
      const auto* from = whole.o.data() + i * whole.n_kv;
      for (int64_t j = 0; j < whole.n_kv; ++j)
        ASSERT_EQ(row.o[static_cast<size_t>(j)] == 0, from[j] == 0) << i << ' ' << j;
    }
  });
}

TYPED_TEST(Dropout, LeavesLseAndWeightsAlone) {
  Kept<TypeParam> with{.options = {.dropout = 0.5}}, without;
  with.attend();
  without.attend();
  EXPECT_EQ(with.lse, without.lse);
  EXPECT_EQ(with.weights, without.weights);
  EXPECT_NE(with.o, without.o);
}

TEST(DropoutErrors, NameTheProbability) {
  const float one = 1;
  float o = 0;
  const ConstTensor x = view(&one, 1, 1, 1, 1);
  for (const auto& [p, text] : {std::pair{1.0, "1"}, {-0.1, "-0.1"}, {std::nan(""), "nan"}}) {
    const Status status = attention(x, x, x, {.o = view(&o, 1, 1, 1, 1)}, {.dropout = p});
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_EQ(std::string(status.message()),
              std::string("dropout: ") + text + "; expected a probability, at least 0 and below 1");
  }
}

}  // namespace
}  // namespace foveate::trial
