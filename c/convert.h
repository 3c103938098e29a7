// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Arguments of the C interface as the C++ headers have them, and outcomes back.
#ifndef FOVEATE_C_CONVERT_H_
#define FOVEATE_C_CONVERT_H_

#include <cstddef>
#include <cstdint>

#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/executor.h"
#include "foveate/foveate_c.h"
#include "foveate/linear.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate::c {

#define FOVEATE_C_RETURN_IF_ERROR(expression) \
  if (Status error = (expression); !error.ok()) return error

/// Puts the outcome where the caller wants it.
foveate_status report(const Status& status, char* message, size_t message_size);

/// An argument that has to be there.
Status missing(const char* name);

/// A dtype that C++ knows; others become one that every call refuses.
DType dtype_of(int32_t dtype);

// Views; a null pointer is an absent one.

ConstTensor tensor_of(const foveate_const_tensor* view);
Tensor tensor_of(const foveate_tensor* view);
ConstVector vector_of(const foveate_const_vector& view);
Vector vector_of(const foveate_vector& view);
ConstMatrix matrix_of(const foveate_const_matrix& view);
Matrix matrix_of(const foveate_matrix& view);
foveate_const_tensor view_of(const ConstTensor& tensor);
foveate_const_vector view_of(const ConstVector& vector);
foveate_const_matrix view_of(const ConstMatrix& matrix);

// Structs that begin with their size.

Status convert(const foveate_attention_options* from, AttentionOptions* to);
Status convert(const foveate_linear_options* from, LinearOptions* to);
Status convert(const foveate_attention_outputs* from, AttentionOutputs* to);
Status convert(const foveate_attention_gradients* from, AttentionGradients* to);
Status convert(const foveate_linear_gradients* from, LinearGradients* to);
Status convert(const foveate_additive_parameters* from, AdditiveParameters* to);
Status convert(const foveate_additive_gradients* from, AdditiveGradients* to);
Status convert(const foveate_attention_shape* from, AttentionShape* to);

/// Bytes of a workspace that holds a planned call too.
size_t with_call(size_t workspace_bytes);

/// A plan without the figures of softmax attention.
foveate_plan plan_of(int64_t tasks, size_t workspace_bytes, size_t begin_bytes);

/// Where a call runs: an executor over the host's parallel loop, where there is one.
class Running final : public Executor {
 public:
  Status read(const foveate_execution* from);

  /// As the C++ calls take it; good as long as this is.
  const Execution& execution() const { return execution_; }

  /// What the caller has set, whether there is a parallel loop or not.
  int64_t workers() const { return from_.workers; }

  int64_t concurrency() const override { return from_.workers; }
  void run(int64_t n_tasks, Task task, void* context) override {
    from_.parallel_for(from_.host, n_tasks, task, context);
  }

 private:
  foveate_execution from_ = FOVEATE_EXECUTION_INIT;
  Execution execution_;
};

}  // namespace foveate::c

#endif  // FOVEATE_C_CONVERT_H_
