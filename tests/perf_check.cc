// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Fixed calls whose instructions scripts/perf-check counts. Run by valgrind's callgrind, each call becomes one dump that is
// named "CALL TARGET"; nothing but the call itself is counted. By itself this only makes the calls, and fails where one does.
// On 64-bit ARM, scripts/neon-count traces one by qemu instead.
//
//   perf_check               makes all calls
//   perf_check CALL          makes this one
//   perf_check --compiler    prints what the counts hold for: the compiler and its version
#ifndef FOVEATE_TRACED
#include <valgrind/callgrind.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <vector>

#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/linear.h"
#include "foveate/target.h"

namespace foveate {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

#ifdef FOVEATE_TRACED
constexpr const char* kTargets[] = {"neon"};

/// Between them lies what is counted: scripts/neon-count looks for their names.
extern "C" [[gnu::noinline]] void counting_begins() { asm volatile(""); }
extern "C" [[gnu::noinline]] void counting_ends() { asm volatile(""); }
#else
/// What valgrind can run; it knows no AVX-512.
constexpr const char* kTargets[] = {"avx2", "sse4"};
#endif

template <class T>
using Array = std::vector<T>;

/// Numbers in [-1, 1), the same on every machine, and cheap: valgrind counts slowly what it does not count at all.
template <class T>
Array<T> numbers(int64_t n, uint32_t seed) {
  Array<T> values(static_cast<size_t>(n));
  uint32_t x = seed;
  for (T& value : values) {
    x = x * 1664525 + 1013904223;
    value = static_cast<T>(static_cast<float>(static_cast<int32_t>(x)) * 0x1p-31f);
  }
  return values;
}

/// Keys and values of int8.
template <>
Array<int8_t> numbers<int8_t>(int64_t n, uint32_t seed) {
  Array<int8_t> values;
  for (const float x : numbers<float>(n, seed)) values.push_back(static_cast<int8_t>(std::lround(127 * x)));
  return values;
}

/// Counts whatever is called through it.
class Counter {
 public:
  /// Of the call `only`; nullptr: of all.
  Counter(const char* target, const char* only) : target_(target), only_(only) {}

  bool wants(const char* name) const { return only_ == nullptr || std::strcmp(name, only_) == 0; }

  template <class Call>
  void count(const char* name, const Call& call) {
    const std::string& label = labels_.emplace_back(std::string(name) + " " + target_);
#ifdef FOVEATE_TRACED
    counting_begins();
    const Status status = call();
    counting_ends();
#else
    CALLGRIND_ZERO_STATS;
    CALLGRIND_TOGGLE_COLLECT;
    const Status status = call();
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(label.c_str());
#endif
    if (status.ok()) return;
    std::fprintf(stderr, "perf_check: %s: %s\n", label.c_str(), status.message());
    failed_ = true;
  }

  /// Whether a call failed, or there was none of the name.
  bool failed() const { return failed_ || labels_.empty(); }

 private:
  const char* target_;
  const char* only_;
  std::deque<std::string> labels_;  // valgrind reads them when it writes the dump, after the request
  bool failed_ = false;
};

struct Shape {
  int64_t b, h_q, h_kv, n_q, n_kv, d;
};

/// The arrays of a call, q and o of type T, keys and values of type Stored.
template <class T, class Stored = T>
struct Arrays {
  Shape s;
  Array<T> q, o;
  Array<Stored> k, v;
  Array<std::conditional_t<std::is_same_v<T, double>, double, float>> lse;

  explicit Arrays(const Shape& shape)
      : s(shape),
        q(numbers<T>(s.b * s.h_q * s.n_q * s.d, 1)),
        o(q.size()),
        k(numbers<Stored>(s.b * s.h_kv * s.n_kv * s.d, 2)),
        v(numbers<Stored>(s.b * s.h_kv * s.n_kv * s.d, 3)),
        lse(static_cast<size_t>(s.b * s.h_q * s.n_q)) {}

  ConstTensor q_view() const { return view(q.data(), s.b, s.h_q, s.n_q, s.d); }
  ConstTensor k_view() const { return view(k.data(), s.b, s.h_kv, s.n_kv, s.d); }
  ConstTensor v_view() const { return view(v.data(), s.b, s.h_kv, s.n_kv, s.d); }
  AttentionOutputs outputs() {
    return {.o = view(o.data(), s.b, s.h_q, s.n_q, s.d), .lse = view(lse.data(), s.b, s.h_q, s.n_q, 1)};
  }
};

template <class T, class Stored = T>
void attend(Counter& counter, const char* name, const Shape& shape, const AttentionOptions& options = {}) {
  if (!counter.wants(name)) return;
  Arrays<T, Stored> a(shape);
  counter.count(name, [&] { return attention(a.q_view(), a.k_view(), a.v_view(), a.outputs(), options); });
}

void attend_to_int8(Counter& counter, const char* name, const Shape& s) {
  const Array<float> scales(static_cast<size_t>(s.b * s.h_kv * s.n_kv), 0.01f);
  const ConstTensor rows = view(scales.data(), s.b, s.h_kv, s.n_kv, 1);
  attend<float, int8_t>(counter, name, s, {.k_scales = rows, .v_scales = rows});
}

void attend_masked(Counter& counter, const char* name, const Shape& s) {
  if (!counter.wants(name)) return;
  const Array<float> bias = numbers<float>(s.n_q * s.n_kv, 4);
  const Array<uint8_t> mask = [&] {
    Array<uint8_t> kept;
    for (const float x : numbers<float>(s.n_q * s.n_kv, 5)) kept.push_back(x > -0.5f);
    return kept;
  }();
  const ConstTensor pairs = view(bias.data(), 1, 1, s.n_q, s.n_kv);
  ConstTensor kept = pairs;
  kept.data = mask.data();
  kept.dtype = DType::boolean;
  attend<float>(counter, name, s, {.mask = kept, .bias = pairs});
}

void go_back(Counter& counter, const char* name, const Shape& s, const AttentionOptions& options) {
  if (!counter.wants(name)) return;
  Arrays<float> a(s);
  const Array<float> d_o = numbers<float>(static_cast<int64_t>(a.o.size()), 4);
  Array<float> dq(a.q.size()), dk(a.k.size()), dv(a.v.size());
  const auto rows = [&s](auto* data) { return view(data, s.b, s.h_q, s.n_q, s.d); };
  const AttentionOutputs outputs = a.outputs();
  if (!attention(a.q_view(), a.k_view(), a.v_view(), outputs, options).ok()) return;
  counter.count(name, [&] {
    return attention_backward(a.q_view(), a.k_view(), a.v_view(), outputs.o, outputs.lse, rows(d_o.data()),
                              {.dq = rows(dq.data()), .dk = rows(dk.data()), .dv = rows(dv.data())}, options);
  });
}

void attend_additively(Counter& counter, const char* name, const Shape& s, int64_t d_a) {
  if (!counter.wants(name)) return;
  Arrays<float> a(s);
  const Array<float> w_q = numbers<float>(d_a * s.d, 4), w_k = numbers<float>(d_a * s.d, 5), w = numbers<float>(d_a, 6);
  const AdditiveParameters parameters{
      .w_q = view(w_q.data(), d_a, s.d), .w_k = view(w_k.data(), d_a, s.d), .w = view(w.data(), d_a)};
  counter.count(name,
                [&] { return additive_attention(a.q_view(), a.k_view(), a.v_view(), parameters, a.outputs(), {}); });
}

void attend_linearly(Counter& counter, const char* name, const Shape& s) {
  if (!counter.wants(name)) return;
  Arrays<float> a(s);
  counter.count(name, [&] {
    return linear_attention(a.q_view(), a.k_view(), a.v_view(), a.outputs().o, LinearOptions{.causal = true});
  });
}

/// The calls: as small as their kind of work allows, a second or two each under valgrind.
bool make_calls(const char* target, const char* only) {
  Counter counter(target, only);
  Arrays<float> first({1, 1, 1, 8, 8, 16});  // what is done once is not counted
  if (!attention(first.q_view(), first.k_view(), first.v_view(), first.outputs()).ok()) return false;
  attend<float>(counter, "tiny", {1, 1, 1, 8, 8, 16});
  attend<float>(counter, "f32_d64", {1, 2, 2, 384, 384, 64});
  attend<float>(counter, "f32_d128", {1, 1, 1, 384, 384, 128});
  attend<float>(counter, "f32_causal_d64", {1, 2, 2, 384, 384, 64}, {.causal = true});
  attend<float>(counter, "f32_window", {1, 1, 1, 1024, 1024, 64}, {.causal = true, .window_left = 128});
  attend<float>(counter, "f32_short", {2, 3, 3, 128, 128, 64});
  attend<float>(counter, "f32_n17", {4, 6, 6, 17, 17, 32});
  attend<float>(counter, "f32_softcap", {1, 1, 1, 384, 384, 64}, {.softcap = 30});
  attend_masked(counter, "f32_mask_bias", {1, 1, 1, 384, 384, 64});
  attend<double>(counter, "f64_d64", {1, 1, 1, 256, 256, 64});
  attend<BFloat16>(counter, "bf16_d64", {1, 1, 1, 384, 384, 64});
  attend<Float16>(counter, "f16_d64", {1, 1, 1, 384, 384, 64});
  attend_to_int8(counter, "int8_d128", {1, 1, 1, 256, 256, 128});
  attend<float>(counter, "decode_f32", {1, 4, 4, 1, 2048, 128});
  attend<BFloat16>(counter, "decode_bf16_8:2", {1, 8, 2, 1, 2048, 128});
  attend_to_int8(counter, "decode_int8_8:2", {1, 8, 2, 1, 2048, 128});
  go_back(counter, "backward_d64", {1, 1, 1, 256, 256, 64}, {});
  go_back(counter, "backward_causal_d64", {1, 1, 1, 256, 256, 64}, {.causal = true});
  attend_additively(counter, "additive_d64", {1, 1, 1, 128, 128, 64}, 64);
  attend_linearly(counter, "linear_d64", {1, 1, 1, 1024, 1024, 64});
  return !counter.failed();
}

}  // namespace
}  // namespace foveate

int main(int argc, char** argv) {
  using namespace foveate;
  if (argc == 2 && std::strcmp(argv[1], "--compiler") == 0) return std::puts(kCompiler) < 0;
  bool right = true;
  for (const char* target : kTargets) {
    const Status status = pin_target(target);
    if (!status.ok()) {
      std::printf("skipped: counts of %s (%s)\n", target, status.message());
      continue;
    }
    right &= make_calls(target, argc == 2 ? argv[1] : nullptr);
  }
  return right ? 0 : 1;
}
