// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/additive.h"

#include "c/convert.h"
#include "c/sized.h"
#include "foveate/additive.h"

namespace foveate::c {
namespace {

Status attend(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
              const foveate_additive_parameters* parameters, const foveate_attention_outputs* outputs,
              const foveate_attention_options* options, const foveate_execution* execution) {
  AdditiveParameters with;
  AttentionOutputs out;
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(parameters, &with));
  FOVEATE_C_RETURN_IF_ERROR(convert(outputs, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return additive_attention(tensor_of(q), tensor_of(k), tensor_of(v), with, out, in, running.execution());
}

Status differentiate(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
                     const foveate_additive_parameters* parameters, const foveate_const_tensor* o,
                     const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
                     const foveate_additive_gradients* gradients, const foveate_attention_options* options,
                     const foveate_execution* execution) {
  AdditiveParameters with;
  AdditiveGradients out;
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(parameters, &with));
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return additive_attention_backward(tensor_of(q), tensor_of(k), tensor_of(v), with, tensor_of(o), tensor_of(lse),
                                     tensor_of(d_o), out, in, running.execution());
}

Status plan_forward(const foveate_attention_shape* shape, int64_t d_a, int64_t workers, foveate_plan* plan) {
  AttentionShape of;
  AttentionPlan p;
  FOVEATE_C_RETURN_IF_ERROR(convert(shape, &of));
  FOVEATE_C_RETURN_IF_ERROR(additive_attention_plan(of, d_a, workers, &p));
  return answer("plan", plan_of(p.tasks, p.workspace_bytes, with_call(p.workspace_bytes)), plan);
}

Status plan_backward(const foveate_attention_shape* shape, const foveate_additive_gradients* gradients, int64_t d_a,
                     int64_t workers, foveate_plan* plan) {
  AttentionShape of;
  AdditiveGradients wanted;
  AttentionBackwardPlan p;
  FOVEATE_C_RETURN_IF_ERROR(convert(shape, &of));
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &wanted));
  FOVEATE_C_RETURN_IF_ERROR(additive_attention_backward_plan(of, wanted, d_a, workers, &p));
  return answer("plan", plan_of(p.tasks, p.workspace_bytes, with_call(p.workspace_bytes)), plan);
}

}  // namespace
}  // namespace foveate::c

using namespace foveate::c;  // what follows is C

foveate_status foveate_additive_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                          const foveate_const_tensor* v, const foveate_additive_parameters* parameters,
                                          const foveate_attention_outputs* outputs,
                                          const foveate_attention_options* options, const foveate_execution* execution,
                                          char* message, size_t message_size) {
  return report(attend(q, k, v, parameters, outputs, options, execution), message, message_size);
}

foveate_status foveate_additive_attention_backward(
    const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_const_tensor* o, const foveate_const_tensor* lse,
    const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size) {
  return report(differentiate(q, k, v, parameters, o, lse, d_o, gradients, options, execution), message, message_size);
}

foveate_status foveate_additive_attention_plan(const foveate_attention_shape* shape, int64_t d_a, int64_t workers,
                                               foveate_plan* plan, char* message, size_t message_size) {
  return report(plan_forward(shape, d_a, workers, plan), message, message_size);
}

foveate_status foveate_additive_attention_backward_plan(const foveate_attention_shape* shape,
                                                        const foveate_additive_gradients* gradients, int64_t d_a,
                                                        int64_t workers, foveate_plan* plan, char* message,
                                                        size_t message_size) {
  return report(plan_backward(shape, gradients, d_a, workers, plan), message, message_size);
}
