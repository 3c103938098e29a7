// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "tile_tasks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fp_mode.h"
#include "vector_at.h"

namespace foveate {
namespace {

/// Past every position there can be: offsets and extents are at most 2^60.
constexpr int64_t kFar = int64_t{1} << 62;

template <class T>
T element(const ConstVector& vector, int64_t i, T absent) {
  return vector.present() ? narrowed<T>(float_at(vector, i)) : absent;
}

}  // namespace

int64_t phase_of(const AttentionOptions& options) {
  const int64_t place = options.kv_offset.value_or(0) % kernels::kSplitKeys;
  return place < 0 ? place + kernels::kSplitKeys : place;
}

template <class T>
TileTasks<T>::TileTasks(const Inputs& inputs, const Extents& extents, const kernels::TanhScores<T>* tanh)
    : q_(inputs.q),
      k_(inputs.k),
      v_(inputs.v),
      options_(inputs.options),
      extents_(extents),
      sequences_(inputs.options, extents),
      tanh_(tanh) {
  const FpMode mode;  // the scale is rounded alike under any mode of the host
  // A softcap too small or too large for T stays a positive, finite number.
  softcap_ =
      options_.softcap > 0 ? std::max(narrowed<T>(options_.softcap), std::numeric_limits<T>::denorm_min()) : T{0};
  scale_ = narrowed<T>(options_.scale.value_or(1 / std::sqrt(static_cast<double>(extents.d_k))));
  left_ = options_.window_left == kUnlimited ? kFar : std::min(options_.window_left, kFar);
  right_ = options_.window_right == kUnlimited ? kFar : std::min(options_.window_right, kFar);
  if (options_.causal) right_ = std::min<int64_t>(right_, 0);
}

template <class T>
kernels::TileTask<T> TileTasks<T>::task(int64_t batch, int64_t kv_head) const {
  const ConstTensor &mask = options_.mask, &bias = options_.bias, &tree = options_.tree_mask;
  const bool additive = mask.present() || bias.present();
  const int64_t tree_from = tree.present() ? sequences_.kv_length(batch) - options_.tree_tokens : kFar;
  return {.rows = nullptr,
          .n_rows = 0,
          .k = source_of(k_, options_.k_scales, batch, kv_head),
          .v = source_of(v_, options_.v_scales, batch, kv_head),
          .pages = pages_of(batch),
          .n_kv = extents_.n_kv,
          .d_k = extents_.d_k,
          .d_v = extents_.d_v,
          .q_dtype = q_.dtype,
          .o_dtype = q_.dtype,
          .q_stride = step(q_, 3),
          .o_stride = 0,
          .weights_stride = 0,
          .regular = false,
          .q_step = 0,
          .o_step = 0,
          .next_q = nullptr,
          .next_q_step = 0,
          .new_keys = false,
          .phase = phase_of(options_),
          .scale = scale_,
          .softcap = softcap_,
          .alibi = options_.alibi_slopes.present(),
          .additive_from = additive ? 0 : std::max<int64_t>(tree_from, 0),
          .tree_from = tree_from,
          .shared = false,
          .bias_dtype = bias.dtype,
          .mask_stride = step(mask, 3),
          .bias_stride = step(bias, 3),
          .tree_stride = step(tree, 3),
          .blocks_stride = step(options_.blocks, 3),
          .block_size = options_.blocks.present() ? options_.block_size : 0,
          .dropout = dropout_of(batch),
          .kv_offset = options_.kv_offset.value_or(0),
          .tanh = tanh_,
          .native = nullptr,
          .scores = kernels::Native::none,
          .values = kernels::Native::none,
          .scratch = nullptr};
}

template <class T>
HeadRows<T> TileTasks<T>::rows(int64_t batch, int64_t head) const {
  const int64_t n_q = sequences_.q_length(batch), n_kv = sequences_.kv_length(batch);
  const int64_t first_position = options_.q_offset.value_or(options_.align == Align::bottom_right ? n_kv - n_q : 0);
  const Sequences::Place place = sequences_.query(batch, 0);
  return {.n_q = n_q,
          .n_kv = n_kv,
          .position = first_position - options_.kv_offset.value_or(0),
          .left = left_,
          .right = right_,
          .q = rows_at(q_, place.batch, head, place.row),
          .mask = rows_at(options_.mask, batch, head, 0),
          .bias = rows_at(options_.bias, batch, head, 0),
          .tree = rows_at(options_.tree_mask, batch, head, 0),
          .blocks = rows_at(options_.blocks, batch, head, 0),
          .block_size = options_.blocks.present() ? options_.block_size : 0,
          .head = static_cast<uint32_t>(head),
          .slope = element<T>(options_.alibi_slopes, head, T{0}),
          .sink = sink(head)};
}

template <class T>
T TileTasks<T>::sink(int64_t head) const {
  return element<T>(options_.sinks, head, -std::numeric_limits<T>::infinity());
}

template <class T>
bool TileTasks<T>::alike(bool one_head, bool one_query) const {
  const auto along = [this](int axis) {
    return step(options_.mask, axis) == 0 && step(options_.bias, axis) == 0 && step(options_.tree_mask, axis) == 0 &&
           step(options_.blocks, axis) == 0;
  };
  return (one_query || along(2)) && (one_head || along(1));
}

/// The keys or values of a sequence and key head.
template <class T>
kernels::RowSource TileTasks<T>::source_of(const ConstTensor& rows, const ConstTensor& scales, int64_t batch,
                                           int64_t kv_head) const {
  const bool paged = options_.block_table.present();
  const Sequences::Place first = paged ? Sequences::Place{0, 0} : sequences_.first_key(batch);
  return {.data = row_at(rows, first.batch, kv_head, first.row),
          .dtype = rows.dtype,
          .stride = rows.shape[3] == 0 ? 0 : step(rows, 2),
          .stride_d = step(rows, 3),
          .page_stride = paged ? step(rows, 0) : 0,
          .scales = static_cast<const float*>(row_at(scales, first.batch, kv_head, first.row)),
          .scale_stride = step(scales, 2),
          .scale_stride_d = step(scales, 3),
          .scale_page_stride = paged ? step(scales, 0) : 0};
}

template <class T>
kernels::Pages TileTasks<T>::pages_of(int64_t batch) const {
  const ConstMatrix& table = options_.block_table;
  if (!table.present() || table.shape[1] == 0) return {};
  const int64_t row = batch * table.stride[0];
  return {.table = static_cast<const char*>(table.data) + row * size_of(table.dtype),
          .dtype = table.dtype,
          .stride = table.stride[1],
          .size = k_.shape[2]};
}

template <class T>
kernels::Dropout<T> TileTasks<T>::dropout_of(int64_t batch) const {
  const double p = options_.dropout;
  return {.on = p > 0,
          .threshold = static_cast<uint64_t>(std::ceil(p * 0x1p32)),
          .factor = static_cast<T>(1 / (1 - p)),
          .key = {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)},
          .batch = static_cast<uint32_t>(batch)};
}

template class TileTasks<float>;
template class TileTasks<double>;

}  // namespace foveate
