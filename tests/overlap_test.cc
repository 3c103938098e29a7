// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Footprints of strided views against the bytes they reach, counted one by one.
#include "src/overlap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "foveate/tensor.h"

namespace foveate {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::string text(const ConstTensor& view) {
  std::string text = std::to_string(reinterpret_cast<uintptr_t>(view.data)) + ' ' + name_of(view.dtype);
  for (int i = 0; i < 4; ++i) text += ' ' + std::to_string(view.shape[i]) + ':' + std::to_string(view.stride[i]);
  return text;
}

/// Every address of the view's elements. Nothing is read: addresses are numbers here.
std::vector<uintptr_t> elements(const ConstTensor& view) {
  std::vector<uintptr_t> addresses;
  for (int64_t b = 0; b < view.shape[0]; ++b) {
    for (int64_t h = 0; h < view.shape[1]; ++h) {
      for (int64_t i = 0; i < view.shape[2]; ++i) {
        for (int64_t d = 0; d < view.shape[3]; ++d) {
          const int64_t at = b * view.stride[0] + h * view.stride[1] + i * view.stride[2] + d * view.stride[3];
          addresses.push_back(reinterpret_cast<uintptr_t>(view.data) +
                              static_cast<uintptr_t>(at * size_of(view.dtype)));
        }
      }
    }
  }
  return addresses;
}

std::set<uintptr_t> bytes(const ConstTensor& view) {
  std::set<uintptr_t> all;
  for (const uintptr_t address : elements(view)) {
    for (int64_t i = 0; i < size_of(view.dtype); ++i) all.insert(address + static_cast<uintptr_t>(i));
  }
  return all;
}

bool truly_overlap(const ConstTensor& a, const ConstTensor& b) {
  const std::set<uintptr_t> of_a = bytes(a);
  for (const uintptr_t byte : bytes(b)) {
    if (of_a.count(byte) != 0) return true;
  }
  return false;
}

bool truly_overlaps_itself(const ConstTensor& view) {
  return bytes(view).size() != elements(view).size() * static_cast<size_t>(size_of(view.dtype));
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): addresses that nothing lies at
const void* address(uintptr_t number) { return reinterpret_cast<const void*>(number); }

ConstTensor random_view(std::mt19937& random) {
  constexpr DType kTypes[] = {DType::boolean, DType::f16, DType::f32, DType::f64};
  const auto between = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  ConstTensor view = {address(static_cast<uintptr_t>(between(4000, 4060))), kTypes[between(0, 3)], {}, {}};
  for (int i = 0; i < 4; ++i) {
    view.shape[i] = between(0, 40) == 0 ? 0 : between(1, 4);
    view.stride[i] = between(0, 2) == 0 ? between(-2, 2) : between(-30, 30);
  }
  return view;
}

TEST(Overlap, NeverAFalseNo) {
  std::mt19937 random(3);
  int apart = 0, together = 0;
  for (int i = 0; i < 20000; ++i) {
    const ConstTensor a = random_view(random), b = random_view(random);
    const bool truth = truly_overlap(a, b), said = overlap(a, b);
    EXPECT_TRUE(overlap(b, a) || !truth) << text(b) << " | " << text(a);
    EXPECT_TRUE(said || !truth) << text(a) << " | " << text(b);
    apart += !said;
    together += truth;
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(together, 1000);
}

/// Views cut from one array alike: where most refinements answer.
TEST(Overlap, NeverAFalseNoOfOneArray) {
  std::mt19937 random(4);
  const auto up_to = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n + 1)); };
  int apart = 0, together = 0;
  for (int i = 0; i < 20000; ++i) {
    const int64_t steps[4] = {60 + up_to(3), 20 + up_to(2), 6 + up_to(1), 1 + up_to(1)};
    ConstTensor views[2];
    for (ConstTensor& view : views) {
      view = {address(static_cast<uintptr_t>(4000 + 4 * up_to(60))), DType::f32, {}, {}};
      for (int axis = 0; axis < 4; ++axis) {
        view.shape[axis] = 1 + up_to(3);
        view.stride[axis] = up_to(7) == 0 ? -steps[axis] : up_to(9) == 0 ? steps[axis] + 1 : steps[axis];
      }
    }
    const bool truth = truly_overlap(views[0], views[1]), said = overlap(views[0], views[1]);
    EXPECT_TRUE(said || !truth) << text(views[0]) << " | " << text(views[1]);
    apart += !said;
    together += truth;
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(together, 1000);
}

TEST(Overlap, NeverAFalseNoOfItself) {
  std::mt19937 random(5);
  int apart = 0, together = 0;
  for (int i = 0; i < 20000; ++i) {
    const ConstTensor view = random_view(random);
    const bool truth = truly_overlaps_itself(view), said = overlaps_itself(view);
    EXPECT_TRUE(said || !truth) << text(view);
    apart += !said;
    together += truth;
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(together, 1000);
}

// --- No false yes where it matters ---

/// A packed array of every layout, and its views.
std::vector<ConstTensor> honest_views() {
  std::vector<ConstTensor> views;
  const auto* base = static_cast<const float*>(address(4096));
  for (const Layout layout : {Layout::bhnd, Layout::bnhd}) {
    const ConstTensor packed = view(base, 3, 4, 5, 6, layout);
    ConstTensor sliced = packed, reversed = packed, transposed = packed, stepped = packed;
    for (int axis = 0; axis < 4; ++axis) sliced.shape[axis] -= axis == 1 ? 2 : 1;
    for (int axis = 0; axis < 4; ++axis) {
      reversed.data = static_cast<const float*>(reversed.data) + (reversed.shape[axis] - 1) * reversed.stride[axis];
      reversed.stride[axis] = -reversed.stride[axis];
    }
    std::swap(transposed.shape[2], transposed.shape[3]);
    std::swap(transposed.stride[2], transposed.stride[3]);
    for (int axis = 0; axis < 4; ++axis) {
      stepped.shape[axis] = (stepped.shape[axis] + 1) / 2;
      stepped.stride[axis] *= 2;
    }
    for (const ConstTensor& one : {packed, sliced, reversed, transposed, stepped}) views.push_back(one);
  }
  ConstTensor one = view(base, 1, 1, 1, 6);
  for (int axis = 0; axis < 3; ++axis) one.stride[axis] = kMin;
  views.push_back(one);
  return views;
}

TEST(Overlap, HonestViewsDoNotOverlapThemselves) {
  for (const ConstTensor& view : honest_views()) {
    EXPECT_FALSE(overlaps_itself(view)) << text(view);
    EXPECT_TRUE(overlap(view, view)) << text(view);
    EXPECT_TRUE(addressable(view)) << text(view);
  }
}

TEST(Overlap, ArraysSideBySideAreApart) {
  const int64_t bytes_of_array = 3 * 4 * 5 * 6 * 4;
  for (const ConstTensor& a : honest_views()) {
    for (ConstTensor b : honest_views()) {
      b.data = static_cast<const char*>(b.data) + bytes_of_array;
      EXPECT_FALSE(overlap(a, b)) << text(a) << " | " << text(b);
    }
  }
}

TEST(Overlap, QkvoInterleavedAreApart) {
  // One buffer [b, n, 4 h, d] of q, k, v, o: in each row side by side, or by turns in each head.
  constexpr int64_t b = 2, n = 5, h = 3, d = 4;
  const auto* base = static_cast<const float*>(address(4096));
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      const auto beside = [&](int64_t k) {
        return ConstTensor{base + k * h * d, DType::f32, {b, h, n, d}, {n * 4 * h * d, d, 4 * h * d, 1}};
      };
      const auto by_turns = [&](int64_t k) {
        return ConstTensor{base + k * d, DType::f32, {b, h, n, d}, {n * 4 * h * d, 4 * d, 4 * h * d, 1}};
      };
      EXPECT_EQ(overlap(beside(i), beside(j)), i == j) << i << ' ' << j;
      EXPECT_EQ(overlap(by_turns(i), by_turns(j)), i == j) << i << ' ' << j;
    }
  }
}

TEST(Overlap, GroupedHeadsInterleavedAreApart) {
  // One buffer [b, n, h_q + 2 h_kv, d] of q, k, v.
  constexpr int64_t b = 2, n = 5, d = 4;
  const auto* base = static_cast<const float*>(address(4096));
  for (const int64_t h_kv : {1, 2, 4}) {
    const int64_t heads = 4 + 2 * h_kv;
    const auto part = [&](int64_t first, int64_t h) {
      return ConstTensor{base + first * d, DType::f32, {b, h, n, d}, {n * heads * d, d, heads * d, 1}};
    };
    const ConstTensor q = part(0, 4), k = part(4, h_kv), v = part(4 + h_kv, h_kv);
    for (const auto& [one, other] : {std::pair{q, k}, {q, v}, {k, v}}) {
      EXPECT_FALSE(overlap(one, other)) << h_kv;
      EXPECT_FALSE(overlap(other, one)) << h_kv;
    }
    EXPECT_TRUE(overlap(q, part(3, h_kv)));
  }
}

TEST(Overlap, PartsOfACacheAreApart) {
  // Along each axis of one packed array: what lies before an index, and what lies from it on.
  const auto* base = static_cast<const float*>(address(4096));
  for (const Layout layout : {Layout::bhnd, Layout::bnhd}) {
    const ConstTensor cache = view(base, 4, 6, 8, 10, layout);
    for (int axis = 0; axis < 4; ++axis) {
      ConstTensor front = cache, back = cache;
      front.shape[axis] /= 2;
      back.shape[axis] -= front.shape[axis];
      back.data = static_cast<const float*>(back.data) + front.shape[axis] * back.stride[axis];
      EXPECT_FALSE(overlap(front, back)) << axis << ' ' << text(cache);
      ++front.shape[axis];
      EXPECT_TRUE(overlap(front, back)) << axis << ' ' << text(cache);
    }
  }
}

TEST(Overlap, EmptyViewsReachNothing) {
  const auto* base = static_cast<const float*>(address(4096));
  ConstTensor empty = view(base, 2, 0, 3, 4);
  empty.stride[0] = 0;
  EXPECT_FALSE(overlap(empty, view(base, 2, 2, 2, 2)));
  EXPECT_FALSE(overlap(view(base, 2, 2, 2, 2), empty));
  EXPECT_FALSE(overlaps_itself(empty));
}

// --- Addresses ---

TEST(Addressable, CountsInSixtyThreeBits) {
  const auto view_of = [](DType dtype, int64_t extent, int64_t stride) {
    return ConstTensor{address(4096), dtype, {1, extent, 1, 1}, {kMin, stride, kMax, kMin}};
  };
  EXPECT_TRUE(addressable(view_of(DType::boolean, 2, kMax - 1)));
  EXPECT_FALSE(addressable(view_of(DType::boolean, 2, kMax)));  // its last byte is the 2^63rd
  EXPECT_FALSE(addressable(view_of(DType::boolean, 2, kMin)));
  EXPECT_TRUE(addressable(view_of(DType::boolean, 2, -(kMax - 1))));
  EXPECT_TRUE(addressable(view_of(DType::f32, 2, kMax / 4 - 1)));
  EXPECT_FALSE(addressable(view_of(DType::f32, 2, kMax / 4 + 1)));
  EXPECT_TRUE(addressable(view_of(DType::f64, int64_t{1} << 59, 1)));
  EXPECT_FALSE(addressable(view_of(DType::f64, int64_t{1} << 60, 1)));
  EXPECT_TRUE(addressable(view_of(DType::f64, int64_t{1} << 60, 0)));
  EXPECT_FALSE(addressable({address(4096), DType::boolean, {2, 2, 2, 1}, {kMax / 2, kMax / 2, kMax / 2, 1}}));
}

}  // namespace
}  // namespace foveate
