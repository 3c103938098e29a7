// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/planned_call.h"

#include <memory>
#include <new>
#include <utility>

#include "c/convert.h"
#include "foveate/planned_call.h"

namespace foveate::c {
namespace {

static_assert(sizeof(PlannedCall) <= sizeof(foveate_call));
static_assert(alignof(foveate_call) % alignof(PlannedCall) == 0);

PlannedCall* planned(foveate_call* call) { return std::launder(reinterpret_cast<PlannedCall*>(call)); }
const PlannedCall* planned(const foveate_call* call) {
  return std::launder(reinterpret_cast<const PlannedCall*>(call));
}

/// Begins a call by begin_it(execution, workers, call), and puts it where the caller keeps it.
template <class Begin>
Status begin(const foveate_execution* execution, foveate_call* call, const Begin& begin_it) {
  if (call == nullptr) return missing("call");
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  PlannedCall begun;
  FOVEATE_C_RETURN_IF_ERROR(begin_it(running.execution(), running.workers(), &begun));
  new (call) PlannedCall(std::move(begun));
  return {};
}

Status begin_attention(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                       const foveate_const_tensor* v, const foveate_attention_outputs* outputs,
                       const foveate_attention_options* options, const foveate_execution* execution) {
  AttentionOutputs out;
  AttentionOptions in;
  FOVEATE_C_RETURN_IF_ERROR(convert(outputs, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  return begin(execution, call, [&](const Execution& how, int64_t workers, PlannedCall* begun) {
    return foveate::begin_attention(tensor_of(q), tensor_of(k), tensor_of(v), out, in, workers, how, begun);
  });
}

Status begin_backward(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                      const foveate_const_tensor* v, const foveate_const_tensor* o, const foveate_const_tensor* lse,
                      const foveate_const_tensor* d_o, const foveate_attention_gradients* gradients,
                      const foveate_attention_options* options, const foveate_execution* execution) {
  AttentionGradients out;
  AttentionOptions in;
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  return begin(execution, call, [&](const Execution& how, int64_t workers, PlannedCall* begun) {
    return begin_attention_backward(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(o), tensor_of(lse),
                                    tensor_of(d_o), out, in, workers, how, begun);
  });
}

Status begin_linear(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                    const foveate_const_tensor* v, const foveate_tensor* o, const foveate_linear_options* options,
                    const foveate_execution* execution) {
  LinearOptions in;
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  return begin(execution, call, [&](const Execution& how, int64_t workers, PlannedCall* begun) {
    return begin_linear_attention(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(o), in, workers, how, begun);
  });
}

Status begin_linear_backward(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                             const foveate_const_tensor* v, const foveate_const_tensor* d_o,
                             const foveate_linear_gradients* gradients, const foveate_linear_options* options,
                             const foveate_execution* execution) {
  LinearGradients out;
  LinearOptions in;
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  return begin(execution, call, [&](const Execution& how, int64_t workers, PlannedCall* begun) {
    return begin_linear_attention_backward(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(d_o), out, in, workers,
                                           how, begun);
  });
}

Status begin_additive(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                      const foveate_const_tensor* v, const foveate_additive_parameters* parameters,
                      const foveate_attention_outputs* outputs, const foveate_attention_options* options,
                      const foveate_execution* execution) {
  AdditiveParameters with;
  AttentionOutputs out;
  AttentionOptions in;
  FOVEATE_C_RETURN_IF_ERROR(convert(parameters, &with));
  FOVEATE_C_RETURN_IF_ERROR(convert(outputs, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  return begin(execution, call, [&](const Execution& how, int64_t workers, PlannedCall* begun) {
    return begin_additive_attention(tensor_of(q), tensor_of(k), tensor_of(v), with, out, in, workers, how, begun);
  });
}

Status begin_additive_backward(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                               const foveate_const_tensor* v, const foveate_additive_parameters* parameters,
                               const foveate_const_tensor* o, const foveate_const_tensor* lse,
                               const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
                               const foveate_attention_options* options, const foveate_execution* execution) {
  AdditiveParameters with;
  AdditiveGradients out;
  AttentionOptions in;
  FOVEATE_C_RETURN_IF_ERROR(convert(parameters, &with));
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  return begin(execution, call, [&](const Execution& how, int64_t workers, PlannedCall* begun) {
    return begin_additive_attention_backward(tensor_of(q), tensor_of(k), tensor_of(v), with, tensor_of(o),
                                             tensor_of(lse), tensor_of(d_o), out, in, workers, how, begun);
  });
}

}  // namespace
}  // namespace foveate::c

using namespace foveate::c;  // what follows is C

foveate_status foveate_attention_begin(foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k,
                                       const foveate_const_tensor* v, const foveate_attention_outputs* outputs,
                                       const foveate_attention_options* options, const foveate_execution* execution,
                                       char* message, size_t message_size) {
  return report(begin_attention(call, q, k, v, outputs, options, execution), message, message_size);
}

foveate_status foveate_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* o, const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
    const foveate_attention_gradients* gradients, const foveate_attention_options* options,
    const foveate_execution* execution, char* message, size_t message_size) {
  return report(begin_backward(call, q, k, v, o, lse, d_o, gradients, options, execution), message, message_size);
}

foveate_status foveate_linear_attention_begin(foveate_call* call, const foveate_const_tensor* q,
                                              const foveate_const_tensor* k, const foveate_const_tensor* v,
                                              const foveate_tensor* o, const foveate_linear_options* options,
                                              const foveate_execution* execution, char* message, size_t message_size) {
  return report(begin_linear(call, q, k, v, o, options, execution), message, message_size);
}

foveate_status foveate_linear_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_const_tensor* d_o, const foveate_linear_gradients* gradients, const foveate_linear_options* options,
    const foveate_execution* execution, char* message, size_t message_size) {
  return report(begin_linear_backward(call, q, k, v, d_o, gradients, options, execution), message, message_size);
}

foveate_status foveate_additive_attention_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_attention_outputs* outputs,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size) {
  return report(begin_additive(call, q, k, v, parameters, outputs, options, execution), message, message_size);
}

foveate_status foveate_additive_attention_backward_begin(
    foveate_call* call, const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
    const foveate_additive_parameters* parameters, const foveate_const_tensor* o, const foveate_const_tensor* lse,
    const foveate_const_tensor* d_o, const foveate_additive_gradients* gradients,
    const foveate_attention_options* options, const foveate_execution* execution, char* message, size_t message_size) {
  return report(begin_additive_backward(call, q, k, v, parameters, o, lse, d_o, gradients, options, execution), message,
                message_size);
}

int64_t foveate_call_rounds(const foveate_call* call) { return call != nullptr ? planned(call)->rounds() : 0; }

int64_t foveate_call_tasks(const foveate_call* call, int64_t round) {
  return call != nullptr ? planned(call)->tasks(round) : 0;
}

foveate_status foveate_call_run(foveate_call* call, int64_t round, int64_t first, int64_t count, int64_t worker,
                                char* message, size_t message_size) {
  return report(call != nullptr ? planned(call)->run(round, first, count, worker) : missing("call"), message,
                message_size);
}

void foveate_call_end(foveate_call* call) {
  if (call == nullptr) return;
  std::destroy_at(planned(call));
  new (call) foveate::PlannedCall();  // which has no rounds: ended once more, or asked to run, it does nothing
}
