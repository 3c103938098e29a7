// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "backward_run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "carve.h"
#include "kernels/backward.h"
#include "kernels/native.h"
#include "rounds.h"
#include "sequences.h"
#include "stored_rows.h"
#include "tile_tasks.h"
#include "vector_at.h"

namespace foveate {
namespace {

/// Beyond it lse is too coarse to tell weights by (a rounding is 2^-14 of a weight in float32): at 1e7 even ln 2 is lost, and of
/// two equal keys each would have all the weight.
constexpr double kFarFromZero = 1024;

/// One call on its way.
template <class T>
class Backward {
 public:
  Backward(const BackwardArguments& arguments, const Extents& extents, const BackwardPlan& plan, void* workspace,
           int64_t workers, const kernels::TargetKernels& kernels, const TanhBackward<T>& tanh,
           const std::atomic<bool>* stop)
      : in_(arguments),
        out_(arguments.gradients),
        tiles_(arguments, extents, tanh.scores),
        e_(extents),
        plan_(plan),
        forward_(kernels::of_type<T>(kernels)),
        kernel_(kernels::backward_of_type<T>(kernels)),
        native_(kernels.native),
        dw_(tanh.dw),
        stop_(stop) {
    const bool bf16 = in_.q.dtype == DType::bf16 && in_.k.dtype == DType::bf16 && in_.v.dtype == DType::bf16;
    native_products_ = bf16 && in_.options.native_products && native_ != nullptr && native_->add_bf16 != nullptr;
    Carve carve(workspace);
    prepared_ = reinterpret_cast<Prepared*>(carve.take(plan.prepared));
    workers_ = carve.take(workers * (plan.scratch + plan.row_table + plan.bias_sums));
    slots_ = carve.take(plan.slots(workers) * (plan.dq + plan.dk + plan.dv));
  }

  int64_t rounds() const { return plan_.share_pairs ? plan_.chunks.rounds + 5 : 4; }
  int64_t tasks(int64_t round) const {
    const Step step = step_of(round);
    if (step == Step::prepare) return plan_.prepare_tasks;
    if (step == Step::add_pairs) return plan_.units * plan_.chunks.keys;
    if (step == Step::whole_units) return plan_.units;
    if (step == Step::bias) return plan_.bias.count();
    if (step == Step::sinks) return out_.dsinks.present() ? e_.h_q : 0;
    return plan_.units * plan_.chunks.rounds;
  }
  void one(int64_t round, int64_t task, int64_t worker) {
    const int64_t chunks = plan_.chunks.rounds, keys = plan_.chunks.keys;
    switch (step_of(round)) {
      case Step::prepare:
        return prepare(task, worker);
      case Step::clear:
        return clear(unit_at(task / chunks, task / chunks), task % chunks);
      case Step::add_pairs:
        return add_pair(unit_at(task / keys, task / keys), round - kFirstPairs, task % keys, worker);
      case Step::write:
        return write(unit_at(task / chunks, task / chunks), task % chunks);
      case Step::whole_units:
        return run_unit(task, worker);
      case Step::bias:
        return sum_bias(task, worker);
      case Step::sinks:
        return sum_sinks(task);
    }
  }

 private:
  /// What a round does. Pairs of chunks that are tasks of their own are cleared and written in rounds around theirs.
  enum class Step : uint8_t { prepare, clear, add_pairs, write, whole_units, bias, sinks };
  static constexpr int64_t kFirstPairs = 2;
  Step step_of(int64_t round) const {
    if (round == 0) return Step::prepare;
    if (round >= rounds() - 2) return round == rounds() - 1 ? Step::sinks : Step::bias;
    if (!plan_.share_pairs) return Step::whole_units;
    if (round == rounds() - 3) return Step::write;
    return round == 1 ? Step::clear : Step::add_pairs;
  }

  /// What a query row brings: weights are exp(s - lse) * factor. lse is +inf for a row without weight.
  struct Prepared {
    T lse, factor, delta;
  };

  /// Sums of one unit.
  struct Sums {
    T *dq, *dk, *dv;
  };

  struct Unit {
    int64_t batch, kv_head;
    int64_t n_q, n_kv;
    Chunks chunks;
    Sums sums;
  };

  // Rows, once each, before all else.

  void prepare(int64_t task, int64_t worker) {
    const ConstTensor& q = in_.q;
    const int64_t rows = q.shape[0] * q.shape[1] * q.shape[2];
    const bool packed = in_.options.q_starts.present();
    for (int64_t row = task * kPreparedRows; row < std::min(rows, (task + 1) * kPreparedRows); ++row) {
      const int64_t i = row % q.shape[2], h = row / q.shape[2] % q.shape[1], batch = row / q.shape[2] / q.shape[1];
      const int64_t b = packed ? sequence_of(i) : batch;
      const int64_t first = packed ? integer_at(in_.options.q_starts, b) : 0;
      prepared_[row] = prepared(b, h, i - first, worker);
    }
  }

  /// The packed sequence that holds a row.
  int64_t sequence_of(int64_t row) const {
    int64_t low = 0, high = e_.b;  // the last sequence that begins at or before it
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (integer_at(in_.options.q_starts, middle) <= row ? low : high) = middle;
    }
    return low;
  }

  Prepared prepared(int64_t b, int64_t h, int64_t i, int64_t worker) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    constexpr Prepared kNone = {kInfinity, 1, 0};
    if (i >= tiles_.sequences().q_length(b)) return kNone;
    const kernels::Row<T> row = tiles_.row(b, h, i);
    const Sequences::Place place = tiles_.sequences().query(b, i);
    const T lse = *static_cast<const T*>(row_at(in_.lse, place.batch, h, place.row));
    // A row that sees no key has nothing but its sink, which may be NaN.
    if (row.begin >= row.end) return std::isnan(lse) ? Prepared{lse, 1, lse} : kNone;
    if (lse == -kInfinity || lse == kInfinity) return kNone;
    OutputRow output;
    with_element<T>(in_.d_o.dtype, [&](auto* element) {
      using E = std::remove_pointer_t<decltype(element)>;
      output = output_row<E>(row_at(in_.o, place.batch, h, place.row), step(in_.o, 3),
                             row_at(in_.d_o, place.batch, h, place.row), step(in_.d_o, 3), e_.d_v);
    });
    const auto delta = static_cast<T>(output.product);
    // Where the sink has all the weight, the keys may have none at all: then d_o has no say either, were it NaN.
    const bool maybe_none = lse == row.sink && output.zero;
    if (!maybe_none && !(std::abs(lse) > static_cast<T>(kFarFromZero))) return {lse, 1, delta};
    const Maximum keys = maximum_of(row, b, h, worker);
    if (maybe_none && keys.m == -kInfinity) return kNone;
    const T m = std::max(keys.m, row.sink);
    const double sink = static_cast<double>(row.sink) - static_cast<double>(m);
    const double z = keys.l * std::exp(static_cast<double>(keys.m) - static_cast<double>(m)) + std::exp(sink);
    return std::isfinite(z) ? Prepared{m, static_cast<T>(1 / z), delta} : Prepared{lse, 1, delta};
  }

  /// The greatest score of a row's keys, and the sum of their weights relative to it.
  struct Maximum {
    T m = -std::numeric_limits<T>::infinity();
    double l = 0;
  };
  Maximum maximum_of(const kernels::Row<T>& row, int64_t b, int64_t h, int64_t worker) {
    kernels::TileTask<T> task = tiles_.task(b, h / plan_.group);
    task.rows = &row;
    task.n_rows = 1;
    task.shared = true;
    task.scratch = scratch(worker);
    T* const state = task.scratch + kernels::scratch_elements(plan_.tile_rows, e_.d_k, e_.d_v);
    Maximum all;
    for (int64_t split = 0; split < kernels::splits_of(plan_.phase, e_.n_kv); ++split) {
      forward_.attend_split(task, split, state);
      const T m = std::max(all.m, state[0]), l = state[forward_.lanes];
      if (l == 0) continue;
      all.l = all.l * std::exp(static_cast<double>(all.m) - static_cast<double>(m)) +
              static_cast<double>(l) * std::exp(static_cast<double>(state[0]) - static_cast<double>(m));
      all.m = m;
    }
    return all;
  }

  const Prepared& prepared_at(int64_t b, int64_t h, int64_t i) const {
    const Sequences::Place place = tiles_.sequences().query(b, i);
    return prepared_[(place.batch * e_.h_q + h) * in_.q.shape[2] + place.row];
  }

  // dq, dk and dv.

  /// Polled within the tasks that grow with the square of the length.
  bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

  void run_unit(int64_t index, int64_t worker) {
    const Unit unit = unit_at(index, worker);
    for (int64_t chunk = 0; chunk < unit.chunks.rounds; ++chunk) clear(unit, chunk);
    for (int64_t round = 0; round < unit.chunks.rounds; ++round) {
      for (int64_t keys = 0; keys < unit.chunks.keys; ++keys) {
        if (stopped()) return;
        add_pair(unit, round, keys, worker);
      }
    }
    for (int64_t chunk = 0; chunk < std::max<int64_t>(1, plan_.chunks.rounds); ++chunk) write(unit, chunk);
  }

  Unit unit_at(int64_t index, int64_t slot) const {
    const int64_t b = index / e_.h_kv;
    const int64_t n_q = tiles_.sequences().q_length(b), n_kv = tiles_.sequences().kv_length(b);
    char* const sums = slots_ + slot * (plan_.dq + plan_.dk + plan_.dv);
    return {.batch = b,
            .kv_head = index % e_.h_kv,
            .n_q = n_q,
            .n_kv = n_kv,
            .chunks = plan_.chunks_of(n_q, n_kv),
            .sums = {reinterpret_cast<T*>(sums), reinterpret_cast<T*>(sums + plan_.dq),
                     reinterpret_cast<T*>(sums + plan_.dq + plan_.dk)}};
  }

  int64_t key_chunk_elements(int64_t d) const {
    return kernels::kChunkBlocks * kernels::accumulator_elements(d, forward_.lanes);
  }

  /// Sets the sums of a chunk of keys and one of rows to zero, where there are such.
  void clear(const Unit& unit, int64_t chunk) const {
    const int64_t first = chunk * plan_.chunk_rows, rows = plan_.group * unit.n_q;
    if (first < rows)
      std::fill_n(unit.sums.dq + first * e_.d_k, std::min(plan_.chunk_rows, rows - first) * e_.d_k, T{0});
    if (chunk >= unit.chunks.keys) return;
    const int64_t dk = key_chunk_elements(e_.d_k), dv = key_chunk_elements(e_.d_v);
    std::fill_n(unit.sums.dk + chunk * dk, dk, T{0});
    std::fill_n(unit.sums.dv + chunk * dv, dv, T{0});
  }

  void add_pair(const Unit& unit, int64_t round, int64_t key_chunk, int64_t worker) {
    if (round >= unit.chunks.rounds || key_chunk >= unit.chunks.keys) return;
    const int64_t row_chunk = (key_chunk + round) % unit.chunks.rounds;
    const int64_t rows = plan_.group * unit.n_q, first = row_chunk * plan_.chunk_rows;
    for (int64_t row = first; row < std::min(rows, first + plan_.chunk_rows); row += plan_.tile_rows) {
      kernels::BackwardTask<T> task = task_of(unit.batch, unit.kv_head, key_chunk, worker);
      const int64_t n = std::min(plan_.tile_rows, rows - row), first_head = unit.kv_head * plan_.group;
      const bool seen = write_rows(task, n, [&](int64_t r) {
        return HeadRow{unit.batch, first_head + (row + r) / unit.n_q, (row + r) % unit.n_q};
      });
      if (!seen) continue;
      task.tile.shared = tiles_.alike(row / unit.n_q == (row + n - 1) / unit.n_q, n == 1);
      if (native_products_) {
        task.tile.native = native_;
        task.tile.scores = kernels::Native::bf16;
      }
      if (out_.dq.present()) task.dq = unit.sums.dq + row * e_.d_k;
      if (out_.dk.present()) task.dk = unit.sums.dk + key_chunk * key_chunk_elements(e_.d_k);
      if (out_.dv.present()) task.dv = unit.sums.dv + key_chunk * key_chunk_elements(e_.d_v);
      if (dw_ != nullptr) task.dw = dw_of(unit, key_chunk);
      kernel_.add(task);
    }
  }

  T* dw_of(const Unit& unit, int64_t key_chunk) const {
    const int64_t index = (unit.batch * e_.h_kv + unit.kv_head) * plan_.chunks.keys + key_chunk;
    return dw_ + index * kernels::padded(e_.d_k, forward_.lanes);
  }

  struct HeadRow {
    int64_t batch, head, i;
  };

  kernels::BackwardTask<T> task_of(int64_t b, int64_t kv_head, int64_t key_chunk, int64_t worker) const {
    kernels::BackwardTask<T> task{.tile = tiles_.task(b, kv_head),
                                  .gradient_rows = gradient_rows(worker),
                                  .d_o_dtype = in_.d_o.dtype,
                                  .d_o_stride = step(in_.d_o, 3),
                                  .first_block = key_chunk * kernels::kChunkBlocks,
                                  .last_block = (key_chunk + 1) * kernels::kChunkBlocks,
                                  .dq = nullptr,
                                  .dk = nullptr,
                                  .dv = nullptr,
                                  .dw = nullptr};
    task.tile.rows = rows(worker);
    task.tile.scratch = scratch(worker);
    return task;
  }

  /// Writes the row tables of n rows, row_of(r) being one of them. False if none sees a key of the task's blocks.
  template <class RowOf>
  bool write_rows(kernels::BackwardTask<T>& task, int64_t n, const RowOf& row_of) {
    auto* row = const_cast<kernels::Row<T>*>(task.tile.rows);
    auto* gradient = const_cast<kernels::GradientRow<T>*>(task.gradient_rows);
    const int64_t first = task.first_block * kernels::kBlockKeys - plan_.phase;
    const int64_t last = task.last_block * kernels::kBlockKeys - plan_.phase;
    bool seen = false;
    for (int64_t r = 0; r < n; ++r, ++row, ++gradient) {
      const auto [b, h, i] = row_of(r);
      *row = tiles_.row(b, h, i);
      *gradient = {.d_o = nullptr, .lse = 0, .factor = 1, .delta = 0};
      if (row->begin >= row->end || prepared_at(b, h, i).lse == std::numeric_limits<T>::infinity()) {
        row->begin = row->end = 0;
        continue;
      }
      const Sequences::Place place = tiles_.sequences().query(b, i);
      const Prepared& prepared = prepared_at(b, h, i);
      *gradient = {row_at(in_.d_o, place.batch, h, place.row), prepared.lse, prepared.factor, prepared.delta};
      seen |= sees(task.tile, *row, first, last);
    }
    task.tile.n_rows = n;
    return seen;
  }

  /// Puts out a chunk of keys and one of rows, and zeros past the sequence's lengths.
  void write(const Unit& unit, int64_t chunk) const {
    const T scale = tiles_.task(unit.batch, unit.kv_head).scale;
    if (out_.dq.present()) write_queries(unit, chunk, scale);
    if (out_.dk.present()) write_keys(unit, chunk, out_.dk, unit.sums.dk, e_.d_k, scale);
    if (out_.dv.present()) write_keys(unit, chunk, out_.dv, unit.sums.dv, e_.d_v, T{1});
  }

  void write_queries(const Unit& unit, int64_t chunk, T scale) const {
    const int64_t n = tiles_.sequences().q_rows(unit.batch), first = chunk * plan_.chunk_rows;
    for (int64_t row = first; row < std::min(plan_.group * n, first + plan_.chunk_rows); ++row) {
      const int64_t head = row / n, i = row % n;
      const Sequences::Place place = tiles_.sequences().query(unit.batch, i);
      const T* const sums = i < unit.n_q ? unit.sums.dq + (head * unit.n_q + i) * e_.d_k : nullptr;
      void* const to = row_at(out_.dq, place.batch, unit.kv_head * plan_.group + head, place.row);
      with_element<T>(out_.dq.dtype, [&](auto* element) {
        store(sums, scale, e_.d_k, static_cast<decltype(element)>(to), step(out_.dq, 3));
      });
    }
  }

  void write_keys(const Unit& unit, int64_t chunk, const Tensor& out, const T* sums, int64_t d, T factor) const {
    const int64_t n = tiles_.sequences().kv_rows(unit.batch);
    const Sequences::Place place = tiles_.sequences().first_key(unit.batch);
    const int64_t first = std::max<int64_t>(0, chunk * kernels::kChunkKeys - plan_.phase);
    const int64_t last = std::min(n, (chunk + 1) * kernels::kChunkKeys - plan_.phase);
    for (int64_t j = first; j < last; ++j) {
      const int64_t at = plan_.phase + j, block = at / kernels::kBlockKeys;
      const T* const of_block = sums + block * kernels::accumulator_elements(d, forward_.lanes);
      void* const to = row_at(out, place.batch, unit.kv_head, place.row + j);
      with_element<T>(out.dtype, [&](auto* element) {
        kernels::for_each_panel(d, forward_.lanes, [&](int64_t component, int64_t components) {
          const int64_t in_panel = kernels::accumulator_at(component, components, at % kernels::kBlockKeys);
          store(j < unit.n_kv ? of_block + in_panel : nullptr, factor, std::min(components, d - component),
                static_cast<decltype(element)>(to) + component * step(out, 3), step(out, 3));
        });
      });
    }
  }

  // dbias: an entry at a time, over all that the bias is broadcast to, in order.

  void sum_bias(int64_t task, int64_t worker) {
    const BiasTasks& n = plan_.bias;
    const int64_t(&shape)[4] = in_.options.bias.shape;
    const bool by_key = shape[3] == e_.n_kv, by_row = shape[2] == e_.n_q;
    const int64_t chunk = task % n.key_chunks, tile = task / n.key_chunks % n.row_tiles;
    const int64_t h = task / n.key_chunks / n.row_tiles % n.h, b = task / n.key_chunks / n.row_tiles / n.h;
    T* const ds = bias_sums(worker);
    auto* const row_sums = reinterpret_cast<double*>(ds + kernels::kChunkKeys * plan_.tile_rows);
    std::fill_n(row_sums, plan_.tile_rows, 0.0);
    for (int64_t c = by_key ? chunk : 0; c < (by_key ? chunk + 1 : std::max<int64_t>(1, plan_.chunks.keys)); ++c) {
      std::fill_n(ds, kernels::kChunkKeys * plan_.tile_rows, T{0});
      add_ds(b, h, by_row ? tile : -1, c, ds, worker);
      if (!by_key) {
        for (int64_t at = 0; at < kernels::kChunkKeys * plan_.tile_rows; ++at) row_sums[at % plan_.tile_rows] += ds[at];
      }
    }
    const int64_t first_row = tile * plan_.tile_rows, rows = by_row ? std::min(plan_.tile_rows, e_.n_q - first_row) : 1;
    const int64_t first = by_key ? std::max<int64_t>(0, chunk * kernels::kChunkKeys - plan_.phase) : 0;
    const int64_t last = by_key ? std::min(e_.n_kv, (chunk + 1) * kernels::kChunkKeys - plan_.phase) : 1;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = first; j < last; ++j) {
        const int64_t place = by_key ? j + plan_.phase - chunk * kernels::kChunkKeys : 0;
        double sum = 0;
        for (int64_t lane = by_row ? r : 0; lane < (by_row ? r + 1 : plan_.tile_rows); ++lane) {
          sum += by_key ? static_cast<double>(ds[place * plan_.tile_rows + lane]) : row_sums[lane];
        }
        const T rounded = static_cast<T>(sum);
        with_element<T>(out_.dbias.dtype, [&](auto* element) {
          auto* const to = static_cast<decltype(element)>(row_at(out_.dbias, b, h, first_row + r));
          store(&rounded, T{1}, 1, to + j * step(out_.dbias, 3), 1);
        });
      }
    }
  }

  /// Adds ds[place in the chunk][lane] of all batches, heads and tiles that entry [b, h, tile] is broadcast to; tile -1: all.
  void add_ds(int64_t b, int64_t h, int64_t tile, int64_t chunk, T* ds, int64_t worker) {
    const int64_t(&shape)[4] = in_.options.bias.shape;
    const bool all_b = shape[0] != e_.b, all_h = shape[1] != e_.h_q;
    const int64_t tiles = (e_.n_q + plan_.tile_rows - 1) / plan_.tile_rows;
    for (int64_t batch = all_b ? 0 : b; batch < (all_b ? e_.b : b + 1); ++batch) {
      for (int64_t head = all_h ? 0 : h; head < (all_h ? e_.h_q : h + 1); ++head) {
        for (int64_t t = tile < 0 ? 0 : tile; t < (tile < 0 ? tiles : tile + 1); ++t) {
          if (stopped()) return;
          kernels::BackwardTask<T> task = task_of(batch, head / plan_.group, chunk, worker);
          const int64_t first = t * plan_.tile_rows, n = std::min(plan_.tile_rows, e_.n_q - first);
          const bool seen = write_rows(task, n, [&](int64_t r) { return HeadRow{batch, head, first + r}; });
          task.tile.shared = tiles_.alike(true, n == 1);
          if (seen) kernel_.add_ds(task, ds, plan_.tile_rows);
        }
      }
    }
  }

  // dsinks.

  void sum_sinks(int64_t h) const {
    const T sink = tiles_.sink(h);
    double sum = 0;
    for (int64_t b = 0; b < e_.b && sink != -std::numeric_limits<T>::infinity(); ++b) {
      for (int64_t i = 0; i < tiles_.sequences().q_length(b); ++i) {
        const Prepared& row = prepared_at(b, h, i);
        if (row.lse == std::numeric_limits<T>::infinity()) continue;
        const double weight = std::exp(static_cast<double>(sink) - static_cast<double>(row.lse));
        sum -= weight * static_cast<double>(row.factor) * static_cast<double>(row.delta);
      }
    }
    static_cast<T*>(out_.dsinks.data)[h * out_.dsinks.stride] = static_cast<T>(sum);
  }

  // What one worker has for itself.

  char* of_worker(int64_t worker) const {
    return workers_ + worker * (plan_.scratch + plan_.row_table + plan_.bias_sums);
  }
  T* scratch(int64_t worker) const { return reinterpret_cast<T*>(of_worker(worker)); }
  kernels::Row<T>* rows(int64_t worker) const {
    return reinterpret_cast<kernels::Row<T>*>(of_worker(worker) + plan_.scratch);
  }
  kernels::GradientRow<T>* gradient_rows(int64_t worker) const {
    return reinterpret_cast<kernels::GradientRow<T>*>(rows(worker) + plan_.tile_rows);
  }
  T* bias_sums(int64_t worker) const {
    return reinterpret_cast<T*>(of_worker(worker) + plan_.scratch + plan_.row_table);
  }

  const BackwardArguments& in_;
  const AttentionGradients& out_;
  const TileTasks<T> tiles_;
  const Extents& e_;
  const BackwardPlan& plan_;
  const kernels::TileKernel<T>& forward_;
  const kernels::BackwardKernel<T>& kernel_;
  const kernels::NativeProducts* native_;
  T* const dw_;
  const std::atomic<bool>* const stop_;
  bool native_products_ = false;  ///< in the products of dq, dk and dv
  Prepared* prepared_;
  char* workers_;
  char* slots_;
};

}  // namespace

template <class T>
BackwardPlan plan_backward(const Extents& extents, const AttentionOptions& options, int64_t query_rows,
                           const AttentionGradients& gradients, int64_t workers, const kernels::TargetKernels& kernels,
                           bool tanh) {
  const int64_t lanes = kernels::of_type<T>(kernels).lanes;
  return make_backward_plan(extents,
                            {.lanes = lanes,
                             .tile_vectors = tile_vectors(options.block_size, lanes, kernels::kTileVectors<T>),
                             .element_size = sizeof(T),
                             .row_size = sizeof(kernels::Row<T>) + sizeof(kernels::GradientRow<T>),
                             .phase = phase_of(options),
                             .workers = workers,
                             .query_rows = query_rows,
                             .products = gradients.dq.present() || gradients.dk.present() || gradients.dv.present(),
                             .sinks = gradients.dsinks.present(),
                             .tanh = tanh,
                             .bias_shape = gradients.dbias.present() ? gradients.dbias.shape : nullptr});
}

template <class T>
Rounds* place_backward(RoundsMemory* memory, const BackwardArguments& arguments, const Extents& extents,
                       const BackwardPlan& plan, void* workspace, int64_t workers, const Execution& execution,
                       const kernels::TargetKernels& kernels, const TanhBackward<T>& tanh) {
  return place_rounds<Backward<T>>(memory, execution, arguments, extents, plan, workspace, workers, kernels, tanh,
                                   execution.stop);
}

template BackwardPlan plan_backward<float>(const Extents&, const AttentionOptions&, int64_t, const AttentionGradients&,
                                           int64_t, const kernels::TargetKernels&, bool);
template BackwardPlan plan_backward<double>(const Extents&, const AttentionOptions&, int64_t, const AttentionGradients&,
                                            int64_t, const kernels::TargetKernels&, bool);
template Rounds* place_backward<float>(RoundsMemory*, const BackwardArguments&, const Extents&, const BackwardPlan&,
                                       void*, int64_t, const Execution&, const kernels::TargetKernels&,
                                       const TanhBackward<float>&);
template Rounds* place_backward<double>(RoundsMemory*, const BackwardArguments&, const Extents&, const BackwardPlan&,
                                        void*, int64_t, const Execution&, const kernels::TargetKernels&,
                                        const TanhBackward<double>&);

}  // namespace foveate
