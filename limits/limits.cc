// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "limits/limits.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "limits/clock.h"
#include "limits/loops.h"

namespace foveate::limits {
namespace {

/// A tenth of a millisecond or so: short beside what is measured, long beside the call.
constexpr int64_t kRounds = 50000;

/// What one task reads: many to each worker, so that none waits long for the last.
constexpr size_t kPiece = size_t{4} << 20;

int64_t multiply(Product product, int64_t rounds) {
  switch (product) {
    case Product::f64:
      return multiply_adds<double>(rounds);
    case Product::f32:
      return multiply_adds<float>(rounds);
    case Product::bf16:
      return bf16_products(rounds);
    case Product::i8:
      return i8_products(rounds);
  }
  return 0;
}

double one_thread(Product product, double seconds) {
  int64_t operations = 0;
  const double start = thread_seconds();
  double elapsed = 0;
  do {
    operations += multiply(product, kRounds);
    elapsed = thread_seconds() - start;
  } while (elapsed < seconds);
  return static_cast<double>(operations) / elapsed;
}

/// Adds up what is read, so that it has to be read.
std::atomic<uint64_t> sums = 0;

void read(const Bytes& bytes) { sums.fetch_add(read_all(bytes.data, bytes.size), std::memory_order_relaxed); }

std::vector<Bytes> pieces_of(std::span<const Bytes> all) {
  std::vector<Bytes> pieces;
  for (const auto& [data, size] : all) {
    for (size_t at = 0; at < size; at += kPiece) {
      pieces.push_back({static_cast<const char*>(data) + at, std::min(kPiece, size - at)});
    }
  }
  return pieces;
}

}  // namespace

const char* name_of(Product product) {
  switch (product) {
    case Product::f64:
      return "float64";
    case Product::f32:
      return "float32";
    case Product::bf16:
      return "bfloat16";
    case Product::i8:
      return "int8";
  }
  return "none";
}

bool has(Product product) { return multiply(product, 1) > 0; }

double peak(Product product, double seconds, Executor* executor) {
  if (executor == nullptr) return one_thread(product, seconds);
  // Each worker takes as many tasks as it can do, so that the last to come does not decide.
  struct Work {
    Product product;
    std::atomic<int64_t> operations = 0;
  } work{product};
  const Executor::Task task = [](void* context, int64_t /*task*/, int64_t /*worker*/) {
    Work& w = *static_cast<Work*>(context);
    w.operations.fetch_add(multiply(w.product, kRounds), std::memory_order_relaxed);
  };
  const int64_t at_once = 16 * executor->concurrency();
  const double start = wall_seconds();
  double elapsed = 0;
  do {
    executor->run(at_once, task, &work);
    elapsed = wall_seconds() - start;
  } while (elapsed < seconds);
  return static_cast<double>(work.operations.load()) / elapsed;
}

double read_seconds(std::span<const Bytes> all, Executor* executor) {
  if (executor == nullptr) {
    const double start = thread_seconds();
    for (const Bytes& bytes : all) read(bytes);
    return thread_seconds() - start;
  }
  const std::vector<Bytes> pieces = pieces_of(all);
  const Executor::Task task = [](void* context, int64_t t, int64_t /*worker*/) {
    read((*static_cast<const std::vector<Bytes>*>(context))[static_cast<size_t>(t)]);
  };
  const double start = wall_seconds();
  executor->run(static_cast<int64_t>(pieces.size()), task, const_cast<std::vector<Bytes>*>(&pieces));
  return wall_seconds() - start;
}

}  // namespace foveate::limits
