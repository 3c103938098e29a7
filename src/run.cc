// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <algorithm>
#include <cstdint>

#include "carve.h"
#include "kernels/native.h"
#include "rounds.h"
#include "sequences.h"
#include "tile_tasks.h"
#include "vector_at.h"

namespace foveate {
namespace {

/// Whether kernels take hints: what a task says to be worked on sooner. A page's engine is smaller without.
#ifdef __wasm__
constexpr bool kTakeHints = false;
#else
constexpr bool kTakeHints = true;
#endif

/// One call on its way: what every task of it shares.
template <class T>
class Run {
 public:
  Run(const Arguments& arguments, const Extents& extents, const Plan& plan, void* workspace, int64_t workers,
      const kernels::TargetKernels& kernels, const kernels::TanhScores<T>* tanh)
      : inputs_(arguments),
        out_(arguments.outputs),
        tiles_(arguments, extents, tanh),
        extents_(extents),
        plan_(plan),
        workers_(workers),
        kernel_(kernels::of_type<T>(kernels)),
        native_(kernels.native) {
    Carve carve(workspace);
    scratch_ = carve.take(workers * plan.scratch_bytes);
    row_tables_ = carve.take(workers * plan.row_table_bytes);
    kept_ = carve.take(workers * plan.kept_bytes);
    for (int64_t worker = 0; kernels::kNativeProducts && worker < workers; ++worker) {
      int64_t* const tags = kept_pairs(worker).tags;
      std::fill(tags, tags + plan.kept_blocks, 0);
    }
    partials_ = carve.take(0);  // what is left
    if (kernels::kNativeProducts && native_ != nullptr && inputs_.options.native_products) choose_native();
  }

  // Tiles; or the splits of all tiles, which a second round merges.

  int64_t rounds() const { return plan_.share_splits ? 2 : 1; }
  int64_t tasks(int64_t round) const {
    return plan_.share_splits && round == 0 ? plan_.tiles * plan_.splits : plan_.tiles;
  }
  void one(int64_t round, int64_t task, int64_t worker) {
    if (!plan_.share_splits) return attend_tile(task, worker);
    round == 0 ? attend_split(task, worker) : merge_tile(task, worker);
  }

 private:
  /// Native products are used where they lose nothing: bfloat16 meets bfloat16, and int8 anything. Sums of int8 stay in 32
  /// bits up to 2^31 / (255 * 127) components.
  void choose_native() {
    constexpr int64_t kMostComponents = 65536;
    const bool bf16 = native_->scores_bf16 != nullptr;
    const auto are_bf16 = [&](DType stored) { return bf16 && stored == DType::bf16 && inputs_.q.dtype == DType::bf16; };
    if (are_bf16(inputs_.k.dtype)) scores_ = kernels::Native::bf16;
    if (inputs_.k.dtype == DType::i8 && extents_.d_k <= kMostComponents) scores_ = kernels::Native::int8;
    if (are_bf16(inputs_.v.dtype)) values_ = kernels::Native::bf16;
    if (bf16 && inputs_.v.dtype == DType::i8) values_ = kernels::Native::int8;
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

  /// A worker's, of nobody yet.
  kernels::KeptPairs kept_pairs(int64_t worker) const {
    char* const at = kept_ + worker * plan_.kept_bytes;
    auto* const pairs = reinterpret_cast<float*>(at);
    const int64_t elements = plan_.kept_blocks * kernels::kept_elements(extents_.d_v);
    return {.blocks = plan_.kept_blocks,
            .owner = 0,
            .n_owners = extents_.b * extents_.h_kv,
            .tags = reinterpret_cast<int64_t*>(pairs + elements),
            .pairs = pairs};
  }

  kernels::TileTask<T> task_of(int64_t index, int64_t worker) {
    const TileRange tile = tile_at(plan_, extents_, index);
    auto* rows = reinterpret_cast<kernels::Row<T>*>(row_tables_ + worker * plan_.row_table_bytes);
    kernels::TileTask<T> task = tiles_.task(tile.batch, tile.kv_head);
    task.rows = rows;
    task.n_rows = write_rows(tile, rows);
    task.shared = tiles_.alike(tile.heads == 1, tile.queries == 1);
    task.o_dtype = out_.o.present() ? out_.o.dtype : out_.weights.dtype;
    task.o_stride = step(out_.o, 3);
    task.weights_stride = step(out_.weights, 3);
    if constexpr (kernels::kNativeProducts) {
      task.native = native_;
      task.scores = scores_;
      task.values = values_;
      task.kept = kept_pairs(worker);
      task.kept.owner = tile.batch * extents_.h_kv + tile.kv_head + 1;
    }
    task.scratch = reinterpret_cast<T*>(scratch_ + worker * plan_.scratch_bytes);
    if (kTakeHints) give_hints(task, tile, index);
    return task;
  }

  void give_hints(kernels::TileTask<T>& task, const TileRange& tile, int64_t index) const {
    task.regular = tile.heads == 1 && are_regular(task.rows, task.n_rows);
    task.q_step = step(inputs_.q, 2) * size_of(inputs_.q.dtype);
    task.o_step = step(out_.o, 2) * size_of(out_.o.dtype);
    // Tiles of one head go from its last queries to its first.
    if (tile.heads == 1 && tile.first_query >= plan_.queries_per_tile) {
      const RowsAt q = tiles_.rows(tile.batch, tile.first_head).q;
      task.next_q = q[tile.first_query - plan_.queries_per_tile];
      task.next_q_step = q.bytes;
    }
    // A head's first tiles, one for each worker, meet keys that lie in memory.
    task.new_keys = index % (plan_.head_tiles * plan_.query_tiles) < workers_;
  }

  /// Whether rows of one head are regular: what the first and the last have alike, those between have too.
  static bool are_regular(const kernels::Row<T>* rows, int64_t n) {
    if (n == 0) return false;
    const kernels::Row<T>&first = rows[0], &last = rows[n - 1];
    return first.begin == last.begin && first.end == last.end && last.q != nullptr &&
           (first.o == nullptr) == (last.o == nullptr);
  }

  /// Writes a tile's row table and returns how many rows there are: packed sequences end before the longest of them does,
  /// but for their weights, which are padded.
  int64_t write_rows(const TileRange& tile, kernels::Row<T>* row) {
    const int64_t b = tile.batch, written = tiles_.sequences().q_rows(b);
    const int64_t last = std::min(tile.first_query + tile.queries, out_.weights.present() ? extents_.n_q : written);
    const Sequences::Place place = tiles_.sequences().query(b, 0);
    const kernels::Row<T>* const first = row;
    for (int64_t h = tile.first_head; h < tile.first_head + tile.heads; ++h) {
      const HeadRows<T> rows = tiles_.rows(b, h);
      const RowsAt o = rows_at(out_.o, place.batch, h, place.row), lse = rows_at(out_.lse, place.batch, h, place.row);
      const RowsAt weights = rows_at(out_.weights, b, h, 0);
      for (int64_t i = tile.first_query; i < last; ++i, ++row) {
        *row = rows[i];
        row->weights = const_cast<void*>(weights[i]);
        if (i >= written) continue;
        row->o = const_cast<void*>(o[i]);
        row->lse = static_cast<T*>(const_cast<void*>(lse[i]));
      }
    }
    return row - first;
  }

  const Inputs& inputs_;
  const AttentionOutputs& out_;
  const TileTasks<T> tiles_;
  const Extents& extents_;
  const Plan& plan_;
  const int64_t workers_;
  const kernels::TileKernel<T>& kernel_;

  char* scratch_;
  char* row_tables_;
  char* kept_;
  char* partials_;
  const kernels::NativeProducts* native_;
  kernels::Native scores_ = kernels::Native::none, values_ = kernels::Native::none;
};

}  // namespace

template <class T>
Plan plan_call(const Extents& extents, const AttentionOptions& options, bool wants_weights, int64_t workers,
               const kernels::TargetKernels& kernels, DType dtype) {
  const int64_t lanes = kernels::of_type<T>(kernels).lanes;
  const bool bf16_products =
      kernels::kNativeProducts && kernels.native != nullptr && kernels.native->weighted_sum != nullptr;
  return make_plan(extents, {.lanes = lanes,
                             .tile_vectors = tile_vectors(options.block_size, lanes, kernels::kTileVectors<T>),
                             .element_size = sizeof(T),
                             .row_size = sizeof(kernels::Row<T>),
                             .phase = phase_of(options),
                             .workers = workers,
                             .may_share_splits = !wants_weights,
                             .may_keep_pairs = bf16_products && dtype == DType::bf16});
}

template <class T>
Rounds* place_run(RoundsMemory* memory, const Arguments& arguments, const Extents& extents, const Plan& plan,
                  void* workspace, int64_t workers, const Execution& execution, const kernels::TargetKernels& kernels,
                  const kernels::TanhScores<T>* tanh) {
  return place_rounds<Run<T>>(memory, execution, arguments, extents, plan, workspace, workers, kernels, tanh);
}

template Plan plan_call<float>(const Extents&, const AttentionOptions&, bool, int64_t, const kernels::TargetKernels&,
                               DType);
template Plan plan_call<double>(const Extents&, const AttentionOptions&, bool, int64_t, const kernels::TargetKernels&,
                                DType);
template Rounds* place_run<float>(RoundsMemory*, const Arguments&, const Extents&, const Plan&, void*, int64_t,
                                  const Execution&, const kernels::TargetKernels&, const kernels::TanhScores<float>*);
template Rounds* place_run<double>(RoundsMemory*, const Arguments&, const Extents&, const Plan&, void*, int64_t,
                                   const Execution&, const kernels::TargetKernels&, const kernels::TanhScores<double>*);

}  // namespace foveate
