// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The sole source of argument errors. What passes here, the rest of the library trusts.
#ifndef FOVEATE_SRC_VALIDATE_H_
#define FOVEATE_SRC_VALIDATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "check.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/state.h"
#include "foveate/status.h"
#include "foveate/tensor.h"
#include "plan.h"

namespace foveate {

/// What a call computes from.
struct Inputs {
  const ConstTensor& q;
  const ConstTensor& k;
  const ConstTensor& v;
  const AttentionOptions& options;
};

/// The arguments of one call.
struct Arguments : Inputs {
  const AttentionOutputs& outputs;
};

/// Those of a backward pass.
struct BackwardArguments : Inputs {
  const ConstTensor& o;
  const ConstTensor& lse;
  const ConstTensor& d_o;
  const AttentionGradients& gradients;
};

/// The type of lse and of all that is computed: float64's own, float32 for all narrower ones.
inline DType computing(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Checks what a call computes from, and gives its sizes.
Status check_inputs(const Inputs& inputs, Extents* extents);

/// q's heads are a multiple of k's.
Status check_heads(const Extents& extents);

/// Lengths of b sequences, integers, as a vector; whether each fits is for the caller.
Status check_lengths(const char* name, const ConstVector& lengths, int64_t b);

/// An offset of positions.
Status check_offset(const char* name, const std::optional<int64_t>& offset);

/// Outputs overlap neither each other nor what a call computes from.
Status check_aliasing(const Named* outputs, size_t n_outputs, const Inputs& inputs);
template <size_t kOutputs>
Status check_aliasing(const Named (&outputs)[kOutputs], const Inputs& inputs) {
  return check_aliasing(outputs, kOutputs, inputs);
}

/// A gradient of that shape, where it is wanted, of any float type that q's computing type is rounded to.
Status check_gradient(const char* name, const Tensor& gradient, const int64_t (&shape)[4], DType q);

/// Whether any is wanted.
bool any_of(const AttentionGradients& gradients);

/// Checks every argument against the contract and the others, and gives the sizes of the call.
Status validate(const Arguments& arguments, Extents* extents);

/// more: gradients of other kinds are given beside these, which may then be none.
Status validate(const BackwardArguments& arguments, Extents* extents, bool more = false);

/// Checks the sizes and the dtype of a call that is only planned.
Status validate(const AttentionShape& shape, Extents* extents);

/// Checks the arguments of a merge.
Status validate(const State& a, const State& b, const Tensor& o, const Tensor& lse);

/// Checks the arguments of a dropout mask.
Status validate(const Tensor& keep, const AttentionOptions& options);

/// Checks a number of workers: enough for any machine, and few enough for their memory to be counted in 64 bits.
Status validate_workers(const char* name, int64_t workers);

}  // namespace foveate

#endif  // FOVEATE_SRC_VALIDATE_H_
