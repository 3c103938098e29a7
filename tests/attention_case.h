// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The Case made of a Spec: arrays in memory, the call, and the oracle's problem.
#ifndef FOVEATE_TESTS_ATTENTION_CASE_H_
#define FOVEATE_TESTS_ATTENTION_CASE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "foveate/attention.h"
#include "reference/arrays.h"
#include "reference/attention.h"
#include "tests/sequences.h"
#include "tests/spec.h"
#include "tests/stored.h"

namespace foveate::trial {

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

/// Calls body(execution) with the executor that a spec names, and the workspace: plan(workers, &bytes) tells how large.
template <class Plan, class Body>
Status with_execution(const Spec& s, const Plan& plan, const Body& body) {
  ShuffledExecutor executor(std::max<int64_t>(s.workers, 1), s.seed);
  Execution execution;
  if (s.workers > 0) execution.executor = &executor;
  std::vector<char> workspace;
  if (s.own_workspace) {
    size_t bytes = 0;
    if (Status status = plan(executor.concurrency(), &bytes); !status.ok()) return status;
    workspace.assign(bytes + 1, static_cast<char>(0xff));  // NaN, and off by one byte
    execution.workspace = workspace.data() + 1;
    execution.workspace_bytes = bytes;
  }
  return body(execution);
}

/// The type an engine type is judged in.
template <class T>
using Judge = std::conditional_t<sizeof(T) == 4, double, long double>;

/// A call computed in T: float for all types of q but float64.
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

  /// v as the engine sees it: an array of its own, or columns of k.
  ConstTensor v_view() const;

  /// What a call of this size is planned by.
  AttentionShape shape() const {
    return {.b = spec.b,
            .h_q = spec.h_q,
            .h_kv = spec.h_kv,
            .n_q = spec.n_q,
            .n_kv = spec.n_kv,
            .d_k = spec.d_k,
            .d_v = spec.d_v,
            .dtype = q.dtype()};
  }

 private:
  std::mt19937_64 random_;

 public:
  Spec spec;
  Sequences sequences;
  Stored q, k, v, o, lse, weights;
  AttentionOptions options;
  reference::Problem<Real> problem;
  std::vector<Real> key_scales;  ///< of int8 keys, laid out as problem.k

 private:
  double normal() { return std::normal_distribution<double>()(random_); }
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  static DType stored_type(DType dtype) { return sizeof(T) == 8 || dtype == DType::none ? dtype_of<T>() : dtype; }
  DType v_type() const { return stored_type(spec.v_of_k ? spec.k_type : spec.v_type); }
  const Stored& values() const { return spec.v_of_k ? k : v; }

  void make_arrays();
  void make_scales(Stored& scales, const Stored& of, Whole whole, bool channels);
  void fill(Stored& array, double magnitude);
  void make_non_finite();
  void fill_mask();
  void fill_blocks();
  void fill_bias();
  void fill_tree();
  void fill_vectors();

  void poison();
  void poison_keys(const std::vector<char>& seen);
  void poison_queries();
  void poison_bias();

  void state_problem();
  void state_mask();

  /// Scale of an element.
  double scale_at(const Stored& scales, int64_t batch, int64_t h, int64_t row, int64_t d) const;
  template <class Element>
  std::vector<Real> rows_of(const RowMap& map, int64_t heads, int64_t n, int64_t depth, const Element& element) const;

  Stored k_scales_, v_scales_, mask_, blocks_, bias_, slopes_, sinks_;
  Placed<int64_t> tree_;
};

template <class T>
Case<T>::Case(const Spec& s) : random_(s.seed), spec(s), sequences(spec, random_) {
  if (s.v_of_k) spec.d_v = std::min(s.d_v, s.d_k);
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
  sequences.set(options);
  make_arrays();
  make_non_finite();
  fill_mask();
  fill_blocks();
  fill_bias();
  fill_tree();
  fill_vectors();
  state_problem();
  if (s.poison) {
    poison();
    state_problem();
  }
}

template <class T>
ConstTensor Case<T>::v_view() const {
  ConstTensor view = values().view();
  view.shape[3] = spec.d_v;
  return view;
}

template <class T>
void Case<T>::make_arrays() {
  const Spec& s = spec;
  const DType own = stored_type(s.q_type);
  const RowMap &queries = sequences.queries, &keys = sequences.keys;
  q = Stored(own, {queries.batches, s.h_q, queries.rows, s.d_k}, s.q_in);
  k = Stored(stored_type(s.k_type), {keys.batches, s.h_kv, keys.rows, s.d_k}, s.k_in);
  if (!s.v_of_k) v = Stored(v_type(), {keys.batches, s.h_kv, keys.rows, s.d_v}, s.v_in);
  o = Stored(own, {queries.batches, s.h_q, queries.rows, s.d_v}, s.o_in);
  lse = Stored(dtype_of<T>(), {queries.batches, s.h_q, queries.rows, 1}, s.lse_in);
  weights = Stored(own, {s.b, s.h_q, s.n_q, s.n_kv}, s.weights_in);
  fill(q, s.magnitude);
  fill(k, s.magnitude);
  if (!s.v_of_k) fill(v, 1);
  if (k.dtype() == DType::i8) {
    make_scales(k_scales_, k, s.k_scales, true);
    options.k_scales = k_scales_.view();
  }
  if (v_type() == DType::i8) {
    make_scales(v_scales_, values(), s.v_scales, false);
    options.v_scales = v_scales_.view();
  }
}

/// int8: all there are, about as often as a normal variable rounds to them; its scale makes up for it.
template <class T>
void Case<T>::fill(Stored& array, double magnitude) {
  const bool is_int8 = array.dtype() == DType::i8;
  array.fill([&] { return is_int8 ? std::clamp(std::round(50 * normal()), -128.0, 127.0) : normal() * magnitude; });
}

inline Shape broadcast_shape(const Whole& whole, const Shape& full) {
  Shape shape;
  for (int axis = 0; axis < 4; ++axis) shape[axis] = whole[axis] ? full[axis] : 1;
  return shape;
}

template <class T>
void Case<T>::make_scales(Stored& scales, const Stored& of, Whole whole, bool channels) {
  whole[3] = whole[3] && channels;
  if (whole[3]) whole[2] = false;
  if (whole[3] && spec.page_size > 0) whole[0] = false;  // channels have the same scales in all pages
  scales = Stored(DType::f32, broadcast_shape(whole, of.shape()), spec.scales_in);
  const double magnitude = channels ? spec.magnitude : 1;
  scales.fill([&] { return (below(16) == 0 ? -1 : 1) * (0.25 + std::abs(normal())) / 50 * magnitude; });
}

/// int8 holds neither: there it is a scale that is NaN.
template <class T>
void Case<T>::make_non_finite() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double kinds[] = {std::numeric_limits<double>::quiet_NaN(), inf, -inf};
  for (int64_t n = 0; n < spec.non_finite; ++n) {
    const bool values_too = !spec.v_of_k && below(2) == 0;
    Stored& array = below(8) == 0 ? q : values_too ? v : k;
    Stored& hit = array.dtype() != DType::i8 ? array : &array == &k ? k_scales_ : v_scales_;
    if (hit.size() == 0) continue;
    const Shape& e = hit.shape();
    const double kind = kinds[&hit == &array ? below(3) : 0];
    hit.set(below(e[0]), below(e[1]), below(e[2]), below(e[3]), kind);
  }
}

template <class T>
void Case<T>::fill_mask() {
  if (!spec.mask) return;
  mask_ = Stored(DType::boolean, broadcast_shape(*spec.mask, weights.shape()), spec.mask_in);
  // Runs of equal bits now and then, so that whole blocks are forbidden or allowed.
  int64_t run = 0;
  bool bit = true;
  mask_.fill([&] {
    if (run-- <= 0) {
      run = below(3) == 0 ? below(200) : below(3);
      bit = below(3) != 0;
    }
    return bit ? 1.0 : 0.0;
  });
  options.mask = mask_.view();
}

template <class T>
void Case<T>::fill_bias() {
  if (!spec.bias) return;
  const DType dtype = spec.bias_type == DType::none ? dtype_of<T>() : spec.bias_type;
  bias_ = Stored(dtype, broadcast_shape(*spec.bias, weights.shape()), spec.bias_in);
  const double huge = dtype == DType::f64 ? 1e300 : dtype == DType::f16 ? 6e4 : 1e38;
  bias_.fill([&] {
    double x = 2 * normal();
    if (spec.bias_huge && below(4) == 0) x = below(2) == 0 ? huge : -huge;
    if (spec.bias_forbids && below(4) == 0) x = -std::numeric_limits<double>::infinity();
    return x;
  });
  options.bias = bias_.view();
}

template <class T>
void Case<T>::fill_blocks() {
  if (!spec.blocks) return;
  const auto blocks = [this](int64_t n) { return (n + spec.block_size - 1) / spec.block_size; };
  const Shape full = {spec.b, spec.h_q, blocks(spec.n_q), blocks(spec.n_kv)};
  blocks_ = Stored(DType::boolean, broadcast_shape(*spec.blocks, full), spec.blocks_in);
  blocks_.fill([this] { return below(spec.blocks_kept) == 0 ? 1.0 : 0.0; });
  options.blocks = blocks_.view();
  options.block_size = problem.block_size = spec.block_size;
  const std::vector<double> bits = blocks_.packed();
  problem.blocks = reference::broadcast(std::vector<char>(bits.begin(), bits.end()), blocks_.shape(), full);
}

/// Bits past the last token, in the last word, are garbage.
template <class T>
void Case<T>::fill_tree() {
  if (spec.tree_tokens == 0) return;
  Shape full = weights.shape();
  full[3] = (spec.tree_tokens + 63) / 64;
  Whole whole = spec.tree;
  whole[3] = true;
  tree_ = Placed<int64_t>(broadcast_shape(whole, full), spec.tree_in);
  tree_.each(
      [this](int64_t& x) { x = static_cast<int64_t>(below(4) == 0 ? random_() & random_() : random_() | random_()); });
  options.tree_mask = tree_.view();
  options.tree_tokens = spec.tree_tokens;
}

template <class T>
void Case<T>::fill_vectors() {
  const DType dtype = spec.vector_type == DType::none ? dtype_of<T>() : spec.vector_type;
  if (spec.alibi) {
    slopes_ = Stored(dtype, spec.h_q, spec.vector_stride);
    slopes_.fill([&] { return below(8) == 0 ? -0.01 : std::abs(normal()) / 8; });
    options.alibi_slopes = slopes_.vector();
    problem.alibi_slopes = reference::widened<Real>(slopes_.packed());
  }
  if (spec.sinks) {
    sinks_ = Stored(dtype, spec.h_q, spec.vector_stride);
    sinks_.fill([&] { return below(6) == 0 ? -std::numeric_limits<double>::infinity() : 2 * normal(); });
    options.sinks = sinks_.vector();
    problem.sinks = reference::widened<Real>(sinks_.packed());
  }
}

template <class T>
double Case<T>::scale_at(const Stored& scales, int64_t batch, int64_t h, int64_t row, int64_t d) const {
  const Shape& e = scales.shape();
  return scales.at(e[0] == 1 ? 0 : batch, e[1] == 1 ? 0 : h, e[2] == 1 ? 0 : row, e[3] == 1 ? 0 : d);
}

/// element(batch, h, row, d) of every sequence's rows, padded to n; 0 where there is none.
template <class T>
template <class Element>
std::vector<Judge<T>> Case<T>::rows_of(const RowMap& map, int64_t heads, int64_t n, int64_t depth,
                                       const Element& element) const {
  std::vector<Real> to;
  to.reserve(static_cast<size_t>(spec.b * heads * n * depth));
  for (int64_t b = 0; b < spec.b; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t d = 0; d < depth; ++d) {
          const bool there = i < map.rows_of(b);
          to.push_back(there ? static_cast<Real>(element(map.places[b][i].batch, h, map.places[b][i].row, d))
                             : Real{0});
        }
  return to;
}

/// The oracle's copy of all that was filled so far, every element as the number that it means.
template <class T>
void Case<T>::state_problem() {
  const Spec& s = spec;
  reference::Problem<Real>& p = problem;
  p.b = s.b, p.h_q = s.h_q, p.h_kv = s.h_kv, p.n_q = s.n_q, p.n_kv = s.n_kv, p.d_k = s.d_k, p.d_v = s.d_v;
  const auto number = [this](const Stored* array, const Stored* scales) {
    return [this, array, scales](int64_t b, int64_t h, int64_t i, int64_t d) {
      const double x = array->at(b, h, i, d);
      return scales->present() ? x * scale_at(*scales, b, h, i, d) : x;  // exact: 8 bits times 24
    };
  };
  const Stored none;
  p.q = rows_of(sequences.queries, s.h_q, s.n_q, s.d_k, number(&q, &none));
  p.k = rows_of(sequences.keys, s.h_kv, s.n_kv, s.d_k, number(&k, &k_scales_));
  p.v = rows_of(sequences.keys, s.h_kv, s.n_kv, s.d_v, number(&values(), &v_scales_));
  if (k_scales_.present()) {
    key_scales = rows_of(sequences.keys, s.h_kv, s.n_kv, s.d_k, [this](int64_t b, int64_t h, int64_t i, int64_t d) {
      return scale_at(k_scales_, b, h, i, d);
    });
  }
  p.q_lengths = sequences.q_lengths;
  p.kv_lengths = sequences.kv_lengths;
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
  state_mask();
  if (!s.bias) return;
  std::vector<Real> bias = reference::widened<Real>(bias_.packed());
  constexpr Real largest = std::numeric_limits<T>::max();
  for (Real& x : bias) {
    if (std::isfinite(x)) x = std::clamp(x, -largest, largest);
  }
  p.bias = reference::broadcast(bias, bias_.shape(), weights.shape());
}

/// The mask and the tree are one mask.
template <class T>
void Case<T>::state_mask() {
  if (spec.mask) {
    const std::vector<double> bits = mask_.packed();
    problem.mask = reference::broadcast(std::vector<char>(bits.begin(), bits.end()), mask_.shape(), weights.shape());
  }
  if (spec.tree_tokens == 0) return;
  if (!spec.mask) problem.mask.assign(static_cast<size_t>(weights.size()), 1);
  const Shape& e = tree_.shape();
  for (int64_t b = 0; b < spec.b; ++b)
    for (int64_t h = 0; h < spec.h_q; ++h)
      for (int64_t i = 0; i < spec.n_q; ++i)
        for (int64_t t = 0; t < spec.tree_tokens; ++t) {
          const int64_t word = tree_.at(e[0] == 1 ? 0 : b, e[1] == 1 ? 0 : h, e[2] == 1 ? 0 : i, t / 64);
          const int64_t j = reference::kv_length(problem, b) - spec.tree_tokens + t;
          if ((static_cast<uint64_t>(word) >> (t % 64) & 1) == 0) {
            problem.mask[reference::pair_index(problem, b, h, i, j)] = 0;
          }
        }
}

/// NaN in the queries past a length, the keys and values that no query sees, and the biases of pairs that take no part.
template <class T>
void Case<T>::poison() {
  const RowMap& map = sequences.keys;
  const int64_t group = spec.h_kv == 0 ? 0 : spec.h_q / spec.h_kv;
  std::vector<char> seen(static_cast<size_t>(map.batches * spec.h_kv * map.rows), 0);
  for (int64_t b = 0; b < spec.b; ++b)
    for (int64_t h = 0; h < spec.h_kv * group; ++h)
      for (int64_t i = 0; i < reference::q_length(problem, b); ++i)
        for (int64_t j = 0; j < map.rows_of(b); ++j) {
          const RowMap::Place place = map.places[b][j];
          seen[(place.batch * spec.h_kv + h / group) * map.rows + place.row] |=
              reference::takes_part(problem, b, h, i, j);
        }
  poison_keys(seen);
  poison_queries();
  poison_bias();
}

template <class T>
void Case<T>::poison_keys(const std::vector<char>& seen) {
  const auto spoil = [&](Stored& array, Stored& scales, const Placement& in) {
    const Shape& e = array.shape();
    const bool is_int8 = array.dtype() == DType::i8;
    const bool own_scales = is_int8 && scales.shape() == Shape{e[0], e[1], e[2], 1} && !spec.scales_in.repeats();
    for (int64_t b = 0; b < e[0]; ++b)
      for (int64_t h = 0; h < e[1]; ++h)
        for (int64_t i = 0; i < e[2]; ++i) {
          if (seen[(b * e[1] + h) * e[2] + i]) continue;
          if (own_scales) scales.set(b, h, i, 0, std::numeric_limits<double>::quiet_NaN());
          if (in.repeats()) continue;
          for (int64_t d = 0; d < e[3]; ++d)
            array.set(b, h, i, d, is_int8 ? 127 : std::numeric_limits<double>::quiet_NaN());
        }
  };
  spoil(k, k_scales_, spec.k_in);
  if (!spec.v_of_k) spoil(v, v_scales_, spec.v_in);
}

template <class T>
void Case<T>::poison_queries() {
  if (spec.q_in.repeats()) return;
  for (int64_t b = 0; b < spec.b; ++b)
    for (int64_t i = reference::q_length(problem, b); i < sequences.queries.rows_of(b); ++i) {
      const RowMap::Place place = sequences.queries.places[b][i];
      for (int64_t h = 0; h < spec.h_q; ++h)
        for (int64_t d = 0; d < spec.d_k; ++d)
          q.set(place.batch, h, place.row, d, std::numeric_limits<double>::quiet_NaN());
    }
}

template <class T>
void Case<T>::poison_bias() {
  if (!spec.bias || spec.bias_in.repeats() || bias_.shape() != weights.shape()) return;
  for (int64_t b = 0; b < spec.b; ++b)
    for (int64_t h = 0; h < spec.h_q; ++h)
      for (int64_t i = 0; i < spec.n_q; ++i)
        for (int64_t j = 0; j < spec.n_kv; ++j) {
          const bool there = i < reference::q_length(problem, b);
          if (there && reference::takes_part(problem, b, h, i, j)) continue;
          // -inf forbids, NaN in its place would not.
          if (there && bias_.at(b, h, i, j) == -std::numeric_limits<double>::infinity()) continue;
          bias_.set(b, h, i, j, std::numeric_limits<double>::quiet_NaN());
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
  const auto plan = [this](int64_t workers, size_t* bytes) {
    AttentionPlan planned;
    const Status status = attention_plan(shape(), workers, &planned);
    *bytes = planned.workspace_bytes;
    return status;
  };
  return with_execution(spec, plan, [this](const Execution& execution) {
    return attention(q.view(), k.view(), v_view(), outputs(), options, execution);
  });
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_ATTENTION_CASE_H_
