// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/linear.h"

#include "c/convert.h"
#include "c/sized.h"
#include "foveate/linear.h"

namespace foveate::c {
namespace {

Status attend(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
              const foveate_tensor* o, const foveate_linear_options* options, const foveate_execution* execution) {
  LinearOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return linear_attention(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(o), in, running.execution());
}

Status differentiate(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
                     const foveate_const_tensor* d_o, const foveate_linear_gradients* gradients,
                     const foveate_linear_options* options, const foveate_execution* execution) {
  LinearGradients out;
  LinearOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return linear_attention_backward(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(d_o), out, in,
                                   running.execution());
}

Status plan_linear(const foveate_attention_shape* shape, int64_t workers, bool backward, foveate_plan* plan) {
  AttentionShape s;
  LinearPlan p;
  FOVEATE_C_RETURN_IF_ERROR(convert(shape, &s));
  const LinearShape of = {s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, s.d_v, s.dtype};
  FOVEATE_C_RETURN_IF_ERROR(linear_attention_plan(of, workers, &p));
  const size_t bytes = backward ? p.backward_workspace_bytes : p.workspace_bytes;
  return answer("plan", plan_of(backward ? p.backward_tasks : p.tasks, bytes, with_call(bytes)), plan);
}

}  // namespace
}  // namespace foveate::c

using namespace foveate::c;  // what follows is C

foveate_status foveate_linear_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                        const foveate_const_tensor* v, const foveate_tensor* o,
                                        const foveate_linear_options* options, const foveate_execution* execution,
                                        char* message, size_t message_size) {
  return report(attend(q, k, v, o, options, execution), message, message_size);
}

foveate_status foveate_linear_attention_backward(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                                 const foveate_const_tensor* v, const foveate_const_tensor* d_o,
                                                 const foveate_linear_gradients* gradients,
                                                 const foveate_linear_options* options,
                                                 const foveate_execution* execution, char* message,
                                                 size_t message_size) {
  return report(differentiate(q, k, v, d_o, gradients, options, execution), message, message_size);
}

foveate_status foveate_linear_attention_plan(const foveate_attention_shape* shape, int64_t workers, foveate_plan* plan,
                                             char* message, size_t message_size) {
  return report(plan_linear(shape, workers, /*backward=*/false, plan), message, message_size);
}

foveate_status foveate_linear_attention_backward_plan(const foveate_attention_shape* shape, int64_t workers,
                                                      foveate_plan* plan, char* message, size_t message_size) {
  return report(plan_linear(shape, workers, /*backward=*/true, plan), message, message_size);
}
