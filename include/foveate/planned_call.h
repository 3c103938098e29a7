// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call that its host runs, on threads of its own: checked and planned once, then done as rounds of tasks, of which any thread
// takes any range. For engines that have worker threads already, and a barrier, but no parallel loop to hand out; where there is
// one, an Executor is simpler.
//
//   PlannedCall call;
//   begin_attention(q, k, v, outputs, options, workers, {}, &call);
//   for (int64_t round = 0; round < call.rounds(); ++round) {          // each thread; worker in [0, workers)
//     call.run(round, first of mine, how many, worker);                // first and how many from call.tasks(round)
//     barrier();
//   }
//   call.status();
//
// Guarantees
//   Bits       those of the call that is run whole, however its tasks are divided.
//   Order      each task of a round is run once; a round begins when all of the one before have ended, and what they wrote is
//              visible (a barrier sees to that). No two threads run at once as the same worker.
//   Again      rounds may be run once more, from the first, when q, k, v, o, lse, d_o, mask, bias or sinks hold other numbers.
//              Lengths, starts, block tables, scales, slopes and options were checked when the call began, and must be the same.
//              (Additive attention reads its parameters as it begins: it is run once.)
//   Lifetime   views are copied; what they point to, the workspace, the stop flag and the counter outlive the call.
//   Allocation with a workspace of kBytes more than the call's plan tells: none. Otherwise one block, freed with the PlannedCall.
//   Target     that of its beginning, whatever is pinned later.
#ifndef FOVEATE_PLANNED_CALL_H_
#define FOVEATE_PLANNED_CALL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/export.h"
#include "foveate/linear.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

class Rounds;

class FOVEATE_API PlannedCall {
 public:
  /// What it needs of a workspace, beside what attention_plan() and its like tell.
  static constexpr size_t kBytes = 8192;

  PlannedCall();  ///< no call: no rounds
  PlannedCall(PlannedCall&& other) noexcept;
  PlannedCall& operator=(PlannedCall&& other) noexcept;
  ~PlannedCall();

  int64_t rounds() const;

  /// Tasks of a round, perhaps none; 0 where there is no such round.
  int64_t tasks(int64_t round) const;

  /// Does tasks [first, first + count) of a round, in this thread. Nothing is done where one of these is out of range, or once
  /// the stop flag was seen.
  Status run(int64_t round, int64_t first, int64_t count, int64_t worker);

  /// `cancelled` if a task was left out because of the stop flag.
  Status status() const;

  struct Beginning;  ///< how the calls below fill it in

 private:
  Rounds* rounds_ = nullptr;  ///< in memory_, or in the caller's workspace
  int64_t workers_ = 0;
  std::unique_ptr<char[]> memory_;
};

/// Checks and plans attention() for `workers` workers, 1 to 65536, in place of what `call` was. The executor of `execution` is not
/// used.
FOVEATE_API Status begin_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                   const AttentionOutputs& outputs, const AttentionOptions& options, int64_t workers,
                                   const Execution& execution, PlannedCall* call);

/// The same of attention_backward().
FOVEATE_API Status begin_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                            const ConstTensor& o, const ConstTensor& lse, const ConstTensor& d_o,
                                            const AttentionGradients& gradients, const AttentionOptions& options,
                                            int64_t workers, const Execution& execution, PlannedCall* call);

/// The same of linear_attention() and linear_attention_backward().
FOVEATE_API Status begin_linear_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                          const Tensor& o, const LinearOptions& options, int64_t workers,
                                          const Execution& execution, PlannedCall* call);
FOVEATE_API Status begin_linear_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                                   const ConstTensor& d_o, const LinearGradients& gradients,
                                                   const LinearOptions& options, int64_t workers,
                                                   const Execution& execution, PlannedCall* call);

/// The same of additive_attention() and additive_attention_backward(). Parameters are read here, and rounds run once.
FOVEATE_API Status begin_additive_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                            const AdditiveParameters& parameters, const AttentionOutputs& outputs,
                                            const AttentionOptions& options, int64_t workers,
                                            const Execution& execution, PlannedCall* call);
FOVEATE_API Status begin_additive_attention_backward(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                                                     const AdditiveParameters& parameters, const ConstTensor& o,
                                                     const ConstTensor& lse, const ConstTensor& d_o,
                                                     const AdditiveGradients& gradients,
                                                     const AttentionOptions& options, int64_t workers,
                                                     const Execution& execution, PlannedCall* call);

}  // namespace foveate

#endif  // FOVEATE_PLANNED_CALL_H_
