// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fp_mode.h"
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

int64_t length(const ConstVector& lengths, int64_t i, int64_t absent) {
  return lengths.present() ? integer_at(lengths, i) : absent;
}

/// Stride along an axis; 0 where the extent is 1, whatever the view says.
int64_t step(const ConstTensor& view, int axis) { return view.shape[axis] == 1 ? 0 : view.stride[axis]; }

/// Offset, in elements, of [b, h, i, 0]; 0 in an empty array, whose pointer may be null.
int64_t offset(const ConstTensor& view, int64_t b, int64_t h, int64_t i) {
  if (view.shape[2] == 0 || view.shape[3] == 0) return 0;
  return b * step(view, 0) + h * step(view, 1) + i * step(view, 2);
}

template <class T>
T* at(const Tensor& view, int64_t b, int64_t h, int64_t i) {
  return view.present() ? static_cast<T*>(view.data) + offset(view, b, h, i) : nullptr;
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
        extents_(extents),
        plan_(plan),
        execution_(execution),
        kernel_(kernels::of_type<T>(kernels)) {
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
    if (options_.causal) right_ = std::min<int64_t>(right_, 0);
  }

  Status run() {
    if (!plan_.share_splits) {
      in_parallel(plan_.tiles, &Run::attend_tile);
    } else {
      in_parallel(plan_.tiles * plan_.splits, &Run::attend_split);
      in_parallel(plan_.tiles, &Run::merge_tile);
    }
    if (cancelled_.load()) return Status::error(StatusCode::cancelled, "cancelled by the stop flag");
    return {};
  }

 private:
  using Step = void (Run::*)(int64_t index, int64_t worker);

  void in_parallel(int64_t n, Step step) {
    struct Context {
      Run* run;
      Step step;
    } context{this, step};
    const auto task = [](void* c, int64_t index, int64_t worker) {
      const Context& call = *static_cast<Context*>(c);
      call.run->one(call.step, index, worker);
    };
    if (execution_.executor != nullptr) {
      execution_.executor->run(n, task, &context);
    } else {
      for (int64_t index = 0; index < n; ++index) task(&context, index, 0);
    }
  }

  void one(Step step, int64_t index, int64_t worker) {
    if (execution_.stop != nullptr && execution_.stop->load(std::memory_order_relaxed)) cancelled_.store(true);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    const FpMode mode;
    (this->*step)(index, worker);
    if (execution_.progress != nullptr) execution_.progress->fetch_add(1, std::memory_order_relaxed);
  }

  void attend_tile(int64_t tile, int64_t worker) { kernel_.attend(task_of(tile, worker)); }

  // Split by split, the tiles of one split being neighbours: they share its keys.
  void attend_split(int64_t index, int64_t worker) {
    const int64_t tile = index % plan_.tiles, split = index / plan_.tiles;
    const kernels::TileTask<T> task = task_of(tile, worker);
    kernel_.attend_split(task, split, partial(task, tile, split));
  }

  void merge_tile(int64_t tile, int64_t worker) {
    const kernels::TileTask<T> task = task_of(tile, worker);
    kernel_.merge(task, partial(task, tile, 0), plan_.splits);
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
    write_rows(tile, rows);
    const ConstTensor &mask = options_.mask, &bias = options_.bias;
    const bool one_query = tile.queries == 1 || (step(mask, 2) == 0 && step(bias, 2) == 0);
    const bool one_head = tile.heads == 1 || (step(mask, 1) == 0 && step(bias, 1) == 0);
    return {.rows = rows,
            .n_rows = tile.heads * tile.queries,
            .k = static_cast<const T*>(k_.data) + offset(k_, tile.batch, tile.kv_head, 0),
            .v = static_cast<const T*>(v_.data) + offset(v_, tile.batch, tile.kv_head, 0),
            .k_stride = step(k_, 2),
            .k_stride_d = step(k_, 3),
            .v_stride = extents_.d_v == 0 ? 0 : step(v_, 2),
            .v_stride_d = step(v_, 3),
            .n_kv = extents_.n_kv,
            .d_k = extents_.d_k,
            .d_v = extents_.d_v,
            .q_stride = step(q_, 3),
            .o_stride = step(out_.o, 3),
            .weights_stride = step(out_.weights, 3),
            .phase = phase_of(options_),
            .scale = scale_,
            .softcap = softcap_,
            .alibi = options_.alibi_slopes.present(),
            .additive = mask.present() || bias.present(),
            .shared = one_query && one_head,
            .bias_dtype = bias.dtype,
            .mask_stride = step(mask, 3),
            .bias_stride = step(bias, 3),
            .dropout = dropout_of(tile.batch),
            .kv_offset = options_.kv_offset.value_or(0),
            .scratch = reinterpret_cast<T*>(scratch_ + worker * plan_.scratch_bytes)};
  }

  void write_rows(const TileRange& tile, kernels::Row<T>* row) {
    const int64_t b = tile.batch;
    const int64_t n_q = length(options_.q_lengths, b, extents_.n_q);
    const int64_t n_kv = length(options_.kv_lengths, b, extents_.n_kv);
    const int64_t first_position = options_.q_offset.value_or(options_.align == Align::bottom_right ? n_kv - n_q : 0);
    const int64_t kv_offset = options_.kv_offset.value_or(0);
    for (int64_t h = tile.first_head; h < tile.first_head + tile.heads; ++h) {
      const T slope = element<T>(options_.alibi_slopes, h, T{0});
      const T sink = element<T>(options_.sinks, h, -std::numeric_limits<T>::infinity());
      for (int64_t i = tile.first_query; i < tile.first_query + tile.queries; ++i, ++row) {
        const bool there = i < n_q;
        const int64_t position = first_position + i - kv_offset;
        *row = {.q = there ? static_cast<const T*>(q_.data) + offset(q_, b, h, i) : nullptr,
                .begin = there ? std::max<int64_t>(0, position - left_) : 0,
                .end = there ? std::min(n_kv, position + right_ + 1) : 0,
                .position = position,
                .mask = mask_row(b, h, i),
                .bias = bias_row(b, h, i),
                .head = static_cast<uint32_t>(h),
                .slope = slope,
                .sink = there ? sink : -std::numeric_limits<T>::infinity(),
                .o = at<T>(out_.o, b, h, i),
                .lse = at<T>(out_.lse, b, h, i),
                .weights = at<T>(out_.weights, b, h, i)};
      }
    }
  }

  kernels::Dropout<T> dropout_of(int64_t batch) const {
    const double p = options_.dropout;
    return {.on = p > 0,
            .threshold = static_cast<uint64_t>(std::ceil(p * 0x1p32)),
            .factor = static_cast<T>(1 / (1 - p)),
            .key = {static_cast<uint32_t>(options_.seed), static_cast<uint32_t>(options_.seed >> 32)},
            .batch = static_cast<uint32_t>(batch)};
  }

  const unsigned char* mask_row(int64_t b, int64_t h, int64_t i) const {
    const ConstTensor& mask = options_.mask;
    return mask.present() ? static_cast<const unsigned char*>(mask.data) + offset(mask, b, h, i) : nullptr;
  }

  const void* bias_row(int64_t b, int64_t h, int64_t i) const {
    const ConstTensor& bias = options_.bias;
    if (!bias.present()) return nullptr;
    return static_cast<const char*>(bias.data) + offset(bias, b, h, i) * size_of(bias.dtype);
  }

  const ConstTensor &q_, &k_, &v_;
  const AttentionOutputs& out_;
  const AttentionOptions& options_;
  const Extents& extents_;
  const Plan& plan_;
  const Execution& execution_;
  const kernels::TileKernel<T>& kernel_;

  char* scratch_;
  char* row_tables_;
  char* partials_;
  T scale_, softcap_;
  int64_t left_, right_;
  std::atomic<bool> cancelled_ = false;
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
