// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "additive_run.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backward_run.h"
#include "carve.h"
#include "kernels/backward.h"
#include "rounds.h"
#include "run.h"
#include "saturating.h"

namespace foveate {
namespace {

size_t bytes_of(const AdditiveLayout& layout, size_t pass) {
  const size_t own = static_cast<size_t>(saturating_sum(layout.bytes, kWorkspaceAlign));
  return layout.bytes >= kMostCounted || pass >= static_cast<size_t>(kMostCounted) ? std::numeric_limits<size_t>::max()
                                                                                   : own + pass;
}

/// The extents of the pass over u and t.
Extents over_features(const AdditiveSizes& sizes) {
  Extents extents = sizes.extents;
  extents.d_k = sizes.d_a;
  return extents;
}

/// Rounds in which rows of queries, then of keys are met.
constexpr int64_t kSides = 2;
Side side_of(int64_t round) { return round == 0 ? Side::queries : Side::keys; }

/// How the rounds of a pass run among those of a call, which polls the stop flag and counts.
const Execution kAmongOthers;

/// One call on its way: u, t, then the rounds of a pass over them.
template <class T>
class Additive {
 public:
  Additive(const AdditiveArguments& arguments, const AdditiveSizes& sizes, const AdditivePlan& plan, void* workspace,
           int64_t workers, const kernels::TargetKernels& kernels)
      : block_(Carve(workspace).take(plan.layout.bytes)),
        rows_(arguments, arguments.parameters, sizes, plan.layout, block_, kernels, /*backward=*/false),
        extents_(over_features(sizes)),
        u_(rows_.u()),
        t_(rows_.t()),
        options_(rows_.options()),
        arguments_{{u_, t_, arguments.v, options_}, arguments.outputs},
        pass_(place_run<T>(&memory_, arguments_, extents_, plan.pass, block_ + plan.layout.bytes, workers, kAmongOthers,
                           kernels, &rows_.scores())) {}

  int64_t rounds() const { return kSides + pass_->rounds(); }
  int64_t tasks(int64_t round) const {
    return round < kSides ? rows_.row_tasks(side_of(round)) : pass_->tasks(round - kSides);
  }
  void one(int64_t round, int64_t task, int64_t worker) {
    round < kSides ? rows_.project(side_of(round), task, worker) : pass_->run(round - kSides, task, 1, worker);
  }

 private:
  char* const block_;
  AdditiveRows<T> rows_;
  const Extents extents_;
  const ConstTensor u_, t_;
  const AttentionOptions options_;
  const Arguments arguments_;
  RoundsMemory memory_;
  Rounds* const pass_;
};

/// The same of gradients: u, t, a backward pass over them, and its gradients taken on to q, k and the parameters.
template <class T>
class AdditiveBackward {
 public:
  AdditiveBackward(const AdditiveBackwardArguments& arguments, const AdditiveSizes& sizes,
                   const AdditiveBackwardPlan& plan, void* workspace, int64_t workers,
                   const kernels::TargetKernels& kernels)
      : out_(arguments.all),
        plan_(plan),
        block_(Carve(workspace).take(plan.layout.bytes)),
        rows_(arguments, arguments.parameters, sizes, plan.layout, block_, kernels, /*backward=*/true),
        extents_(over_features(sizes)),
        u_(rows_.u()),
        t_(rows_.t()),
        options_(rows_.options()),
        of_pass_(gradients_of_pass()),
        arguments_{{u_, t_, arguments.v, options_}, arguments.o, arguments.lse, arguments.d_o, of_pass_},
        pass_(place_backward<T>(&memory_, arguments_, extents_, plan.pass, block_ + plan.layout.bytes, workers,
                                kAmongOthers, kernels, {&rows_.scores(), plan.rows ? rows_.dw() : nullptr})) {
    const int64_t wide = kernels::padded(sizes.d_a, kernels::of_type<T>(kernels).lanes);
    if (plan.rows) std::fill_n(rows_.dw(), plan.dw_parts * wide, T{0});
  }

  int64_t rounds() const { return kSides + pass_->rounds() + 2 * kSides + 1; }
  int64_t tasks(int64_t round) const {
    if (round < kSides) return rows_.row_tasks(side_of(round));
    const int64_t behind = round - kSides - pass_->rounds();
    if (behind < 0) return pass_->tasks(round - kSides);
    if (behind < kSides) return of_rows(side_of(behind)).present() ? rows_.row_tasks(side_of(behind)) : 0;
    if (behind == 2 * kSides) return out_.dw.present() ? 1 : 0;
    const Side side = side_of(behind - kSides);
    return of_projection(side).present() || of_bias(side).present() ? rows_.feature_tasks() : 0;
  }
  void one(int64_t round, int64_t task, int64_t worker) {
    if (round < kSides) return rows_.project(side_of(round), task, worker);
    const int64_t behind = round - kSides - pass_->rounds();
    if (behind < 0) return pass_->run(round - kSides, task, 1, worker);
    if (behind < kSides) return rows_.write_rows(side_of(behind), of_rows(side_of(behind)), task, worker);
    if (behind == 2 * kSides) return rows_.write_w(out_.dw, plan_.dw_parts);
    const Side side = side_of(behind - kSides);
    rows_.write_projection(side, of_projection(side), of_bias(side), task, worker);
  }

 private:
  AttentionGradients gradients_of_pass() const {
    AttentionGradients of_pass = out_;
    of_pass.dq = plan_.rows ? rows_.du() : Tensor{};
    of_pass.dk = plan_.rows ? rows_.dt() : Tensor{};
    return of_pass;
  }

  const Tensor& of_rows(Side side) const { return side == Side::queries ? out_.dq : out_.dk; }
  const Matrix& of_projection(Side side) const { return side == Side::queries ? out_.dw_q : out_.dw_k; }
  Vector of_bias(Side side) const { return side == Side::queries ? out_.db : Vector{}; }

  const AdditiveGradients& out_;
  const AdditiveBackwardPlan& plan_;
  char* const block_;
  AdditiveRows<T> rows_;
  const Extents extents_;
  const ConstTensor u_, t_;
  const AttentionOptions options_;
  const AttentionGradients of_pass_;
  const BackwardArguments arguments_;
  RoundsMemory memory_;
  Rounds* const pass_;
};

}  // namespace

size_t AdditivePlan::workspace_bytes(int64_t workers) const { return bytes_of(layout, pass.workspace_bytes(workers)); }

size_t AdditiveBackwardPlan::workspace_bytes(int64_t workers) const {
  return bytes_of(layout, pass.workspace_bytes(workers));
}

template <class T>
AdditivePlan plan_additive(const AdditiveSizes& sizes, const AttentionOptions& options, bool wants_weights,
                           int64_t workers, const kernels::TargetKernels& kernels) {
  const Extents& e = sizes.extents;
  const int64_t lanes = kernels::of_type<T>(kernels).lanes;
  AdditivePlan plan{.pass = plan_call<T>(over_features(sizes), options, wants_weights, workers, kernels, dtype_of<T>()),
                    .layout = additive_layout(sizes, lanes, sizeof(T), workers, -1),
                    .tasks = 0};
  plan.tasks = plan.pass.tasks + additive_row_tasks(e.b, e.h_q, e.n_q) + additive_row_tasks(e.b, e.h_kv, e.n_kv);
  return plan;
}

template <class T>
Rounds* place_additive(NestedRoundsMemory* memory, const AdditiveArguments& arguments, const AdditiveSizes& sizes,
                       const AdditivePlan& plan, void* workspace, int64_t workers, const Execution& execution,
                       const kernels::TargetKernels& kernels) {
  return place_rounds<Additive<T>>(memory, execution, arguments, sizes, plan, workspace, workers, kernels);
}

template <class T>
AdditiveBackwardPlan plan_additive_backward(const AdditiveSizes& sizes, const AttentionOptions& options,
                                            const AdditiveGradients& g, int64_t workers,
                                            const kernels::TargetKernels& kernels) {
  const Extents& e = sizes.extents;
  const int64_t lanes = kernels::of_type<T>(kernels).lanes;
  const bool of_parameters = g.dw_q.present() || g.dw_k.present() || g.dw.present() || g.db.present();
  AdditiveBackwardPlan plan{};
  plan.rows = g.dq.present() || g.dk.present() || of_parameters;
  AttentionGradients of_pass = g;
  of_pass.dq.dtype = of_pass.dk.dtype = plan.rows ? dtype_of<T>() : DType::none;
  plan.pass = plan_backward<T>(over_features(sizes), options, sizes.q_rows, of_pass, workers, kernels, /*tanh=*/true);
  plan.dw_parts = plan.rows ? saturating_product(plan.pass.units, plan.pass.chunks.keys) : 0;
  plan.layout = additive_layout(sizes, lanes, sizeof(T), workers, plan.dw_parts);
  const int64_t of_q = additive_row_tasks(e.b, e.h_q, e.n_q), of_k = additive_row_tasks(e.b, e.h_kv, e.n_kv);
  const int64_t groups = additive_feature_tasks(sizes.d_a);
  plan.tasks = plan.pass.tasks + of_q + of_k + (g.dq.present() ? of_q : 0) + (g.dk.present() ? of_k : 0) +
               (g.dw_q.present() || g.db.present() ? groups : 0) + (g.dw_k.present() ? groups : 0) + g.dw.present();
  return plan;
}

template <class T>
Rounds* place_additive_backward(NestedRoundsMemory* memory, const AdditiveBackwardArguments& arguments,
                                const AdditiveSizes& sizes, const AdditiveBackwardPlan& plan, void* workspace,
                                int64_t workers, const Execution& execution, const kernels::TargetKernels& kernels) {
  return place_rounds<AdditiveBackward<T>>(memory, execution, arguments, sizes, plan, workspace, workers, kernels);
}

template AdditivePlan plan_additive<float>(const AdditiveSizes&, const AttentionOptions&, bool, int64_t,
                                           const kernels::TargetKernels&);
template AdditivePlan plan_additive<double>(const AdditiveSizes&, const AttentionOptions&, bool, int64_t,
                                            const kernels::TargetKernels&);
template Rounds* place_additive<float>(NestedRoundsMemory*, const AdditiveArguments&, const AdditiveSizes&,
                                       const AdditivePlan&, void*, int64_t, const Execution&,
                                       const kernels::TargetKernels&);
template Rounds* place_additive<double>(NestedRoundsMemory*, const AdditiveArguments&, const AdditiveSizes&,
                                        const AdditivePlan&, void*, int64_t, const Execution&,
                                        const kernels::TargetKernels&);
template AdditiveBackwardPlan plan_additive_backward<float>(const AdditiveSizes&, const AttentionOptions&,
                                                            const AdditiveGradients&, int64_t,
                                                            const kernels::TargetKernels&);
template AdditiveBackwardPlan plan_additive_backward<double>(const AdditiveSizes&, const AttentionOptions&,
                                                             const AdditiveGradients&, int64_t,
                                                             const kernels::TargetKernels&);
template Rounds* place_additive_backward<float>(NestedRoundsMemory*, const AdditiveBackwardArguments&,
                                                const AdditiveSizes&, const AdditiveBackwardPlan&, void*, int64_t,
                                                const Execution&, const kernels::TargetKernels&);
template Rounds* place_additive_backward<double>(NestedRoundsMemory*, const AdditiveBackwardArguments&,
                                                 const AdditiveSizes&, const AdditiveBackwardPlan&, void*, int64_t,
                                                 const Execution&, const kernels::TargetKernels&);

}  // namespace foveate
