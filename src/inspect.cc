// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// inspect(): lse by attention(), then every tile once more, a head's rows in a few chunks. Chunks and tiles hang on the
// sizes alone, and are joined in order, so that figures do not depend on who computed them.
#include "foveate/inspect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "carve.h"
#include "inspect_sums.h"
#include "kernels/inspect.h"
#include "no_values.h"
#include "plan.h"
#include "saturating.h"
#include "target.h"
#include "tasks.h"
#include "tile_tasks.h"
#include "vector_at.h"
#include "workspace.h"

namespace foveate {
namespace {

/// Chunks of a head's rows: enough for all threads of a machine where there is one head, and O(n) of received mass.
constexpr int64_t kMostChunks = 8, kLeastRows = 512;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct InspectArguments : Inputs {
  const InspectOutputs& outputs;
};

/// What lse and weights before dropout hang on.
AttentionOptions without_values(const AttentionOptions& options) {
  AttentionOptions all = options;
  all.v_scales = {};
  all.native_products = false;
  return all;
}

struct Layout {
  int64_t chunks, rows_per_chunk;
  int64_t tile_rows;
  int64_t cells;  ///< of a chunk's maps
  /// Bytes of each piece: of all, then of a worker.
  int64_t lse, received, sums, cell_most, cell_sums;
  int64_t scratch, row_table, row_sums, row_lse, top, top_scratch, cell_rows;

  int64_t bytes(int64_t workers) const {
    int64_t of_all = kWorkspaceAlign, of_worker = 0;
    for (const int64_t piece : {lse, received, sums, cell_most, cell_sums}) of_all = saturating_sum(of_all, piece);
    for (const int64_t piece : {scratch, row_table, row_sums, row_lse, top, top_scratch, cell_rows}) {
      of_worker = saturating_sum(of_worker, piece);
    }
    return saturating_sum(of_all, saturating_product(workers, of_worker));
  }
};

/// The row of cells that query i belongs to.
int64_t cell_row(const InspectMaps& maps, int64_t i, int64_t n_q) { return i * maps.rows / n_q; }

/// How many of n queries or keys the i-th of so many cells has.
int64_t in_cell(int64_t i, int64_t n, int64_t cells) {
  const auto first = [&](int64_t cell) { return ceil_div(cell * n, cells); };
  return first(i + 1) - first(i);
}

/// A head's rows in chunks of whole tiles.
struct Chunks {
  int64_t tile_rows, rows, n;

  Chunks(int64_t n_q, int64_t block_size, bool f64, const kernels::TargetKernels& kernels) {
    const int64_t lanes = f64 ? kernels.f64.lanes : kernels.f32.lanes;
    const int64_t vectors = f64 ? kernels::kTileVectors<double> : kernels::kTileVectors<float>;
    tile_rows = lanes * tile_vectors(block_size, lanes, vectors);
    const int64_t wanted = std::clamp<int64_t>(ceil_div(n_q, kLeastRows), 1, kMostChunks);
    rows = std::max<int64_t>(1, ceil_div(ceil_div(n_q, wanted), tile_rows)) * tile_rows;
    n = std::max<int64_t>(1, ceil_div(n_q, rows));
  }
};

template <class T>
Layout layout_of(const Extents& e, const InspectOutputs& outputs, int64_t lse_elements, int64_t block_size,
                 const kernels::TargetKernels& kernels) {
  const Chunks chunks(e.n_q, block_size, sizeof(T) == sizeof(double), kernels);
  Layout layout{};
  layout.tile_rows = chunks.tile_rows;
  layout.rows_per_chunk = chunks.rows;
  layout.chunks = chunks.n;
  const int64_t units = saturating_product(e.b * e.h_q, layout.chunks);
  const auto bytes = [](int64_t n, size_t size) {
    return whole_lines(saturating_product(n, static_cast<int64_t>(size)));
  };
  // A chunk may begin and end inside a cell.
  const int64_t cell_rows = layout.rows_per_chunk * outputs.maps.rows / std::max<int64_t>(1, e.n_q) + 2;
  layout.cells = std::min(cell_rows, outputs.maps.rows) * outputs.maps.columns;
  layout.cell_most = bytes(saturating_product(units, layout.cells), sizeof(float));
  layout.cell_sums = bytes(saturating_product(units, layout.cells), sizeof(double));
  layout.lse = bytes(lse_elements, sizeof(T));
  layout.received = bytes(saturating_product(units, e.n_kv), sizeof(double));
  layout.sums = bytes(units, sizeof(HeadSums));
  layout.scratch = bytes(kernels::scratch_elements(layout.tile_rows, e.d_k, 1), sizeof(T));
  layout.row_table = bytes(layout.tile_rows, sizeof(kernels::Row<T>));
  layout.row_sums = bytes(layout.tile_rows, sizeof(kernels::RowSums));
  layout.row_lse = bytes(layout.tile_rows, sizeof(T));
  layout.top = bytes(layout.tile_rows * outputs.top_keys, sizeof(kernels::TopKey));
  layout.top_scratch = bytes(layout.tile_rows * outputs.top_keys, 2 * sizeof(T));
  layout.cell_rows = bytes(layout.tile_rows, sizeof(int64_t));
  return layout;
}

template <class T>
class Inspector {
 public:
  Inspector(const InspectArguments& arguments, const Extents& extents, const Layout& layout, void* workspace,
            int64_t workers, const Execution& execution, const kernels::TargetKernels& kernels)
      : in_(arguments),
        e_(extents),
        layout_(layout),
        execution_(execution),
        tasks_(execution),
        tiles_(arguments, extents, nullptr) {
    Carve carve(workspace);
    lse_ = reinterpret_cast<T*>(carve.take(layout.lse));
    received_ = reinterpret_cast<double*>(carve.take(layout.received));
    sums_ = reinterpret_cast<HeadSums*>(carve.take(layout.sums));
    cell_most_ = reinterpret_cast<float*>(carve.take(layout.cell_most));
    cell_sums_ = reinterpret_cast<double*>(carve.take(layout.cell_sums));
    scratch_ = carve.take(workers * layout.scratch);
    row_tables_ = carve.take(workers * layout.row_table);
    row_sums_ = carve.take(workers * layout.row_sums);
    row_lse_ = carve.take(workers * layout.row_lse);
    top_ = carve.take(workers * layout.top);
    top_scratch_ = carve.take(workers * layout.top_scratch);
    cell_rows_ = carve.take(workers * layout.cell_rows);
    const kernels::InspectKernels& of = *kernels::inspect_kernels(kernels.target);
    if constexpr (sizeof(T) == sizeof(double)) {
      kernel_ = of.f64;
    } else {
      kernel_ = of.f32;
    }
  }

  Status run() {
    if (Status status = find_lse(); !status.ok()) return status;
    tasks_.run(e_.b * e_.h_q * layout_.chunks, [this](int64_t unit, int64_t worker) { inspect_chunk(unit, worker); });
    if (Status status = tasks_.status(); !status.ok()) return status;
    for (int64_t head = 0; head < e_.b * e_.h_q; ++head) finish_head(head);
    return {};
  }

 private:
  Status find_lse() {
    const int64_t(&q)[4] = in_.q.shape;
    Execution execution = execution_;
    execution.workspace = nullptr;
    execution.workspace_bytes = 0;
    return attention(in_.q, in_.k, in_.v, {.lse = view(lse_, q[0], q[1], q[2], 1)}, in_.options, execution);
  }

  void inspect_chunk(int64_t unit, int64_t worker) {
    const int64_t head = unit / layout_.chunks, chunk = unit % layout_.chunks;
    new (sums_ + unit) HeadSums();
    double* const received = received_ + unit * e_.n_kv;
    std::fill_n(received, e_.n_kv, 0.0);
    std::fill_n(cell_most_ + unit * layout_.cells, layout_.cells, 0.0F);
    std::fill_n(cell_sums_ + unit * layout_.cells, layout_.cells, 0.0);
    const int64_t last = std::min((chunk + 1) * layout_.rows_per_chunk, e_.n_q);
    for (int64_t i = chunk * layout_.rows_per_chunk; i < last; i += layout_.tile_rows) {
      inspect_tile(head / e_.h_q, head % e_.h_q, i, std::min(layout_.tile_rows, last - i), unit, worker);
    }
  }

  void inspect_tile(int64_t b, int64_t h, int64_t first, int64_t n, int64_t unit, int64_t worker) {
    auto* const rows = reinterpret_cast<kernels::Row<T>*>(row_tables_ + worker * layout_.row_table);
    auto* const of_rows = reinterpret_cast<kernels::RowSums*>(row_sums_ + worker * layout_.row_sums);
    auto* const lse = reinterpret_cast<T*>(row_lse_ + worker * layout_.row_lse);
    auto* const top = reinterpret_cast<kernels::TopKey*>(top_ + worker * layout_.top);
    const InspectOutputs& wanted = in_.outputs;
    const int64_t written = tiles_.sequences().q_rows(b);
    const HeadRows<T> of_head = tiles_.rows(b, h);
    for (int64_t r = 0; r < n; ++r) {
      const int64_t i = first + r;
      rows[r] = of_head[i];
      of_rows[r] = {};
      lse[r] = i < written ? lse_of(b, h, i) : -std::numeric_limits<T>::infinity();
    }
    kernels::InspectTask<T> task{tiles_.task(b, h / (e_.h_q / e_.h_kv)),
                                 lse,
                                 of_rows,
                                 received_ + unit * e_.n_kv,
                                 top,
                                 wanted.top_keys,
                                 reinterpret_cast<T*>(top_scratch_ + worker * layout_.top_scratch),
                                 pool(first, n, unit, worker)};
    task.tile.rows = rows;
    task.tile.n_rows = n;
    task.tile.shared = tiles_.alike(true, n == 1);
    task.tile.o_dtype = DType::f32;
    task.tile.o_stride = task.tile.weights_stride = 0;
    task.tile.native = nullptr;
    task.tile.scores = task.tile.values = kernels::Native::none;
    task.tile.dropout.on = false;
    task.tile.scratch = reinterpret_cast<T*>(scratch_ + worker * layout_.scratch);
    kernel_(task);
    for (int64_t r = 0; r < n; ++r) {
      take_row(b, h, first + r, of_rows[r], static_cast<double>(lse[r]), static_cast<double>(rows[r].sink),
               sums_[unit]);
      for (int64_t t = 0; t < wanted.top_keys; ++t) {
        const auto& [key, weight] = top[r * wanted.top_keys + t];
        wanted.top[((b * e_.h_q + h) * e_.n_q + first + r) * wanted.top_keys + t] = {key, weight};
      }
    }
  }

  /// The cells of a chunk, and which of their rows each of n queries belongs to.
  kernels::Pool pool(int64_t first, int64_t n, int64_t unit, int64_t worker) {
    const InspectMaps& maps = in_.outputs.maps;
    if (maps.columns == 0) return {};
    auto* const rows = reinterpret_cast<int64_t*>(cell_rows_ + worker * layout_.cell_rows);
    const int64_t above = first_cell_row(unit % layout_.chunks);
    for (int64_t r = 0; r < n; ++r) rows[r] = cell_row(maps, first + r, e_.n_q) - above;
    return {rows, maps.columns, cell_most_ + unit * layout_.cells, cell_sums_ + unit * layout_.cells};
  }

  int64_t first_cell_row(int64_t chunk) const {
    return cell_row(in_.outputs.maps, chunk * layout_.rows_per_chunk, e_.n_q);
  }

  T lse_of(int64_t b, int64_t h, int64_t i) const {
    const Sequences::Place place = tiles_.sequences().query(b, i);
    return lse_[(place.batch * e_.h_q + h) * in_.q.shape[2] + place.row];
  }

  void take_row(int64_t b, int64_t h, int64_t i, const kernels::RowSums& row, double lse, double sink, HeadSums& sums) {
    RowFigures f{.keys = row.keys, .lse = lse};
    const double of_sink = std::exp(sink - lse);
    if (row.keys > 0 && std::isfinite(lse)) {
      f.product_mean = row.product_mean;
      f.product_variance = row.product_squares / static_cast<double>(row.keys);
      f.largest_score = row.largest_score;
      f.largest_key = row.largest_key;
      f.largest_weight = std::min(1.0, std::exp(row.largest_score - lse));
      f.entropy = std::max(0.0, row.entropy);
      // 1 - most is the sum of the others, the sink's too.
      const double squares =
          row.p2 - 2 * row.p3 + square(row.p2) + square(row.most) * (square(row.p + of_sink) + 2 * row.p2);
      f.jacobian = std::sqrt(std::max(0.0, squares));
    } else {
      f.product_mean = f.product_variance = f.largest_score = f.largest_weight = f.entropy = f.jacobian = kNaN;
      f.largest_key = -1;
    }
    sums.add(i, f, row.product_squares, of_sink);
    if (in_.outputs.rows != nullptr) in_.outputs.rows[(b * e_.h_q + h) * e_.n_q + i] = f;
  }

  /// The chunks of a head, in order.
  void finish_head(int64_t head) {
    HeadSums sums = sums_[head * layout_.chunks];
    double* const received = received_ + head * layout_.chunks * e_.n_kv;
    for (int64_t chunk = 1; chunk < layout_.chunks; ++chunk) {
      sums.join(sums_[head * layout_.chunks + chunk]);
      for (int64_t j = 0; j < e_.n_kv; ++j) received[j] += received[chunk * e_.n_kv + j];
    }
    if (in_.outputs.received != nullptr) std::copy_n(received, e_.n_kv, in_.outputs.received + head * e_.n_kv);
    if (in_.outputs.heads != nullptr) in_.outputs.heads[head] = sums.finished(e_.n_kv > 0 ? received[0] : 0);
    if (in_.outputs.maps.columns > 0 && e_.n_q > 0) finish_maps(head);
  }

  /// Puts the cells of a head's chunks together: a row of cells may lie in several.
  void finish_maps(int64_t head) {
    const InspectMaps& maps = in_.outputs.maps;
    for (int64_t y = 0; y < maps.rows; ++y) {
      const auto queries = static_cast<double>(in_cell(y, e_.n_q, maps.rows));
      float* const largest = maps.largest == nullptr ? nullptr : maps.largest + (head * maps.rows + y) * maps.columns;
      float* const mean = maps.mean == nullptr ? nullptr : maps.mean + (head * maps.rows + y) * maps.columns;
      if (largest != nullptr) std::fill_n(largest, maps.columns, 0.0F);
      double* sums = nullptr;  // those of the first chunk that has the row, the others' added to them
      for (int64_t chunk = 0; chunk < layout_.chunks; ++chunk) {
        const int64_t last_query = std::min((chunk + 1) * layout_.rows_per_chunk, e_.n_q) - 1;
        const int64_t first = first_cell_row(chunk), last = cell_row(maps, last_query, e_.n_q);
        if (y < first || y > last) continue;
        const int64_t at = (head * layout_.chunks + chunk) * layout_.cells + (y - first) * maps.columns;
        for (int64_t x = 0; largest != nullptr && x < maps.columns; ++x) {
          largest[x] = std::max(largest[x], cell_most_[at + x]);
        }
        for (int64_t x = 0; sums != nullptr && x < maps.columns; ++x) sums[x] += cell_sums_[at + x];
        if (sums == nullptr) sums = cell_sums_ + at;
      }
      for (int64_t x = 0; mean != nullptr && x < maps.columns; ++x) {
        mean[x] = static_cast<float>(sums[x] / (queries * static_cast<double>(in_cell(x, e_.n_kv, maps.columns))));
      }
    }
  }

  const InspectArguments& in_;
  const Extents& e_;
  const Layout& layout_;
  const Execution& execution_;
  Tasks tasks_;
  const TileTasks<T> tiles_;
  void (*kernel_)(const kernels::InspectTask<T>&);
  T* lse_;
  double* received_;
  HeadSums* sums_;
  float* cell_most_;
  double* cell_sums_;
  char *scratch_, *row_tables_, *row_sums_, *row_lse_, *top_, *top_scratch_, *cell_rows_;
};

template <class T>
Status inspect_as(const InspectArguments& in, const Extents& extents, const Execution& execution,
                  const kernels::TargetKernels& kernels) {
  const int64_t workers = workers_of(execution);
  const int64_t(&q)[4] = in.q.shape;
  const Layout layout = layout_of<T>(extents, in.outputs, q[0] * q[1] * q[2], in.options.block_size, kernels);
  const int64_t bytes = layout.bytes(workers);
  Execution own = execution;
  own.workspace = nullptr;
  return with_workspace(own, allocatable(bytes), "inspect", [&](void* workspace) {
    return Inspector<T>(in, extents, layout, workspace, workers, execution, kernels).run();
  });
}

constexpr int64_t kMostTop = 1024, kMostCells = 65536;
constexpr int64_t kMostKeys = (int64_t{1} << 31) - 1;  // of which the greatest weights are kept, in 32-bit lanes

Status check_cells(const char* name, int64_t cells, const char* of, int64_t most) {
  most = std::min(most, kMostCells);
  if (cells >= std::min<int64_t>(1, most) && cells <= most) return {};
  return Status::error(kInvalid, "maps.%s: %lld; expected 1 to %lld, for %s", name, static_cast<long long>(cells),
                       static_cast<long long>(most), of);
}

Status check_outputs(const InspectOutputs& outputs, const Extents& e) {
  const InspectMaps& maps = outputs.maps;
  const bool wants_maps = maps.largest != nullptr || maps.mean != nullptr;
  if (outputs.heads == nullptr && outputs.rows == nullptr && outputs.received == nullptr && outputs.top == nullptr &&
      !wants_maps) {
    return Status::error(kInvalid, "outputs: none given; expected heads, rows, received, top or maps");
  }
  if (outputs.top != nullptr && (outputs.top_keys < 1 || outputs.top_keys > kMostTop)) {
    return Status::error(kInvalid, "top_keys: %lld; expected 1 to %lld", static_cast<long long>(outputs.top_keys),
                         static_cast<long long>(kMostTop));
  }
  if (outputs.top != nullptr && e.n_kv > kMostKeys) {
    return Status::error(StatusCode::not_supported, "top: %lld keys; expected at most %lld",
                         static_cast<long long>(e.n_kv), static_cast<long long>(kMostKeys));
  }
  if (!wants_maps) return {};
  FOVEATE_RETURN_IF_ERROR(check_cells("rows", maps.rows, "n_q", e.n_q));
  return check_cells("columns", maps.columns, "n_kv", e.n_kv);
}

/// Sizes of what is not wanted count as 0.
InspectOutputs wanted_of(const InspectOutputs& outputs) {
  InspectOutputs wanted = outputs;
  if (wanted.top == nullptr) wanted.top_keys = 0;
  if (wanted.maps.largest == nullptr && wanted.maps.mean == nullptr) wanted.maps = {};
  return wanted;
}

}  // namespace

Status inspect(const ConstTensor& q, const ConstTensor& k, const InspectOutputs& outputs,
               const AttentionOptions& options, const Execution& execution) {
  const ConstTensor v = no_values(k);
  const AttentionOptions wanted = without_values(options);
  const InspectOutputs wanted_outputs = wanted_of(outputs);
  const InspectArguments arguments{{q, k, v, wanted}, wanted_outputs};
  Extents extents;
  {
    const FpMode mode;
    FOVEATE_RETURN_IF_ERROR(check_inputs(arguments, &extents));
  }
  FOVEATE_RETURN_IF_ERROR(check_workers(execution));
  FOVEATE_RETURN_IF_ERROR(check_outputs(outputs, extents));
  const kernels::TargetKernels* kernels = nullptr;
  FOVEATE_RETURN_IF_ERROR(choose_kernels(&kernels));
  if (extents.b == 0 || extents.h_q == 0) return {};
  return q.dtype == DType::f64 ? inspect_as<double>(arguments, extents, execution, *kernels)
                               : inspect_as<float>(arguments, extents, execution, *kernels);
}

Status inspect_tasks(const AttentionShape& shape, int64_t workers, int64_t* tasks) {
  AttentionPlan plan;
  AttentionShape of_lse = shape;
  of_lse.d_v = 1;
  of_lse.weights = false;
  FOVEATE_RETURN_IF_ERROR(attention_plan(of_lse, workers, &plan));
  const kernels::TargetKernels* kernels = nullptr;
  FOVEATE_RETURN_IF_ERROR(choose_kernels(&kernels));
  const Chunks chunks(shape.n_q, shape.block_size, shape.dtype == DType::f64, *kernels);
  *tasks = shape.b == 0 || shape.h_q == 0 ? 0 : plan.tasks + shape.b * shape.h_q * chunks.n;
  return {};
}

}  // namespace foveate
