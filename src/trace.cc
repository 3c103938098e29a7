// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// trace(): o and lse by attention(), then for the first row of a head that is not finite the formula once more, number by
// number, in the computing type.
#include "foveate/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carve.h"
#include "no_values.h"
#include "plan.h"
#include "saturating.h"
#include "sequences.h"
#include "tasks.h"
#include "tile_tasks.h"
#include "validate.h"
#include "vector_at.h"
#include "workspace.h"

namespace foveate {
namespace {

using Place = Sequences::Place;

/// Component d of a row of q, k, v or o as it is computed with.
double component(const ConstTensor& rows, const ConstTensor& scales, const Place& place, int64_t head, int64_t d) {
  const void* const row = row_at(rows, place.batch, head, place.row);
  const int64_t at = d * step(rows, 3);
  if (rows.dtype != DType::i8) return float_at(ConstVector{row, rows.dtype, rows.shape[3], step(rows, 3)}, d);
  const auto along = [&](int axis, int64_t i) { return scales.shape[axis] == 1 ? 0 : i; };
  const auto* const scale =
      static_cast<const float*>(row_at(scales, along(0, place.batch), along(1, head), along(2, place.row)));
  return static_cast<double>(static_cast<float>(static_cast<const int8_t*>(row)[at]) * scale[d * step(scales, 3)]);
}

template <class T>
class Tracer {
 public:
  Tracer(const Inputs& in, const Extents& extents, const Tensor& o, const Tensor& lse)
      : in_(in), e_(extents), o_(o), lse_(lse), tiles_(in, extents, nullptr) {}

  NotFinite head(int64_t b, int64_t h) const {
    NotFinite found;
    for (int64_t i = 0; i < tiles_.sequences().q_length(b); ++i) {
      if (is_finite(b, h, i)) continue;
      if (found.rows == 0) found = explain(b, h, i);
      ++found.rows;
    }
    return found;
  }

 private:
  /// A row of a head, with what its keys are read by.
  struct OneRow {
    int64_t b, h, i, kv_head;
    kernels::TileTask<T> task;
    kernels::Row<T> row;
  };

  OneRow one_row(int64_t b, int64_t h, int64_t i) const {
    const int64_t kv_head = h / (e_.h_q / e_.h_kv);
    return {b, h, i, kv_head, tiles_.task(b, kv_head), tiles_.row(b, h, i)};
  }

  bool is_finite(int64_t b, int64_t h, int64_t i) const {
    const double lse = of_row(lse_, b, h, i, 0);
    if (std::isnan(lse) || lse == kInf) return false;
    for (int64_t d = 0; d < o_.shape[3]; ++d) {
      if (!std::isfinite(of_row(o_, b, h, i, d))) return false;
    }
    return std::isfinite(lse) || first_key(one_row(b, h, i)) < 0;
  }

  /// A component of a row of o or lse, which lie as q's rows do.
  double of_row(const ConstTensor& rows, int64_t b, int64_t h, int64_t i, int64_t d) const {
    return component(rows, {}, tiles_.sequences().query(b, i), h, d);
  }

  T q(const OneRow& at, int64_t d) const {
    return static_cast<T>(component(in_.q, {}, tiles_.sequences().query(at.b, at.i), at.h, d));
  }

  T k(const OneRow& at, int64_t j, int64_t d) const {
    return static_cast<T>(component(in_.k, in_.options.k_scales, key_place(at.b, j), at.kv_head, d));
  }

  double v(const OneRow& at, int64_t j, int64_t d) const {
    return component(in_.v, in_.options.v_scales, key_place(at.b, j), at.kv_head, d);
  }

  Place key_place(int64_t b, int64_t j) const {
    const ConstMatrix& table = in_.options.block_table;
    if (!table.present()) {
      const Place first = tiles_.sequences().first_key(b);
      return {first.batch, first.row + j};
    }
    const int64_t size = in_.k.shape[2], at = b * table.stride[0];
    const ConstVector pages{static_cast<const char*>(table.data) + at * size_of(table.dtype), table.dtype,
                            table.shape[1], table.stride[1]};
    return {integer_at(pages, j / size), j % size};
  }

  double bias(const OneRow& at, int64_t j) const {
    if (at.row.bias == nullptr) return 0;
    return float_at(ConstVector{at.row.bias, at.task.bias_dtype, e_.n_kv, at.task.bias_stride}, j);
  }

  bool takes_part(const OneRow& at, int64_t j) const {
    const kernels::Row<T>& row = at.row;
    const kernels::TileTask<T>& task = at.task;
    if (row.mask != nullptr && row.mask[j * task.mask_stride] == 0) return false;
    if (row.blocks != nullptr && row.blocks[j / task.block_size * task.blocks_stride] == 0) return false;
    const int64_t bit = j - task.tree_from;
    if (row.tree != nullptr && bit >= 0 && (row.tree[bit / 64 * task.tree_stride] >> (bit % 64) & 1) == 0) return false;
    return bias(at, j) != -kInf;
  }

  int64_t first_key(const OneRow& at) const { return next_key(at, at.row.begin); }

  /// The first key from j on that takes part; -1: none.
  int64_t next_key(const OneRow& at, int64_t j) const {
    for (; j < at.row.end; ++j) {
      if (takes_part(at, j)) return j;
    }
    return -1;
  }

  NotFinite explain(int64_t b, int64_t h, int64_t i) const {
    const OneRow at = one_row(b, h, i);
    NotFinite found = by_scores(at);
    if (found.origin == Origin::none) found = by_values(at);
    found.row = i;
    return found;
  }

  /// What made lse not finite: a score that is NaN or +inf, a sink, or that all scores are -inf; nothing where lse is finite.
  NotFinite by_scores(const OneRow& at) const {
    NotFinite lowest;
    for (int64_t j = first_key(at); j >= 0; j = next_key(at, j + 1)) {
      const Step score = score_of(at, j);
      if (std::isfinite(score.value)) continue;
      if (score.value != -kInf) return score.first;
      if (lowest.origin == Origin::none) lowest = score.first;
    }
    if (at.row.sink != -kInf && !std::isfinite(at.row.sink)) return given(Origin::sink, -1, -1, at.row.sink);
    return of_row(lse_, at.b, at.h, at.i, 0) == -kInf ? lowest : NotFinite{};
  }

  /// A number on its way through the formula, and the first on that way that was not finite.
  struct Step {
    T value = 0;
    NotFinite first = {};

    void note(const NotFinite& here, T x) {
      if (first.origin != Origin::none || std::isfinite(x)) return;
      first = here;
      first.value = x;
    }
    void become(const NotFinite& here, T x) {
      value = x;
      note(here, x);
    }
  };

  Step score_of(const OneRow& at, int64_t j) const {
    Step score;
    for (int64_t d = 0; d < e_.d_k; ++d) {
      const T x = q(at, d), y = k(at, j, d);
      score.note(given(Origin::q, j, d, x), x);
      score.note(given(Origin::k, j, d, y), y);
      score.become(made(Origin::product, j, d), score.value + x * y);
    }
    score.become(made(Origin::scale, j, -1), score.value * at.task.scale);
    const T cap = at.task.softcap;
    if (cap > 0) score.become(made(Origin::score, j, -1), cap * std::tanh(score.value / cap));
    const T more = narrowed<T>(bias(at, j));
    score.note(given(Origin::bias, j, -1, more), more);
    score.become(made(Origin::score, j, -1), score.value + more);
    if (at.task.alibi) {
      const T distance = std::abs(static_cast<T>(at.row.position - j));
      score.become(made(Origin::score, j, -1), score.value - at.row.slope * distance);
    }
    if (!std::isnan(score.first.value)) {
      score.first.outcome = std::isnan(score.value) ? Outcome::opposite
                            : score.value > 0       ? Outcome::softmax
                                                    : Outcome::all_lowest;
    }
    return score;
  }

  /// What made o NaN or Inf though lse is finite: a value, or the sum of them.
  NotFinite by_values(const OneRow& at) const {
    int64_t d = 0;
    while (d < o_.shape[3] && std::isfinite(of_row(o_, at.b, at.h, at.i, d))) ++d;
    // The engine's order of summation overflowed where this one just did not.
    if (d == o_.shape[3]) return made(Origin::product, -1, -1);
    for (int64_t j = first_key(at); j >= 0; j = next_key(at, j + 1)) {
      if (const double x = v(at, j, d); !std::isfinite(x)) return given(Origin::v, j, d, x);
    }
    NotFinite sum = made(Origin::output, -1, d);
    sum.value = of_row(o_, at.b, at.h, at.i, d);
    sum.outcome = Outcome::sum;
    return sum;
  }

  static NotFinite given(Origin origin, int64_t key, int64_t d, double value) {
    const Outcome infinite = origin == Origin::v ? Outcome::sum : Outcome::softmax;
    return {.origin = origin,
            .key = key,
            .component = d,
            .value = value,
            .outcome = std::isnan(value) ? Outcome::nan : infinite};
  }

  static NotFinite made(Origin origin, int64_t key, int64_t d) {
    return {.origin = origin, .overflow = true, .key = key, .component = d};
  }

  static constexpr T kInf = std::numeric_limits<T>::infinity();

  const Inputs& in_;
  const Extents& e_;
  const Tensor o_, lse_;
  const TileTasks<T> tiles_;
};

template <class T>
Status trace_as(const Inputs& in, const Extents& extents, bool wants_o, NotFinite* heads, const Execution& execution) {
  const int64_t(&q)[4] = in.q.shape;
  const int64_t d_v = wants_o ? extents.d_v : 0, rows = q[0] * q[1] * q[2];
  const int64_t o_bytes = whole_lines(saturating_product(saturating_product(rows, d_v), size_of(in.q.dtype)));
  const int64_t lse_bytes = whole_lines(saturating_product(rows, static_cast<int64_t>(sizeof(T))));
  Execution own = execution;
  own.workspace = nullptr;
  own.workspace_bytes = 0;
  const int64_t bytes = saturating_sum(kWorkspaceAlign, saturating_sum(o_bytes, lse_bytes));
  return with_workspace(own, allocatable(bytes), "trace", [&](void* workspace) {
    Carve carve(workspace);
    const Tensor lse = view(reinterpret_cast<T*>(carve.take(lse_bytes)), q[0], q[1], q[2], 1);
    Tensor o = {carve.take(o_bytes), in.q.dtype, {q[0], q[1], q[2], d_v}, {q[1] * q[2] * d_v, q[2] * d_v, d_v, 1}};
    Status status = attention(in.q, in.k, in.v, {.o = wants_o ? o : Tensor{}, .lse = lse}, in.options, own);
    if (!status.ok()) return status;
    const Tracer<T> tracer(in, extents, o, lse);
    own.progress = nullptr;
    Tasks tasks(own);
    tasks.run(extents.b * extents.h_q,
              [&](int64_t head, int64_t) { heads[head] = tracer.head(head / extents.h_q, head % extents.h_q); });
    return tasks.status();
  });
}

}  // namespace

Status trace(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, NotFinite* heads,
             const AttentionOptions& options, const Execution& execution) {
  AttentionOptions wanted = options;
  wanted.dropout = 0;
  wanted.native_products = false;
  if (!v.present()) wanted.v_scales = {};
  const ConstTensor values = v.present() ? v : no_values(k);
  const Inputs inputs{q, k, values, wanted};
  Extents extents;
  {
    const FpMode mode;
    FOVEATE_RETURN_IF_ERROR(check_inputs(inputs, &extents));
  }
  FOVEATE_RETURN_IF_ERROR(check_workers(execution));
  if (heads == nullptr) return Status::error(kInvalid, "heads: nullptr; expected b x h_q records");
  if (extents.b == 0 || extents.h_q == 0) return {};
  return q.dtype == DType::f64 ? trace_as<double>(inputs, extents, v.present(), heads, execution)
                               : trace_as<float>(inputs, extents, v.present(), heads, execution);
}

}  // namespace foveate
