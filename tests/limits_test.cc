// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The loops that limits are measured by: all that is claimed to be read is read, and all that is counted is done.
#include "limits/limits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "foveate/target.h"
#include "limits/clock.h"
#include "limits/loops.h"
#include "tests/each_target.h"
#include "tests/thread_executor.h"

namespace foveate::limits {
namespace {

using trial::on_each_target;

/// The sum that read_all() promises, by plain loops.
uint64_t sum_of(const uint8_t* data, size_t bytes) {
  uint64_t sum = 0;
  for (; bytes >= 8; data += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    sum += word;
  }
  return std::accumulate(data, data + bytes, sum);
}

TEST(Limits, AllIsRead) {
  std::vector<uint8_t> bytes(20000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 167 + i / 256);
  for (const size_t size : {0, 1, 7, 8, 63, 255, 256, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 9999, 19997}) {
    for (const size_t offset : {0, 1, 3}) {
      EXPECT_EQ(read_all(bytes.data() + offset, size), sum_of(bytes.data() + offset, size)) << size << ' ' << offset;
    }
  }
}

TEST(Limits, OperationsAreCountedByRounds) {
  on_each_target([] {
    for (const auto& loop : {multiply_adds<float>, multiply_adds<double>, bf16_products, i8_products}) {
      EXPECT_EQ(loop(30), 30 * loop(1)) << active_target();
    }
    EXPECT_EQ(multiply_adds<float>(1) % (14 * 2), 0) << active_target();
    EXPECT_GE(multiply_adds<float>(1), multiply_adds<double>(1)) << active_target();
  });
}

TEST(Limits, NativeProductsAreThoseOfTheTarget) {
  on_each_target([] {
    const std::string_view target = active_target();
    EXPECT_TRUE(has(Product::f32) && has(Product::f64)) << target;
    EXPECT_EQ(has(Product::bf16), target.ends_with("-bf16") || target.ends_with("-amx")) << target;
    EXPECT_EQ(has(Product::i8),
              target.find('-') != target.npos && !target.ends_with("-256") && !target.ends_with("-128"))
        << target;
  });
}

/// As many operations as chains allow: one every latency would be a tenth of them. Loose, for tests run beside one another.
TEST(Limits, PeaksAreWorthTheirName) {
  on_each_target([] {
    const double f32 = peak(Product::f32, 0.01), f64 = peak(Product::f64, 0.01);
    EXPECT_GT(f32, 1e6) << active_target();
    EXPECT_GT(f64, 0.2 * f32) << active_target();
    EXPECT_LT(f64, 2 * f32) << active_target();
    if (has(Product::bf16)) {
      EXPECT_GT(peak(Product::bf16, 0.01), 0.3 * f32) << active_target();
    }
    if (has(Product::i8)) {
      EXPECT_GT(peak(Product::i8, 0.01), 1.5 * f32) << active_target();
    }
  });
}

TEST(Limits, ExecutorsAreMeasuredToo) {
  ThreadExecutor executor(2);
  EXPECT_GT(peak(Product::f32, 0.01, &executor), 1e6);
  const std::vector<char> a(9 << 20, 1), b(5 << 20, 1);
  const Bytes both[] = {{a.data(), a.size()}, {b.data(), b.size()}};
  EXPECT_GT(read_seconds(both, &executor), 0);
  EXPECT_GT(read_seconds(both), 0);
  EXPECT_LT(read_seconds(both), 30);  // 14 MB, emulated or not
}

}  // namespace
}  // namespace foveate::limits
