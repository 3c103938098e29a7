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
#include "kernels/inspect.h"
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
constexpr double kSaturated = 0.99;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct InspectArguments : Inputs {
  const InspectOutputs& outputs;
};

/// One zero for all values, which nobody asks for.
ConstTensor no_values(const ConstTensor& k) {
  static constexpr double zero = 0;
  return {
      &zero, k.dtype == DType::f64 ? DType::f64 : DType::f32, {k.shape[0], k.shape[1], k.shape[2], 1}, {0, 0, 0, 0}};
}

/// What lse and weights before dropout hang on.
AttentionOptions without_values(const AttentionOptions& options) {
  AttentionOptions all = options;
  all.v_scales = {};
  all.native_products = false;
  return all;
}

double square(double x) { return x * x; }

/// The mean and the sum of squared deviations of two sets together.
void join(double n, double mean, double squares, double& all_n, double& all_mean, double& all_squares) {
  if (n == 0) return;
  const double off = mean - all_mean, sum = all_n + n;
  all_mean += off * n / sum;
  all_squares += squares + square(off) * all_n * n / sum;
  all_n = sum;
}

/// A head's figures on their way: sums where means will be.
struct HeadSums {
  HeadFigures figures;
  double pairs = 0, product_squares = 0;

  void add(int64_t i, const RowFigures& row, double product_squares_of_row, double sink) {
    ++figures.rows;
    if (row.keys == 0) {
      ++figures.empty;
      return;
    }
    if (!std::isfinite(row.lse)) {
      ++figures.not_finite;
      if (figures.first_not_finite < 0) figures.first_not_finite = i;
      return;
    }
    const auto keys = static_cast<double>(row.keys);
    if (std::isfinite(row.product_variance))
      foveate::join(keys, row.product_mean, product_squares_of_row, pairs, figures.product_mean, product_squares);
    raise(figures.largest_score, {row.largest_score, i, row.largest_key});
    raise(figures.largest_weight, {row.largest_weight, i, row.largest_key});
    figures.saturated += row.largest_weight > kSaturated;
    figures.lse_mean += row.lse;
    figures.entropy_mean += row.entropy;
    figures.effective_keys_mean += std::exp(row.entropy);
    figures.jacobian_mean += row.jacobian;
    figures.sink_mass += sink;
  }

  void join(const HeadSums& next) {
    const HeadFigures& f = next.figures;
    foveate::join(next.pairs, f.product_mean, next.product_squares, pairs, figures.product_mean, product_squares);
    if (figures.first_not_finite < 0) figures.first_not_finite = f.first_not_finite;
    for (int64_t HeadFigures::*count :
         {&HeadFigures::rows, &HeadFigures::empty, &HeadFigures::not_finite, &HeadFigures::saturated}) {
      figures.*count += f.*count;
    }
    if (f.largest_score.row >= 0) raise(figures.largest_score, f.largest_score);
    if (f.largest_weight.row >= 0) raise(figures.largest_weight, f.largest_weight);
    for (double HeadFigures::*sum :
         {&HeadFigures::lse_mean, &HeadFigures::entropy_mean, &HeadFigures::effective_keys_mean,
          &HeadFigures::jacobian_mean, &HeadFigures::sink_mass}) {
      figures.*sum += f.*sum;
    }
  }

  HeadFigures finished(double received_by_first) const {
    HeadFigures f = figures;
    const int64_t counted = f.rows - f.empty - f.not_finite;
    const double n = counted > 0 ? static_cast<double>(counted) : kNaN;  // no rows: no means
    f.pairs = static_cast<int64_t>(pairs);
    f.product_mean = pairs > 0 ? f.product_mean : kNaN;
    f.product_variance = product_squares / (pairs > 0 ? pairs : kNaN);
    f.lse_mean /= n;
    f.entropy_mean /= n;
    f.effective_keys_mean /= n;
    f.jacobian_mean /= n;
    f.sink_mass /= n;
    f.first_key_mass = received_by_first / n;
    if (counted == 0) f.largest_score.value = f.largest_weight.value = kNaN;
    return f;
  }

 private:
  static void raise(Extreme& most, const Extreme& other) {
    if (most.row < 0 || other.value > most.value) most = other;
  }
};

struct Layout {
  int64_t chunks, rows_per_chunk;
  int64_t lse, received, sums;                    ///< bytes, of all
  int64_t scratch, row_table, row_sums, row_lse;  ///< bytes, of a worker
  int64_t tile_rows;

  int64_t bytes(int64_t workers) const {
    const int64_t of_worker = saturating_sum(saturating_sum(scratch, row_table), saturating_sum(row_sums, row_lse));
    return saturating_sum(saturating_sum(kWorkspaceAlign + lse, saturating_sum(received, sums)),
                          saturating_product(workers, of_worker));
  }
};

template <class T>
Layout layout_of(const Extents& e, int64_t lse_elements, int64_t block_size, const kernels::TargetKernels& kernels) {
  const int64_t lanes = kernels::of_type<T>(kernels).lanes;
  Layout layout{};
  layout.tile_rows = lanes * tile_vectors(block_size, lanes, kernels::kTileVectors<T>);
  const int64_t wanted = std::clamp<int64_t>(ceil_div(e.n_q, kLeastRows), 1, kMostChunks);
  // Whole tiles, so that chunks do not cut them.
  layout.rows_per_chunk = std::max<int64_t>(1, ceil_div(ceil_div(e.n_q, wanted), layout.tile_rows)) * layout.tile_rows;
  layout.chunks = std::max<int64_t>(1, ceil_div(e.n_q, layout.rows_per_chunk));
  const int64_t units = saturating_product(e.b * e.h_q, layout.chunks);
  const auto bytes = [](int64_t n, size_t size) {
    return whole_lines(saturating_product(n, static_cast<int64_t>(size)));
  };
  layout.lse = bytes(lse_elements, sizeof(T));
  layout.received = bytes(saturating_product(units, e.n_kv), sizeof(double));
  layout.sums = bytes(units, sizeof(HeadSums));
  layout.scratch = bytes(kernels::scratch_elements(layout.tile_rows, e.d_k, 1), sizeof(T));
  layout.row_table = bytes(layout.tile_rows, sizeof(kernels::Row<T>));
  layout.row_sums = bytes(layout.tile_rows, sizeof(kernels::RowSums));
  layout.row_lse = bytes(layout.tile_rows, sizeof(T));
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
    scratch_ = carve.take(workers * layout.scratch);
    row_tables_ = carve.take(workers * layout.row_table);
    row_sums_ = carve.take(workers * layout.row_sums);
    row_lse_ = carve.take(workers * layout.row_lse);
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
    execution.progress = nullptr;
    return attention(in_.q, in_.k, in_.v, {.lse = view(lse_, q[0], q[1], q[2], 1)}, in_.options, execution);
  }

  void inspect_chunk(int64_t unit, int64_t worker) {
    const int64_t head = unit / layout_.chunks, chunk = unit % layout_.chunks;
    HeadSums& sums = *new (sums_ + unit) HeadSums();
    double* const received = received_ + unit * e_.n_kv;
    std::fill_n(received, e_.n_kv, 0.0);
    const int64_t last = std::min((chunk + 1) * layout_.rows_per_chunk, e_.n_q);
    for (int64_t i = chunk * layout_.rows_per_chunk; i < last; i += layout_.tile_rows) {
      inspect_tile(head / e_.h_q, head % e_.h_q, i, std::min(layout_.tile_rows, last - i), received, sums, worker);
    }
  }

  void inspect_tile(int64_t b, int64_t h, int64_t first, int64_t n, double* received, HeadSums& sums, int64_t worker) {
    auto* const rows = reinterpret_cast<kernels::Row<T>*>(row_tables_ + worker * layout_.row_table);
    auto* const of_rows = reinterpret_cast<kernels::RowSums*>(row_sums_ + worker * layout_.row_sums);
    auto* const lse = reinterpret_cast<T*>(row_lse_ + worker * layout_.row_lse);
    const int64_t written = tiles_.sequences().q_rows(b);
    for (int64_t r = 0; r < n; ++r) {
      const int64_t i = first + r;
      rows[r] = tiles_.row(b, h, i);
      of_rows[r] = {};
      lse[r] = i < written ? lse_of(b, h, i) : -std::numeric_limits<T>::infinity();
    }
    kernels::InspectTask<T> task{tiles_.task(b, h / (e_.h_q / e_.h_kv)), lse, of_rows, received};
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
      take_row(b, h, first + r, of_rows[r], static_cast<double>(lse[r]), static_cast<double>(rows[r].sink), sums);
    }
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
  char *scratch_, *row_tables_, *row_sums_, *row_lse_;
};

template <class T>
Status inspect_as(const InspectArguments& in, const Extents& extents, const Execution& execution,
                  const kernels::TargetKernels& kernels) {
  const int64_t workers = workers_of(execution);
  const int64_t(&q)[4] = in.q.shape;
  const Layout layout = layout_of<T>(extents, q[0] * q[1] * q[2], in.options.block_size, kernels);
  const int64_t bytes = layout.bytes(workers);
  Execution own = execution;
  own.workspace = nullptr;
  return with_workspace(own, allocatable(bytes), "inspect", [&](void* workspace) {
    return Inspector<T>(in, extents, layout, workspace, workers, execution, kernels).run();
  });
}

}  // namespace

Status inspect(const ConstTensor& q, const ConstTensor& k, const InspectOutputs& outputs,
               const AttentionOptions& options, const Execution& execution) {
  const ConstTensor v = no_values(k);
  const AttentionOptions wanted = without_values(options);
  const InspectArguments arguments{{q, k, v, wanted}, outputs};
  Extents extents;
  {
    const FpMode mode;
    FOVEATE_RETURN_IF_ERROR(check_inputs(arguments, &extents));
  }
  FOVEATE_RETURN_IF_ERROR(check_workers(execution));
  if (outputs.heads == nullptr && outputs.rows == nullptr && outputs.received == nullptr) {
    return Status::error(StatusCode::invalid_argument, "outputs: none given; expected heads, rows or received");
  }
  const kernels::TargetKernels* kernels = nullptr;
  FOVEATE_RETURN_IF_ERROR(choose_kernels(&kernels));
  if (extents.b == 0 || extents.h_q == 0) return {};
  return q.dtype == DType::f64 ? inspect_as<double>(arguments, extents, execution, *kernels)
                               : inspect_as<float>(arguments, extents, execution, *kernels);
}

}  // namespace foveate
