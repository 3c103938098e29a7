// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/run.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <stdexcept>

namespace foveate::claims {
namespace {

double thread_clock() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The keys as values too, of one component: for calls whose values do not matter.
ConstTensor first_components(const ConstTensor& k) {
  ConstTensor v = k;
  v.shape[3] = 1;
  return v;
}

}  // namespace

Normal Run::normal(std::string_view experiment) const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : experiment) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return Normal(hash ^ seed);
}

void Run::step(int64_t done, int64_t of) const {
  if (stop != nullptr && *stop) throw Stopped();
  if (progress) progress(static_cast<double>(done) / static_cast<double>(of));
}

void require_ok(const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::cancelled) throw Stopped();
  throw std::runtime_error(status.message());
}

std::vector<double> pair_scores(const Run& run, const std::vector<double>& q, const std::vector<double>& k, int64_t d_k,
                                double scale) {
  const int64_t count = std::ssize(q) / d_k;
  std::vector<double> scores(static_cast<size_t>(count));
  const ConstTensor keys = view(k.data(), count, 1, 1, d_k);
  require_ok(attention(view(q.data(), count, 1, 1, d_k), keys, first_components(keys),
                       {.lse = view(scores.data(), count, 1, 1, 1)}, {.scale = scale}, run.execution()));
  return scores;
}

template <class T>
std::vector<T> row_weights(const Run& run, const std::vector<T>& q, const std::vector<T>& k, int64_t n, int64_t d_k,
                           double scale) {
  const int64_t count = std::ssize(q) / d_k;
  std::vector<T> weights(static_cast<size_t>(count * n));
  const ConstTensor keys = view(k.data(), count, 1, n, d_k);
  require_ok(attention(view(q.data(), count, 1, 1, d_k), keys, first_components(keys),
                       {.weights = view(weights.data(), count, 1, 1, n)}, {.scale = scale}, run.execution()));
  return weights;
}

template std::vector<float> row_weights(const Run&, const std::vector<float>&, const std::vector<float>&, int64_t,
                                        int64_t, double);
template std::vector<double> row_weights(const Run&, const std::vector<double>&, const std::vector<double>&, int64_t,
                                         int64_t, double);

std::vector<double> largest_weights(const Run& run, Normal& normal, int64_t draws, int64_t n, int64_t d_k,
                                    double scale) {
  constexpr int64_t kChunk = 50;  // some 25 MB of keys at d_k 1024
  std::vector<double> largest;
  for (int64_t done = 0; done < draws; done += kChunk) {
    const int64_t count = std::min(kChunk, draws - done);
    const std::vector<double> q = draw(normal, count, d_k), k = draw(normal, count * n, d_k);
    const std::vector<double> weights = row_weights(run, q, k, n, d_k, scale);
    for (auto row = weights.begin(); row != weights.end(); row += n) largest.push_back(*std::max_element(row, row + n));
  }
  return largest;
}

std::vector<double> thread_seconds(int64_t times, const std::function<void()>& work) {
  const auto seconds_of = [&work](int64_t repeats) {
    const double start = thread_clock();
    for (int64_t i = 0; i < repeats; ++i) work();
    return (thread_clock() - start) / static_cast<double>(repeats);
  };
  constexpr double kLongEnough = 2e-3;  // beside the clock's own time, and the first touch of caches
  const auto repeats = static_cast<int64_t>(std::ceil(kLongEnough / std::max(seconds_of(1), 1e-6)));
  std::vector<double> seconds;
  for (int64_t i = 0; i < times; ++i) seconds.push_back(seconds_of(repeats));
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace foveate::claims
