// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fp_mode.h"
#include "kernels/native.h"
#include "sequences.h"
#include "tasks.h"
#include "vector_at.h"

namespace foveate {
namespace {

/// Past every position there can be: offsets and extents are at most 2^60.
constexpr int64_t kFar = int64_t{1} << 62;

/// A number of the options in the computing type: finite stays finite.
template <class T>
T narrowed(double x) {
  constexpr double largest = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::isfinite(x) ? std::clamp(x, -largest, largest) : x);
}

template <class T>
T element(const ConstVector& vector, int64_t i, T absent) {
  return vector.present() ? narrowed<T>(float_at(vector, i)) : absent;
}

/// Offset, in elements, of [b, h, i, 0]; 0 in an empty array, whose pointer may be null.
int64_t offset(const ConstTensor& view, int64_t b, int64_t h, int64_t i) {
  if (view.shape[2] == 0 || view.shape[3] == 0) return 0;
  return b * step(view, 0) + h * step(view, 1) + i * step(view, 2);
}

/// Where element [b, h, i, 0] lies; nullptr in an absent view.
const void* at(const ConstTensor& view, int64_t b, int64_t h, int64_t i) {
  if (!view.present()) return nullptr;
  return static_cast<const char*>(view.data) + offset(view, b, h, i) * size_of(view.dtype);
}
void* at(const Tensor& view, int64_t b, int64_t h, int64_t i) {
  return const_cast<void*>(at(static_cast<const ConstTensor&>(view), b, h, i));
}

int64_t phase_of(const AttentionOptions& options) {
  const int64_t place = options.kv_offset.value_or(0) % kernels::kSplitKeys;
  return place < 0 ? place + kernels::kSplitKeys : place;
}

/// One call on its way: what every task of it shares.
template <class T>
class Run {
 public:
  Run(const Arguments& arguments, const Extents& extents, const Plan& plan, void* workspace, int64_t workers,
      const Execution& execution, const kernels::TargetKernels& kernels)
      : q_(arguments.q),
        k_(arguments.k),
        v_(arguments.v),
        out_(arguments.outputs),
        options_(arguments.options),
        sequences_(arguments.options, extents),
        extents_(extents),
        plan_(plan),
        tasks_(execution),
        kernel_(kernels::of_type<T>(kernels)),
        native_(kernels.native) {
    const uintptr_t aligned = (reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64;
    scratch_ = reinterpret_cast<char*>(workspace) + (aligned - reinterpret_cast<uintptr_t>(workspace));
    row_tables_ = scratch_ + workers * plan.scratch_bytes;
    partials_ = row_tables_ + workers * plan.row_table_bytes;

    const FpMode mode;  // the scale is rounded alike under any mode of the host
    // A softcap too small or too large for T stays a positive, finite number.
    softcap_ =
        options_.softcap > 0 ? std::max(narrowed<T>(options_.softcap), std::numeric_limits<T>::denorm_min()) : T{0};
    scale_ = narrowed<T>(options_.scale.value_or(1 / std::sqrt(static_cast<double>(extents.d_k))));
    left_ = options_.window_left == kUnlimited ? kFar : std::min(options_.window_left, kFar);
    right_ = options_.window_right == kUnlimited ? kFar : std::min(options_.window_right, kFar);
    if (native_ != nullptr && options_.native_products) choose_native();
    if (options_.causal) right_ = std::min<int64_t>(right_, 0);
  }

  Status run() {
    const auto call = [this](void (Run::*step)(int64_t, int64_t)) {
      return [this, step](int64_t index, int64_t worker) { (this->*step)(index, worker); };
    };
    if (!plan_.share_splits) {
      tasks_.run(plan_.tiles, call(&Run::attend_tile));
    } else {
      tasks_.run(plan_.tiles * plan_.splits, call(&Run::attend_split));
      tasks_.run(plan_.tiles, call(&Run::merge_tile));
    }
    return tasks_.status();
  }

 private:
  /// Native products are used where they lose nothing: bfloat16 meets bfloat16, and int8 anything. Sums of int8 stay in 32
  /// bits up to 2^31 / (255 * 127) components.
  void choose_native() {
    constexpr int64_t kMostComponents = 65536;
    const bool bf16 = native_->scores_bf16 != nullptr;
    const auto are_bf16 = [&](DType stored) { return bf16 && stored == DType::bf16 && q_.dtype == DType::bf16; };
    if (are_bf16(k_.dtype)) scores_ = kernels::Native::bf16;
    if (k_.dtype == DType::i8 && extents_.d_k <= kMostComponents) scores_ = kernels::Native::int8;
    if (are_bf16(v_.dtype)) values_ = kernels::Native::bf16;
    if (bf16 && v_.dtype == DType::i8) values_ = kernels::Native::int8;
  }

  void attend_tile(int64_t tile, int64_t worker) {
    const kernels::TileTask<T> task = task_of(tile, worker);
    if (task.n_rows > 0) kernel_.attend(task);
  }

  // Split by split, the tiles of one split being neighbours: they share its keys.
  void attend_split(int64_t index, int64_t worker) {
    const int64_t tile = index % plan_.tiles, split = index / plan_.tiles;
    const kernels::TileTask<T> task = task_of(tile, worker);
    if (task.n_rows > 0) kernel_.attend_split(task, split, partial(task, tile, split));
  }

  void merge_tile(int64_t tile, int64_t worker) {
    const kernels::TileTask<T> task = task_of(tile, worker);
    if (task.n_rows > 0) kernel_.merge(task, partial(task, tile, 0), plan_.splits);
  }

  /// Where a tile leaves the state of a split: each tile has room for full ones, and packs its own.
  T* partial(const kernels::TileTask<T>& task, int64_t tile, int64_t split) {
    const auto elements = [&](int64_t rows) {
      return kernels::partial_elements(kernels::tile_width(rows, kernel_.lanes), extents_.d_v);
    };
    const int64_t full = elements(plan_.heads_per_tile * plan_.queries_per_tile);
    return reinterpret_cast<T*>(partials_) + tile * plan_.splits * full + split * elements(task.n_rows);
  }

  kernels::TileTask<T> task_of(int64_t index, int64_t worker) {
    const TileRange tile = tile_at(plan_, extents_, index);
    auto* rows = reinterpret_cast<kernels::Row<T>*>(row_tables_ + worker * plan_.row_table_bytes);
    const int64_t n_rows = write_rows(tile, rows);
    const ConstTensor &mask = options_.mask, &bias = options_.bias, &tree = options_.tree_mask;
    const auto alike = [&](int axis) {
      return step(mask, axis) == 0 && step(bias, axis) == 0 && step(tree, axis) == 0;
    };
    const bool additive = mask.present() || bias.present();
    const int64_t tree_from = tree.present() ? sequences_.kv_length(tile.batch) - options_.tree_tokens : kFar;
    return {.rows = rows,
            .n_rows = n_rows,
            .k = source_of(k_, options_.k_scales, tile),
            .v = source_of(v_, options_.v_scales, tile),
            .pages = pages_of(tile.batch),
            .n_kv = extents_.n_kv,
            .d_k = extents_.d_k,
            .d_v = extents_.d_v,
            .q_dtype = q_.dtype,
            .q_stride = step(q_, 3),
            .o_stride = step(out_.o, 3),
            .weights_stride = step(out_.weights, 3),
            .phase = phase_of(options_),
            .scale = scale_,
            .softcap = softcap_,
            .alibi = options_.alibi_slopes.present(),
            .additive_from = additive ? 0 : std::max<int64_t>(tree_from, 0),
            .tree_from = tree_from,
            .shared = (tile.queries == 1 || alike(2)) && (tile.heads == 1 || alike(1)),
            .bias_dtype = bias.dtype,
            .mask_stride = step(mask, 3),
            .bias_stride = step(bias, 3),
            .tree_stride = step(tree, 3),
            .dropout = dropout_of(tile.batch),
            .kv_offset = options_.kv_offset.value_or(0),
            .native = native_,
            .scores = scores_,
            .values = values_,
            .scratch = reinterpret_cast<T*>(scratch_ + worker * plan_.scratch_bytes)};
  }

  /// The keys or values of a tile's sequence and key head.
  kernels::RowSource source_of(const ConstTensor& rows, const ConstTensor& scales, const TileRange& tile) const {
    const bool paged = options_.block_table.present();
    const Sequences::Place first = paged ? Sequences::Place{0, 0} : sequences_.first_key(tile.batch);
    return {.data = at(rows, first.batch, tile.kv_head, first.row),
            .dtype = rows.dtype,
            .stride = rows.shape[3] == 0 ? 0 : step(rows, 2),
            .stride_d = step(rows, 3),
            .page_stride = paged ? step(rows, 0) : 0,
            .scales = static_cast<const float*>(at(scales, first.batch, tile.kv_head, first.row)),
            .scale_stride = step(scales, 2),
            .scale_stride_d = step(scales, 3),
            .scale_page_stride = paged ? step(scales, 0) : 0};
  }

  kernels::Pages pages_of(int64_t batch) const {
    const ConstMatrix& table = options_.block_table;
    if (!table.present() || table.shape[1] == 0) return {};
    const int64_t row = batch * table.stride[0];
    return {.table = static_cast<const char*>(table.data) + row * size_of(table.dtype),
            .dtype = table.dtype,
            .stride = table.stride[1],
            .size = k_.shape[2]};
  }

  /// Writes a tile's row table and returns how many rows there are: packed sequences end before the longest of them does,
  /// but for their weights, which are padded.
  int64_t write_rows(const TileRange& tile, kernels::Row<T>* row) {
    const int64_t b = tile.batch;
    const int64_t n_q = sequences_.q_length(b), n_kv = sequences_.kv_length(b), written = sequences_.q_rows(b);
    const int64_t first_position = options_.q_offset.value_or(options_.align == Align::bottom_right ? n_kv - n_q : 0);
    const int64_t kv_offset = options_.kv_offset.value_or(0);
    const int64_t last = std::min(tile.first_query + tile.queries, out_.weights.present() ? extents_.n_q : written);
    const kernels::Row<T>* const first = row;
    for (int64_t h = tile.first_head; h < tile.first_head + tile.heads; ++h) {
      const T slope = element<T>(options_.alibi_slopes, h, T{0});
      const T sink = element<T>(options_.sinks, h, -std::numeric_limits<T>::infinity());
      for (int64_t i = tile.first_query; i < last; ++i, ++row) {
        const bool there = i < n_q;
        const int64_t position = first_position + i - kv_offset;
        const Sequences::Place place = sequences_.query(b, i);
        *row = {.q = there ? at(q_, place.batch, h, place.row) : nullptr,
                .begin = there ? std::max<int64_t>(0, position - left_) : 0,
                .end = there ? std::min(n_kv, position + right_ + 1) : 0,
                .position = position,
                .mask = static_cast<const unsigned char*>(at(options_.mask, b, h, i)),
                .bias = at(options_.bias, b, h, i),
                .tree = static_cast<const uint64_t*>(at(options_.tree_mask, b, h, i)),
                .head = static_cast<uint32_t>(h),
                .slope = slope,
                .sink = there ? sink : -std::numeric_limits<T>::infinity(),
                .o = i < written ? at(out_.o, place.batch, h, place.row) : nullptr,
                .lse = i < written ? static_cast<T*>(at(out_.lse, place.batch, h, place.row)) : nullptr,
                .weights = at(out_.weights, b, h, i)};
      }
    }
    return row - first;
  }

  kernels::Dropout<T> dropout_of(int64_t batch) const {
    const double p = options_.dropout;
    return {.on = p > 0,
            .threshold = static_cast<uint64_t>(std::ceil(p * 0x1p32)),
            .factor = static_cast<T>(1 / (1 - p)),
            .key = {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)},
            .batch = static_cast<uint32_t>(batch)};
  }

  const ConstTensor &q_, &k_, &v_;
  const AttentionOutputs& out_;
  const AttentionOptions& options_;
  const Sequences sequences_;
  const Extents& extents_;
  const Plan& plan_;
  Tasks tasks_;
  const kernels::TileKernel<T>& kernel_;

  char* scratch_;
  char* row_tables_;
  char* partials_;
  const kernels::NativeProducts* native_;
  kernels::Native scores_ = kernels::Native::none, values_ = kernels::Native::none;
  T scale_, softcap_;
  int64_t left_, right_;
};

}  // namespace

template <class T>
Plan plan_call(const Extents& extents, const AttentionOptions& options, bool wants_weights, int64_t workers,
               const kernels::TargetKernels& kernels) {
  return make_plan(extents, {.lanes = kernels::of_type<T>(kernels).lanes,
                             .tile_vectors = kernels::kTileVectors<T>,
                             .element_size = sizeof(T),
                             .row_size = sizeof(kernels::Row<T>),
                             .phase = phase_of(options),
                             .workers = workers,
                             .may_share_splits = !wants_weights});
}

template <class T>
Status run(const Arguments& arguments, const Extents& extents, const Plan& plan, void* workspace, int64_t workers,
           const Execution& execution, const kernels::TargetKernels& kernels) {
  return Run<T>(arguments, extents, plan, workspace, workers, execution, kernels).run();
}

template Plan plan_call<float>(const Extents&, const AttentionOptions&, bool, int64_t, const kernels::TargetKernels&);
template Plan plan_call<double>(const Extents&, const AttentionOptions&, bool, int64_t, const kernels::TargetKernels&);
template Status run<float>(const Arguments&, const Extents&, const Plan&, void*, int64_t, const Execution&,
                           const kernels::TargetKernels&);
template Status run<double>(const Arguments&, const Extents&, const Plan&, void*, int64_t, const Execution&,
                            const kernels::TargetKernels&);

}  // namespace foveate
