// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call written out as a Spec, a few numbers that can be printed; and the Case made of it: arrays in memory, the call,
// and the oracle's problem. Tests write specs by hand or draw them at random, the fuzzer reads them from bytes.
#ifndef FOVEATE_TESTS_ATTENTION_CASE_H_
#define FOVEATE_TESTS_ATTENTION_CASE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "reference/arrays.h"
#include "reference/attention.h"
#include "tests/placed.h"

namespace foveate::trial {

/// Whether a mask or bias has an axis' whole extent; where not, it has 1 and is broadcast.
using Whole = std::array<bool, 4>;

struct Spec {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 8, d_v = 8;

  std::optional<double> scale = {};
  bool causal = false;
  Align align = Align::bottom_right;
  int64_t window_left = kUnlimited, window_right = kUnlimited;
  std::optional<Whole> mask = {};
  std::optional<Whole> bias = {};
  bool bias_forbids = false;  ///< one entry in four is -inf
  bool bias_huge = false;     ///< one entry in four is +-1e300 (a float64 bias) or +-1e38
  double softcap = 0;
  bool alibi = false, sinks = false;
  bool q_lengths = false, kv_lengths = false;
  double dropout = 0;
  std::optional<int64_t> q_offset = {}, kv_offset = {};

  /// bias, slopes, sinks and lengths in the dtype that is not the natural one: float64 for float32, int32 for int64, ...
  bool other_dtypes = false;
  int64_t vector_stride = 1;
  Placement q_in = {}, k_in = {}, v_in = {}, mask_in = {}, bias_in = {}, o_in = {}, lse_in = {}, weights_in = {};

  double magnitude = 1;    ///< of q and k
  int64_t non_finite = 0;  ///< so many elements of q, k and v are NaN or Inf
  bool poison = true;      ///< NaN in all that is never to be read
  bool want_o = true, want_lse = true, want_weights = true;
  int64_t workers = 0;  ///< of an executor; 0: none
  bool own_workspace = false;
  uint64_t seed = 1;
};

inline std::ostream& operator<<(std::ostream& out, const Spec& s) {
  out << "b " << s.b << " h " << s.h_q << '/' << s.h_kv << " n_q " << s.n_q << " n_kv " << s.n_kv << " d " << s.d_k
      << '/' << s.d_v << " seed " << s.seed;
  const auto whole = [&out](const char* name, const std::optional<Whole>& axes) {
    if (axes) out << name << (*axes)[0] << (*axes)[1] << (*axes)[2] << (*axes)[3];
  };
  if (s.scale) out << " scale " << *s.scale;
  if (s.causal) out << " causal";
  if (s.align == Align::top_left) out << " top-left";
  if (s.window_left >= 0 || s.window_right >= 0) out << " window " << s.window_left << ',' << s.window_right;
  whole(" mask ", s.mask);
  whole(" bias ", s.bias);
  if (s.bias_forbids) out << " bias_forbids";
  if (s.bias_huge) out << " bias_huge";
  if (s.softcap > 0) out << " softcap " << s.softcap;
  if (s.dropout > 0) out << " dropout " << s.dropout;
  if (s.alibi) out << " alibi";
  if (s.sinks) out << " sinks";
  if (s.q_lengths) out << " q_lengths";
  if (s.kv_lengths) out << " kv_lengths";
  if (s.q_offset) out << " q_offset " << *s.q_offset;
  if (s.kv_offset) out << " kv_offset " << *s.kv_offset;
  if (s.other_dtypes) out << " other_dtypes";
  out << " vector_stride " << s.vector_stride << " q " << s.q_in << " k " << s.k_in << " v " << s.v_in << " mask "
      << s.mask_in << " bias " << s.bias_in << " o " << s.o_in << " lse " << s.lse_in << " weights " << s.weights_in
      << " magnitude " << s.magnitude << " non_finite " << s.non_finite << " poison " << s.poison << " wants "
      << s.want_o << s.want_lse << s.want_weights << " workers " << s.workers;
  return out << (s.own_workspace ? " own_workspace" : "");
}

/// Runs tasks one by one, in a shuffled order, under shuffled workers: what a plan for many workers computes, without
/// threads.
class ShuffledExecutor final : public Executor {
 public:
  ShuffledExecutor(int64_t workers, uint64_t seed) : workers_(workers), random_(seed) {}
  int64_t concurrency() const override { return workers_; }
  void run(int64_t n_tasks, Task task, void* context) override {
    std::vector<int64_t> order(static_cast<size_t>(n_tasks));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    for (int64_t t : order) task(context, t, static_cast<int64_t>(random_() % static_cast<uint64_t>(workers_)));
  }

 private:
  int64_t workers_;
  std::mt19937_64 random_;
};

/// Values of one axis, in one of two dtypes.
struct Numbers {
  std::optional<Placed<double>> f64 = {};
  std::optional<Placed<float>> f32 = {};
  std::optional<Placed<int64_t>> i64 = {};
  std::optional<Placed<int32_t>> i32 = {};

  ConstVector vector() const {
    return f64 ? f64->vector() : f32 ? f32->vector() : i64 ? i64->vector() : i32 ? i32->vector() : ConstVector{};
  }
};

/// The type an engine type is judged in.
template <class T>
using Judge = std::conditional_t<sizeof(T) == 4, double, long double>;

template <class T>
class Case {
 public:
  using Real = Judge<T>;

  explicit Case(const Spec& s);

  /// Calls the engine, which is to write every output asked for.
  Status attend();

  AttentionOutputs outputs();
  bool padding_intact() const { return o.padding_intact() && lse.padding_intact() && weights.padding_intact(); }
  bool untouched() const { return o.untouched() && lse.untouched() && weights.untouched(); }

  Spec spec;
  Placed<T> q, k, v, o, lse, weights;
  AttentionOptions options;
  reference::Problem<Real> problem;

 private:
  double normal() { return std::normal_distribution<double>()(random_); }
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  void fill_inputs();
  void fill_mask();
  template <class B>
  void fill_bias(Placed<B>& bias);
  void fill_vectors();
  void poison();
  template <class B>
  void poison_bias(Placed<B>& bias);
  void state_problem();

  template <class Wide, class Other, class Draw>
  std::vector<double> fill_vector(std::optional<Placed<Wide>>& wide, std::optional<Placed<Other>>& other,
                                  bool take_other, int64_t n, const Draw& draw);

  std::mt19937_64 random_;
  Placed<unsigned char> mask_;
  Placed<float> bias32_;
  Placed<double> bias64_;
  bool bias_is_f64_;
  Numbers slopes_, sinks_, q_lengths_, kv_lengths_;
  std::vector<char> workspace_;
};

template <class T>
Case<T>::Case(const Spec& s)
    : spec(s),
      q({s.b, s.h_q, s.n_q, s.d_k}, s.q_in),
      k({s.b, s.h_kv, s.n_kv, s.d_k}, s.k_in),
      v({s.b, s.h_kv, s.n_kv, s.d_v}, s.v_in),
      o({s.b, s.h_q, s.n_q, s.d_v}, s.o_in),
      lse({s.b, s.h_q, s.n_q, 1}, s.lse_in),
      weights({s.b, s.h_q, s.n_q, s.n_kv}, s.weights_in),
      random_(s.seed),
      bias_is_f64_((sizeof(T) == 8) != s.other_dtypes) {
  options.scale = s.scale;
  options.causal = s.causal;
  options.align = s.align;
  options.window_left = s.window_left;
  options.window_right = s.window_right;
  options.softcap = s.softcap;
  options.dropout = s.dropout;
  options.seed = s.seed * 0x9E3779B97F4A7C15;  // both words
  options.q_offset = s.q_offset;
  options.kv_offset = s.kv_offset;
  fill_inputs();
  fill_mask();
  if (bias_is_f64_) fill_bias(bias64_);
  if (!bias_is_f64_) fill_bias(bias32_);
  fill_vectors();
  state_problem();
  if (s.poison) {
    poison();
    state_problem();
  }
}

template <class T>
void Case<T>::fill_inputs() {
  q.each([this](T& x) { x = static_cast<T>(normal() * spec.magnitude); });
  k.each([this](T& x) { x = static_cast<T>(normal() * spec.magnitude); });
  v.each([this](T& x) { x = static_cast<T>(normal()); });
  for (int64_t n = 0; n < spec.non_finite; ++n) {
    Placed<T>& array = below(8) == 0 ? q : below(2) == 0 ? k : v;
    if (array.size() == 0) continue;
    const Shape& e = array.shape();
    constexpr T inf = std::numeric_limits<T>::infinity();
    const T kinds[] = {std::numeric_limits<T>::quiet_NaN(), inf, -inf};
    array.at(below(e[0]), below(e[1]), below(e[2]), below(e[3])) = kinds[below(3)];
  }
}

inline Shape broadcast_shape(const Whole& whole, const Shape& full) {
  Shape shape;
  for (int axis = 0; axis < 4; ++axis) shape[axis] = whole[axis] ? full[axis] : 1;
  return shape;
}

template <class T>
void Case<T>::fill_mask() {
  if (!spec.mask) return;
  mask_ = Placed<unsigned char>(broadcast_shape(*spec.mask, weights.shape()), spec.mask_in);
  // Runs of equal bits now and then, so that whole blocks are forbidden or allowed.
  int64_t run = 0;
  bool bit = true;
  mask_.each([&](unsigned char& x) {
    if (run-- <= 0) {
      run = below(3) == 0 ? below(200) : below(3);
      bit = below(3) != 0;
    }
    x = bit;
  });
  options.mask = mask_.view();
}

template <class T>
template <class B>
void Case<T>::fill_bias(Placed<B>& bias) {
  if (!spec.bias) return;
  bias = Placed<B>(broadcast_shape(*spec.bias, weights.shape()), spec.bias_in);
  constexpr B huge = sizeof(B) == 8 ? static_cast<B>(1e300) : static_cast<B>(1e38);
  bias.each([this](B& x) {
    x = static_cast<B>(2 * normal());
    if (spec.bias_huge && below(4) == 0) x = below(2) == 0 ? huge : -huge;
    if (spec.bias_forbids && below(4) == 0) x = -std::numeric_limits<B>::infinity();
  });
  options.bias = bias.view();
}

template <class T>
template <class Wide, class Other, class Draw>
std::vector<double> Case<T>::fill_vector(std::optional<Placed<Wide>>& wide, std::optional<Placed<Other>>& other,
                                         bool take_other, int64_t n, const Draw& draw) {
  Placement in;
  in.gap[3] = std::abs(spec.vector_stride);
  in.reversed[3] = spec.vector_stride < 0;
  std::vector<double> values;
  const auto fill = [&](auto& place) {
    place.emplace(Shape{1, 1, 1, n}, in);
    place->each([&](auto& x) {
      x = static_cast<std::remove_reference_t<decltype(x)>>(draw());
      values.push_back(static_cast<double>(x));
    });
  };
  if (take_other) {
    fill(other);
  } else {
    fill(wide);
  }
  return values;
}

template <class T>
void Case<T>::fill_vectors() {
  const bool f32 = (sizeof(T) == 4) != spec.other_dtypes;
  const auto up_to = [this](int64_t n) { return below(4) == 0 ? (below(2) == 0 ? 0 : n) : below(n + 1); };
  if (spec.alibi) {
    problem.alibi_slopes = reference::widened<Real>(fill_vector(
        slopes_.f64, slopes_.f32, f32, spec.h_q, [&] { return below(8) == 0 ? -0.01 : std::abs(normal()) / 8; }));
    options.alibi_slopes = slopes_.vector();
  }
  if (spec.sinks) {
    problem.sinks = reference::widened<Real>(fill_vector(sinks_.f64, sinks_.f32, f32, spec.h_q, [&] {
      return below(6) == 0 ? -std::numeric_limits<double>::infinity() : 2 * normal();
    }));
    options.sinks = sinks_.vector();
  }
  const auto lengths = [&](Numbers& to, int64_t n) {
    const auto values = fill_vector(to.i64, to.i32, spec.other_dtypes, spec.b, [&] { return up_to(n); });
    return std::vector<int64_t>(values.begin(), values.end());
  };
  if (spec.q_lengths) {
    problem.q_lengths = lengths(q_lengths_, spec.n_q);
    options.q_lengths = q_lengths_.vector();
  }
  if (spec.kv_lengths) {
    problem.kv_lengths = lengths(kv_lengths_, spec.n_kv);
    options.kv_lengths = kv_lengths_.vector();
  }
}

/// The oracle's copy of all that was filled so far.
template <class T>
void Case<T>::state_problem() {
  const Spec& s = spec;
  reference::Problem<Real>& p = problem;
  p.b = s.b, p.h_q = s.h_q, p.h_kv = s.h_kv, p.n_q = s.n_q, p.n_kv = s.n_kv, p.d_k = s.d_k, p.d_v = s.d_v;
  p.q = reference::widened<Real>(q.packed());
  p.k = reference::widened<Real>(k.packed());
  p.v = reference::widened<Real>(v.packed());
  if (s.scale) p.scale = static_cast<Real>(*s.scale);
  p.causal = s.causal;
  p.align = s.align == Align::top_left ? reference::Align::top_left : reference::Align::bottom_right;
  p.window_left = s.window_left;
  p.window_right = s.window_right;
  p.softcap = static_cast<Real>(s.softcap);
  p.dropout = s.dropout;
  p.seed = options.seed;
  p.q_offset = s.q_offset;
  p.kv_offset = s.kv_offset;
  if (s.mask) {
    const std::vector<unsigned char> bits = mask_.packed();
    p.mask = reference::broadcast(std::vector<char>(bits.begin(), bits.end()), mask_.shape(), weights.shape());
  }
  if (!s.bias) return;
  std::vector<Real> bias =
      bias_is_f64_ ? reference::widened<Real>(bias64_.packed()) : reference::widened<Real>(bias32_.packed());
  constexpr Real largest = std::numeric_limits<T>::max();
  for (Real& x : bias) {
    if (std::isfinite(x)) x = std::clamp(x, -largest, largest);
  }
  p.bias = reference::broadcast(bias, bias_is_f64_ ? bias64_.shape() : bias32_.shape(), weights.shape());
}

/// NaN in the queries past a length, the keys and values that no query sees, and the biases of pairs that take no part.
template <class T>
void Case<T>::poison() {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const int64_t group = spec.h_kv == 0 ? 0 : spec.h_q / spec.h_kv;
  for (int64_t b = 0; b < spec.b; ++b) {
    for (int64_t h = 0; h < spec.h_kv; ++h) {
      std::vector<char> seen(static_cast<size_t>(spec.n_kv), 0);
      for (int64_t g = h * group; g < (h + 1) * group; ++g) {
        for (int64_t i = 0; i < reference::q_length(problem, b); ++i) {
          for (int64_t j = 0; j < spec.n_kv; ++j) seen[j] |= reference::takes_part(problem, b, g, i, j);
        }
      }
      for (int64_t j = 0; j < spec.n_kv; ++j) {
        for (int64_t i = 0; !seen[j] && !spec.k_in.repeats() && i < spec.d_k; ++i) k.at(b, h, j, i) = nan;
        for (int64_t i = 0; !seen[j] && !spec.v_in.repeats() && i < spec.d_v; ++i) v.at(b, h, j, i) = nan;
      }
    }
    for (int64_t h = 0; h < spec.h_q && !spec.q_in.repeats(); ++h) {
      for (int64_t i = reference::q_length(problem, b); i < spec.n_q; ++i) {
        for (int64_t d = 0; d < spec.d_k; ++d) q.at(b, h, i, d) = nan;
      }
    }
  }
  if (!spec.bias || spec.bias_in.repeats()) return;
  if (bias_is_f64_) poison_bias(bias64_);
  if (!bias_is_f64_) poison_bias(bias32_);
}

template <class T>
template <class B>
void Case<T>::poison_bias(Placed<B>& bias) {
  if (bias.shape() != weights.shape()) return;
  for (int64_t b = 0; b < spec.b; ++b)
    for (int64_t h = 0; h < spec.h_q; ++h)
      for (int64_t i = 0; i < spec.n_q; ++i)
        for (int64_t j = 0; j < spec.n_kv; ++j) {
          const bool there = i < reference::q_length(problem, b);
          if (!there || !reference::takes_part(problem, b, h, i, j))
            bias.at(b, h, i, j) = std::numeric_limits<B>::quiet_NaN();
        }
}

template <class T>
AttentionOutputs Case<T>::outputs() {
  AttentionOutputs out;
  if (spec.want_o) out.o = o.writable();
  if (spec.want_lse) out.lse = lse.writable();
  if (spec.want_weights) out.weights = weights.writable();
  return out;
}

template <class T>
Status Case<T>::attend() {
  o.clear();
  lse.clear();
  weights.clear();
  ShuffledExecutor executor(std::max<int64_t>(spec.workers, 1), spec.seed);
  Execution execution;
  if (spec.workers > 0) execution.executor = &executor;
  if (spec.own_workspace) {
    const AttentionShape shape = {.b = spec.b,
                                  .h_q = spec.h_q,
                                  .h_kv = spec.h_kv,
                                  .n_q = spec.n_q,
                                  .n_kv = spec.n_kv,
                                  .d_k = spec.d_k,
                                  .d_v = spec.d_v,
                                  .dtype = dtype_of<T>()};
    AttentionPlan plan;
    if (Status status = attention_plan(shape, executor.concurrency(), &plan); !status.ok()) return status;
    workspace_.assign(plan.workspace_bytes + 1, static_cast<char>(0xff));  // NaN, and off by one byte
    execution.workspace = workspace_.data() + 1;
    execution.workspace_bytes = plan.workspace_bytes;
  }
  return attention(q.view(), k.view(), v.view(), outputs(), options, execution);
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_ATTENTION_CASE_H_
