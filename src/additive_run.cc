// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "additive_run.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backward_run.h"
#include "carve.h"
#include "kernels/backward.h"
#include "run.h"
#include "saturating.h"
#include "tasks.h"

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

/// The tasks that make u and t, and those that take gradients from them.
template <class T>
struct Phases {
  const AdditiveRows<T>& rows;
  Tasks& tasks;

  void project() {
    for (const Side side : {Side::queries, Side::keys}) {
      tasks.run(rows.row_tasks(side), [&](int64_t task, int64_t worker) { rows.project(side, task, worker); });
    }
  }

  void write_rows(Side side, const Tensor& to) {
    if (!to.present()) return;
    tasks.run(rows.row_tasks(side), [&](int64_t task, int64_t worker) { rows.write_rows(side, to, task, worker); });
  }

  void write_projection(Side side, const Matrix& dw, const Vector& db) {
    if (!dw.present() && !db.present()) return;
    tasks.run(rows.feature_tasks(),
              [&](int64_t task, int64_t worker) { rows.write_projection(side, dw, db, task, worker); });
  }
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
  AdditivePlan plan{.pass = plan_call<T>(over_features(sizes), options, wants_weights, workers, kernels),
                    .layout = additive_layout(sizes, lanes, sizeof(T), workers, -1),
                    .tasks = 0};
  plan.tasks = plan.pass.tasks + additive_row_tasks(e.b, e.h_q, e.n_q) + additive_row_tasks(e.b, e.h_kv, e.n_kv);
  return plan;
}

template <class T>
Status run_additive(const AdditiveArguments& arguments, const AdditiveSizes& sizes, const AdditivePlan& plan,
                    void* workspace, int64_t workers, const Execution& execution,
                    const kernels::TargetKernels& kernels) {
  char* const block = Carve(workspace).take(plan.layout.bytes);
  AdditiveRows<T> rows(arguments, arguments.parameters, sizes, plan.layout, block, kernels);
  rows.load_parameters(/*backward=*/false);
  Tasks tasks(execution);
  Phases<T>{rows, tasks}.project();
  if (Status status = tasks.status(); !status.ok()) return status;
  const ConstTensor u = rows.u(), t = rows.t();
  const AttentionOptions options = rows.options();
  const Arguments pass{{u, t, arguments.v, options}, arguments.outputs};
  return run<T>(pass, over_features(sizes), plan.pass, block + plan.layout.bytes, workers, execution, kernels,
                &rows.scores());
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
Status run_additive_backward(const AdditiveBackwardArguments& arguments, const AdditiveSizes& sizes,
                             const AdditiveBackwardPlan& plan, void* workspace, int64_t workers,
                             const Execution& execution, const kernels::TargetKernels& kernels) {
  char* const block = Carve(workspace).take(plan.layout.bytes);
  const AdditiveGradients& g = arguments.all;
  AdditiveRows<T> rows(arguments, arguments.parameters, sizes, plan.layout, block, kernels);
  rows.load_parameters(/*backward=*/true);
  Tasks tasks(execution);
  Phases<T> phases{rows, tasks};
  phases.project();
  if (Status status = tasks.status(); !status.ok()) return status;

  const ConstTensor u = rows.u(), t = rows.t();
  const AttentionOptions options = rows.options();
  AttentionGradients of_pass = g;
  of_pass.dq = plan.rows ? rows.du() : Tensor{};
  of_pass.dk = plan.rows ? rows.dt() : Tensor{};
  const int64_t wide = kernels::padded(sizes.d_a, kernels::of_type<T>(kernels).lanes);
  if (plan.rows) std::fill_n(rows.dw(), plan.dw_parts * wide, T{0});
  const BackwardArguments pass{{u, t, arguments.v, options}, arguments.o, arguments.lse, arguments.d_o, of_pass};
  if (Status status = run_backward<T>(pass, over_features(sizes), plan.pass, block + plan.layout.bytes, workers,
                                      execution, kernels, {&rows.scores(), plan.rows ? rows.dw() : nullptr});
      !status.ok()) {
    return status;
  }

  phases.write_rows(Side::queries, g.dq);
  phases.write_rows(Side::keys, g.dk);
  phases.write_projection(Side::queries, g.dw_q, g.db);
  phases.write_projection(Side::keys, g.dw_k, {});
  if (g.dw.present()) tasks.run(1, [&](int64_t, int64_t) { rows.write_w(g.dw, plan.dw_parts); });
  return tasks.status();
}

template AdditivePlan plan_additive<float>(const AdditiveSizes&, const AttentionOptions&, bool, int64_t,
                                           const kernels::TargetKernels&);
template AdditivePlan plan_additive<double>(const AdditiveSizes&, const AttentionOptions&, bool, int64_t,
                                            const kernels::TargetKernels&);
template Status run_additive<float>(const AdditiveArguments&, const AdditiveSizes&, const AdditivePlan&, void*, int64_t,
                                    const Execution&, const kernels::TargetKernels&);
template Status run_additive<double>(const AdditiveArguments&, const AdditiveSizes&, const AdditivePlan&, void*,
                                     int64_t, const Execution&, const kernels::TargetKernels&);
template AdditiveBackwardPlan plan_additive_backward<float>(const AdditiveSizes&, const AttentionOptions&,
                                                            const AdditiveGradients&, int64_t,
                                                            const kernels::TargetKernels&);
template AdditiveBackwardPlan plan_additive_backward<double>(const AdditiveSizes&, const AttentionOptions&,
                                                             const AdditiveGradients&, int64_t,
                                                             const kernels::TargetKernels&);
template Status run_additive_backward<float>(const AdditiveBackwardArguments&, const AdditiveSizes&,
                                             const AdditiveBackwardPlan&, void*, int64_t, const Execution&,
                                             const kernels::TargetKernels&);
template Status run_additive_backward<double>(const AdditiveBackwardArguments&, const AdditiveSizes&,
                                              const AdditiveBackwardPlan&, void*, int64_t, const Execution&,
                                              const kernels::TargetKernels&);

}  // namespace foveate
