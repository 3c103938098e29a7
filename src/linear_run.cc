// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "linear_run.h"

#include <algorithm>
#include <cstdint>

#include "carve.h"
#include "kernels/linear.h"
#include "rounds.h"
#include "vector_at.h"

namespace foveate {
namespace {

constexpr int64_t kSplit = kernels::kLinearSplit;

constexpr int64_t round_up(int64_t n) { return (n + kSplit - 1) / kSplit * kSplit; }

/// What the forward pass leaves out, and what the backward one does.
const ConstTensor kNoGradient;
const LinearGradients kNoGradients;
const Tensor kNoOutput;

/// What is known of a unit: how long its sequence is, where its rows stand, and which of them see some key.
struct Range {
  int64_t keys, rows;  ///< that are there
  int64_t position;    ///< of row 0
  int64_t first;       ///< the first row that sees a key; rows: none does
};

/// One call on its way: a unit at a time, a split a task.
template <class T>
class Linear {
 public:
  Linear(const LinearInputs& in, const ConstTensor& d_o, const Tensor& o, const LinearGradients& gradients,
         const Extents& extents, const LinearTasks& plan, void* workspace, int64_t workers,
         const kernels::TargetKernels& kernels)
      : in_(in),
        d_o_(d_o),
        o_(o),
        out_(gradients),
        e_(extents),
        plan_(plan),
        kernel_(kernels::linear_of_type<T>(kernels)),
        group_(e_.h_kv == 0 ? 0 : e_.h_q / e_.h_kv),
        elements_(kernels::linear_state_elements(kernel_.lanes, e_.d_k, e_.d_v)) {
    Carve carve(workspace);
    ranges_ = reinterpret_cast<Range*>(carve.take(plan.ranges));
    scratch_ = carve.take(workers * plan.scratch);
    factors_ = reinterpret_cast<kernels::LinearFactors<T>*>(carve.take(plan.factors));
    key_states_ = carve.take(plan.units * plan.key_states * plan.state);
    row_states_ = carve.take(plan.units * plan.row_states * plan.state);
  }

  /// First the rounds in which each split of rows is met; backward, two more for dk and dv.
  int64_t rounds() const { return forward_rounds() + (backward() ? 2 : 0); }
  int64_t tasks(int64_t round) const { return plan_.units * splits_of(round); }
  void one(int64_t round, int64_t task, int64_t worker) {
    const int64_t unit = task / splits_of(round), split = task % splits_of(round), behind = round - forward_rounds();
    if (behind >= 0) return behind == 0 ? sum_row_states(unit) : differentiate_keys(unit, split, worker);
    plan_.share_splits ? share_rows(round, unit, split, worker) : follow_rows(round, unit, worker);
  }

 private:
  bool backward() const { return d_o_.present(); }
  bool wants_keys() const { return out_.dk.present() || out_.dv.present(); }

  int64_t forward_rounds() const { return plan_.share_splits ? 3 : 1 + plan_.key_splits + plan_.row_splits; }

  /// Tasks of a unit in that round.
  int64_t splits_of(int64_t round) const {
    if (round >= forward_rounds()) return round == forward_rounds() ? 1 : plan_.key_splits;
    if (!plan_.share_splits || round == 1) return 1;
    return round == 0 ? plan_.key_splits : plan_.row_splits;
  }

  void meet_rows(const kernels::LinearTask<T>& task, T* row_state) const {
    backward() ? kernel_.differentiate_rows(task, row_state) : kernel_.attend(task);
  }

  /// States of all splits of keys that rows stand behind; then sums of the first, the first two, ...; then rows, in any
  /// order.
  void share_rows(int64_t round, int64_t unit, int64_t split, int64_t worker) {
    if (round == 0) {
      const Range range = range_of(unit);
      if (split >= splits_in_front(range)) return;
      kernels::LinearTask<T> task = task_of(unit, range, worker, split);
      task.after = key_state(unit, split);
      kernel_.sum_keys(task);
    } else if (round == 1) {
      find_range(unit);
      for (int64_t after = 1; after < splits_in_front(ranges_[unit]); ++after) {
        add(key_state(unit, after), key_state(unit, after - 1));
      }
    } else {
      meet_rows(row_task(unit, first_split(ranges_[unit]) + split, worker), wanted_row_state(unit, split));
    }
  }

  /// The splits of each unit in order, a round each, S going on from one to the next.
  void follow_rows(int64_t round, int64_t unit, int64_t worker) {
    if (round == 0) return find_range(unit);
    const int64_t step = round - 1;
    const Range& range = ranges_[unit];
    const int64_t first = first_split(range);
    const bool behind_keys = step >= plan_.key_splits;
    const int64_t split = behind_keys ? first + step - plan_.key_splits : step;
    if (behind_keys && split < plan_.key_splits) return;  // a step of keys saw to these rows
    kernels::LinearTask<T> task = row_task(unit, split, worker);
    if (split < splits_in_front(range)) task.after = key_state(unit, split);
    const bool has_rows = split >= first && split < first + plan_.row_splits;
    if (has_rows || task.after != nullptr) meet_rows(task, has_rows ? wanted_row_state(unit, split - first) : nullptr);
  }

  /// States of rows behind a split of keys, in order from the last.
  void sum_row_states(int64_t unit) {
    if (!wants_keys()) return;
    for (int64_t split = plan_.row_splits - 2; split >= 0; --split) {
      add(row_state(unit, split), row_state(unit, split + 1));
    }
  }

  void differentiate_keys(int64_t unit, int64_t split, int64_t worker) {
    if (wants_keys()) kernel_.differentiate_keys(key_task(unit, split, worker));
  }

  void add(T* to, const T* from) const {
    for (int64_t i = 0; i < elements_; ++i) to[i] += from[i];
  }

  void find_range(int64_t unit) {
    Range range = range_of(unit);
    range.first = first_seeing(unit, range);
    ranges_[unit] = range;
  }

  /// All but which row sees a key. Without a causal mask rows stand behind all keys, where the kernel makes the least
  /// of them.
  Range range_of(int64_t unit) const {
    const int64_t b = unit / e_.h_kv;
    const LinearOptions& o = in_.options;
    const int64_t keys = o.kv_lengths.present() ? integer_at(o.kv_lengths, b) : e_.n_kv;
    const int64_t rows = e_.h_q == 0 ? 0 : o.q_lengths.present() ? integer_at(o.q_lengths, b) : e_.n_q;
    int64_t position = round_up(keys);
    if (o.causal) position = o.q_offset.value_or(o.align == Align::top_left ? 0 : keys - rows);
    return {keys, rows, position, 0};
  }

  /// Splits of keys that end at or in front of the last row's position.
  static int64_t splits_in_front(const Range& range) {
    const int64_t last = range.position + range.rows - 1;
    return last < 0 ? 0 : std::min((last + 1) / kSplit, round_up(range.keys) / kSplit);
  }

  int64_t first_seeing(int64_t unit, const Range& range) const {
    const unsigned char* const mask = mask_of(unit);
    const int64_t stride = step(in_.options.mask, 3);
    int64_t key = 0;
    while (key < range.keys && mask != nullptr && mask[key * stride] == 0) ++key;
    return key == range.keys ? range.rows : std::clamp<int64_t>(key - range.position, 0, range.rows);
  }

  const unsigned char* mask_of(int64_t unit) const {
    return static_cast<const unsigned char*>(row_at(in_.options.mask, unit / e_.h_kv, unit % e_.h_kv, 0));
  }

  /// The first split of positions in which rows stand.
  static int64_t first_split(const Range& range) { return std::max<int64_t>(0, range.position) / kSplit; }

  kernels::LinearTask<T> row_task(int64_t unit, int64_t split, int64_t worker) const {
    const Range& range = ranges_[unit];
    kernels::LinearTask<T> task = task_of(unit, range, worker, split);
    task.first_split = split == first_split(range);
    const int64_t in_front = std::min(split, round_up(range.keys) / kSplit);
    if (in_front > 0 && in_front <= splits_in_front(range)) task.before = key_state(unit, in_front - 1);
    return task;
  }

  kernels::LinearTask<T> key_task(int64_t unit, int64_t split, int64_t worker) const {
    const Range& range = ranges_[unit];
    kernels::LinearTask<T> task = task_of(unit, range, worker, split);
    const bool rows_behind = range.first < range.rows && range.position + range.rows > (split + 1) * kSplit;
    if (rows_behind) task.behind = row_state(unit, std::max<int64_t>(0, split + 1 - first_split(range)));
    return task;
  }

  kernels::LinearTask<T> task_of(int64_t unit, const Range& range, int64_t worker, int64_t split) const {
    const int64_t b = unit / e_.h_kv, kv_head = unit % e_.h_kv, head = kv_head * group_;
    return {.q = rows_of(in_.q, b, head),
            .d_o = rows_of(d_o_, b, head),
            .k = rows_of(in_.k, b, kv_head),
            .v = rows_of(in_.v, b, kv_head),
            .o = rows_of(o_, b, head),
            .dq = rows_of(out_.dq, b, head),
            .dk = rows_of(out_.dk, b, kv_head),
            .dv = rows_of(out_.dv, b, kv_head),
            .heads = group_,
            .d_k = e_.d_k,
            .d_v = e_.d_v,
            .keys = range.keys,
            .n_kv = e_.n_kv,
            .mask = mask_of(unit),
            .mask_stride = step(in_.options.mask, 3),
            .n_q = e_.n_q,
            .first = range.first,
            .last = range.rows,
            .position = range.position,
            .split = split,
            .first_split = false,
            .before = nullptr,
            .after = nullptr,
            .behind = nullptr,
            .factors = factors_ + (b * e_.h_q + head) * e_.n_q,
            .scratch = reinterpret_cast<T*>(scratch_ + worker * plan_.scratch)};
  }

  static kernels::LinearRows rows_of(const ConstTensor& view, int64_t b, int64_t head) {
    const bool empty = view.shape[1] == 0 || view.shape[2] == 0 || view.shape[3] == 0;  // its data may be null
    if (empty) return {view.data, view.dtype, 0, 0, 0};
    return {row_at(view, b, head, 0), view.dtype, step(view, 1), step(view, 2), step(view, 3)};
  }

  /// S of the splits up to one; of splits that follow one another the last alone.
  T* key_state(int64_t unit, int64_t split) const {
    const int64_t state = unit * plan_.key_states + (plan_.share_splits ? split : 0);
    return reinterpret_cast<T*>(key_states_ + state * plan_.state);
  }
  T* row_state(int64_t unit, int64_t split) const {
    return reinterpret_cast<T*>(row_states_ + (unit * plan_.row_states + split) * plan_.state);
  }
  T* wanted_row_state(int64_t unit, int64_t split) const { return wants_keys() ? row_state(unit, split) : nullptr; }

  const LinearInputs& in_;
  const ConstTensor& d_o_;
  const Tensor& o_;
  const LinearGradients& out_;
  const Extents& e_;
  const LinearTasks& plan_;
  const kernels::LinearKernel<T>& kernel_;
  const int64_t group_, elements_;

  Range* ranges_;
  char* scratch_;
  kernels::LinearFactors<T>* factors_;
  char *key_states_, *row_states_;
};

}  // namespace

template <class T>
LinearTasks plan_linear_call(const Extents& extents, bool backward, int64_t workers,
                             const kernels::TargetKernels& kernels) {
  return plan_linear(extents, {.lanes = kernels::linear_of_type<T>(kernels).lanes,
                               .element_size = sizeof(T),
                               .range_size = sizeof(Range),
                               .workers = workers,
                               .backward = backward});
}

template <class T>
Rounds* place_linear(RoundsMemory* memory, const LinearArguments& in, const Extents& extents, const LinearTasks& plan,
                     void* workspace, int64_t workers, const Execution& execution,
                     const kernels::TargetKernels& kernels) {
  return place_rounds<Linear<T>>(memory, execution, in, kNoGradient, in.o, kNoGradients, extents, plan, workspace,
                                 workers, kernels);
}

template <class T>
Rounds* place_linear_backward(RoundsMemory* memory, const LinearBackwardArguments& in, const Extents& extents,
                              const LinearTasks& plan, void* workspace, int64_t workers, const Execution& execution,
                              const kernels::TargetKernels& kernels) {
  return place_rounds<Linear<T>>(memory, execution, in, in.d_o, kNoOutput, in.gradients, extents, plan, workspace,
                                 workers, kernels);
}

template LinearTasks plan_linear_call<float>(const Extents&, bool, int64_t, const kernels::TargetKernels&);
template LinearTasks plan_linear_call<double>(const Extents&, bool, int64_t, const kernels::TargetKernels&);
template Rounds* place_linear<float>(RoundsMemory*, const LinearArguments&, const Extents&, const LinearTasks&, void*,
                                     int64_t, const Execution&, const kernels::TargetKernels&);
template Rounds* place_linear<double>(RoundsMemory*, const LinearArguments&, const Extents&, const LinearTasks&, void*,
                                      int64_t, const Execution&, const kernels::TargetKernels&);
template Rounds* place_linear_backward<float>(RoundsMemory*, const LinearBackwardArguments&, const Extents&,
                                              const LinearTasks&, void*, int64_t, const Execution&,
                                              const kernels::TargetKernels&);
template Rounds* place_linear_backward<double>(RoundsMemory*, const LinearBackwardArguments&, const Extents&,
                                               const LinearTasks&, void*, int64_t, const Execution&,
                                               const kernels::TargetKernels&);

}  // namespace foveate
