// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "c/convert.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "c/sized.h"
#include "foveate/planned_call.h"

namespace foveate::c {
namespace {

// A byte and an integer of the caller's are polled and counted where they lie.
static_assert(sizeof(std::atomic<bool>) == 1 && std::atomic<bool>::is_always_lock_free);
static_assert(sizeof(std::atomic<int64_t>) == sizeof(int64_t) && std::atomic<int64_t>::is_always_lock_free);

/// A value of no enumerator: calls say which argument has it.
constexpr auto kUnknown = static_cast<DType>(255);

foveate_status code_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return FOVEATE_OK;
    case StatusCode::invalid_argument:
      return FOVEATE_INVALID_ARGUMENT;
    case StatusCode::not_supported:
      return FOVEATE_NOT_SUPPORTED;
    case StatusCode::workspace_too_small:
      return FOVEATE_WORKSPACE_TOO_SMALL;
    case StatusCode::out_of_memory:
      return FOVEATE_OUT_OF_MEMORY;
    case StatusCode::cancelled:
      return FOVEATE_CANCELLED;
  }
  return FOVEATE_NOT_SUPPORTED;
}

int32_t number_of(DType dtype) {
  switch (dtype) {
    case DType::none:
      return FOVEATE_NONE;
    case DType::f64:
      return FOVEATE_F64;
    case DType::f32:
      return FOVEATE_F32;
    case DType::f16:
      return FOVEATE_F16;
    case DType::bf16:
      return FOVEATE_BF16;
    case DType::i64:
      return FOVEATE_I64;
    case DType::i32:
      return FOVEATE_I32;
    case DType::boolean:
      return FOVEATE_BOOL;
    case DType::i8:
      return FOVEATE_I8;
  }
  return FOVEATE_NONE;
}

Status convert(int32_t from, Align* to) {
  if (from != FOVEATE_BOTTOM_RIGHT && from != FOVEATE_TOP_LEFT) {
    return Status::error(StatusCode::invalid_argument,
                         "align: %d; expected FOVEATE_BOTTOM_RIGHT (0) or FOVEATE_TOP_LEFT (1)", from);
  }
  *to = from == FOVEATE_TOP_LEFT ? Align::top_left : Align::bottom_right;
  return {};
}

template <class To, class From>
To rank4(const From* view) {
  if (view == nullptr) return {};
  const auto& [n0, n1, n2, n3] = view->shape;
  const auto& [s0, s1, s2, s3] = view->stride;
  return {view->data, dtype_of(view->dtype), {n0, n1, n2, n3}, {s0, s1, s2, s3}};
}

template <class To, class From>
To rank2(const From& view) {
  return {view.data, dtype_of(view.dtype), {view.shape[0], view.shape[1]}, {view.stride[0], view.stride[1]}};
}

}  // namespace

foveate_status report(const Status& status, char* message, size_t message_size) {
  if (message != nullptr && message_size > 0) {
    const size_t length = std::min(std::strlen(status.message()), message_size - 1);
    std::memcpy(message, status.message(), length);
    message[length] = '\0';
  }
  return code_of(status.code());
}

Status missing(const char* name) {
  return Status::error(StatusCode::invalid_argument, "%s: the pointer is null", name);
}

DType dtype_of(int32_t dtype) {
  switch (dtype) {
    case FOVEATE_NONE:
      return DType::none;
    case FOVEATE_F64:
      return DType::f64;
    case FOVEATE_F32:
      return DType::f32;
    case FOVEATE_F16:
      return DType::f16;
    case FOVEATE_BF16:
      return DType::bf16;
    case FOVEATE_I64:
      return DType::i64;
    case FOVEATE_I32:
      return DType::i32;
    case FOVEATE_BOOL:
      return DType::boolean;
    case FOVEATE_I8:
      return DType::i8;
    default:
      return kUnknown;
  }
}

ConstTensor tensor_of(const foveate_const_tensor* view) { return rank4<ConstTensor>(view); }
Tensor tensor_of(const foveate_tensor* view) { return rank4<Tensor>(view); }
ConstMatrix matrix_of(const foveate_const_matrix& view) { return rank2<ConstMatrix>(view); }
Matrix matrix_of(const foveate_matrix& view) { return rank2<Matrix>(view); }
ConstVector vector_of(const foveate_const_vector& view) {
  return {view.data, dtype_of(view.dtype), view.size, view.stride};
}
Vector vector_of(const foveate_vector& view) { return {view.data, dtype_of(view.dtype), view.size, view.stride}; }

foveate_const_tensor view_of(const ConstTensor& t) {
  return {t.data,
          number_of(t.dtype),
          {t.shape[0], t.shape[1], t.shape[2], t.shape[3]},
          {t.stride[0], t.stride[1], t.stride[2], t.stride[3]}};
}
foveate_const_vector view_of(const ConstVector& v) { return {v.data, number_of(v.dtype), v.size, v.stride}; }
foveate_const_matrix view_of(const ConstMatrix& m) {
  return {m.data, number_of(m.dtype), {m.shape[0], m.shape[1]}, {m.stride[0], m.stride[1]}};
}

Status convert(const foveate_attention_options* from, AttentionOptions* to) {
  foveate_attention_options options = FOVEATE_ATTENTION_OPTIONS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("options", from, &options));
  *to = {};
  if (options.has_scale != 0) to->scale = options.scale;
  to->causal = options.causal != 0;
  FOVEATE_C_RETURN_IF_ERROR(convert(options.align, &to->align));
  to->native_products = options.native_products != 0;
  to->window_left = options.window_left;
  to->window_right = options.window_right;
  to->mask = tensor_of(&options.mask);
  to->bias = tensor_of(&options.bias);
  to->softcap = options.softcap;
  to->alibi_slopes = vector_of(options.alibi_slopes);
  to->sinks = vector_of(options.sinks);
  to->q_lengths = vector_of(options.q_lengths);
  to->kv_lengths = vector_of(options.kv_lengths);
  if (options.has_q_offset != 0) to->q_offset = options.q_offset;
  if (options.has_kv_offset != 0) to->kv_offset = options.kv_offset;
  to->dropout = options.dropout;
  to->seed = options.seed;
  to->k_scales = tensor_of(&options.k_scales);
  to->v_scales = tensor_of(&options.v_scales);
  to->q_starts = vector_of(options.q_starts);
  to->kv_starts = vector_of(options.kv_starts);
  to->block_table = matrix_of(options.block_table);
  to->tree_mask = tensor_of(&options.tree_mask);
  to->tree_tokens = options.tree_tokens;
  to->blocks = tensor_of(&options.blocks);
  to->block_size = options.block_size;
  return {};
}

Status convert(const foveate_linear_options* from, LinearOptions* to) {
  foveate_linear_options options = FOVEATE_LINEAR_OPTIONS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("options", from, &options));
  *to = {};
  to->causal = options.causal != 0;
  FOVEATE_C_RETURN_IF_ERROR(convert(options.align, &to->align));
  if (options.has_q_offset != 0) to->q_offset = options.q_offset;
  to->mask = tensor_of(&options.mask);
  to->q_lengths = vector_of(options.q_lengths);
  to->kv_lengths = vector_of(options.kv_lengths);
  return {};
}

Status convert(const foveate_attention_outputs* from, AttentionOutputs* to) {
  foveate_attention_outputs outputs = FOVEATE_ATTENTION_OUTPUTS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("outputs", from, &outputs));
  *to = {tensor_of(&outputs.o), tensor_of(&outputs.lse), tensor_of(&outputs.weights)};
  return {};
}

Status convert(const foveate_attention_gradients* from, AttentionGradients* to) {
  foveate_attention_gradients g = FOVEATE_ATTENTION_GRADIENTS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("gradients", from, &g));
  *to = {tensor_of(&g.dq), tensor_of(&g.dk), tensor_of(&g.dv), tensor_of(&g.dbias), vector_of(g.dsinks)};
  return {};
}

Status convert(const foveate_linear_gradients* from, LinearGradients* to) {
  foveate_linear_gradients g = FOVEATE_LINEAR_GRADIENTS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("gradients", from, &g));
  *to = {tensor_of(&g.dq), tensor_of(&g.dk), tensor_of(&g.dv)};
  return {};
}

Status convert(const foveate_additive_parameters* from, AdditiveParameters* to) {
  foveate_additive_parameters p = FOVEATE_ADDITIVE_PARAMETERS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("parameters", from, &p));
  *to = {matrix_of(p.w_q), matrix_of(p.w_k), vector_of(p.w), vector_of(p.b)};
  return {};
}

Status convert(const foveate_additive_gradients* from, AdditiveGradients* to) {
  foveate_additive_gradients g = FOVEATE_ADDITIVE_GRADIENTS_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("gradients", from, &g));
  *to = {{tensor_of(&g.dq), tensor_of(&g.dk), tensor_of(&g.dv), tensor_of(&g.dbias), vector_of(g.dsinks)},
         matrix_of(g.dw_q),
         matrix_of(g.dw_k),
         vector_of(g.dw),
         vector_of(g.db)};
  return {};
}

Status convert(const foveate_attention_shape* from, AttentionShape* to) {
  foveate_attention_shape shape = FOVEATE_ATTENTION_SHAPE_INIT;
  if (from == nullptr) return missing("shape");
  FOVEATE_C_RETURN_IF_ERROR(read("shape", from, &shape));
  *to = {.b = shape.b,
         .h_q = shape.h_q,
         .h_kv = shape.h_kv,
         .n_q = shape.n_q,
         .n_kv = shape.n_kv,
         .d_k = shape.d_k,
         .d_v = shape.d_v,
         .dtype = dtype_of(shape.dtype),
         .weights = shape.weights != 0,
         .kv_offset = shape.kv_offset,
         .block_size = shape.block_size};
  return {};
}

size_t with_call(size_t workspace_bytes) {
  const size_t bytes = workspace_bytes + PlannedCall::kBytes;
  return bytes < workspace_bytes ? workspace_bytes : bytes;  // what is past counting stays so
}

foveate_plan plan_of(int64_t tasks, size_t workspace_bytes, size_t begin_bytes) {
  foveate_plan plan = FOVEATE_PLAN_INIT;
  plan.workspace_bytes = workspace_bytes;
  plan.begin_bytes = begin_bytes;
  plan.tasks = tasks;
  return plan;
}

Status Running::read(const foveate_execution* from) {
  FOVEATE_C_RETURN_IF_ERROR(c::read("execution", from, &from_));
  execution_ = {.executor = from_.parallel_for != nullptr ? this : nullptr,
                .workspace = from_.workspace,
                .workspace_bytes = from_.workspace_bytes,
                .stop = reinterpret_cast<const std::atomic<bool>*>(from_.stop),
                .progress = reinterpret_cast<std::atomic<int64_t>*>(from_.progress)};
  return {};
}

}  // namespace foveate::c
