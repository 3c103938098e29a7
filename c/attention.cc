// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/c/attention.h"

#include "c/convert.h"
#include "c/sized.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/dropout.h"
#include "foveate/patterns.h"
#include "foveate/planned_call.h"
#include "foveate/state.h"

namespace foveate::c {
namespace {

Status attend(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
              const foveate_attention_outputs* outputs, const foveate_attention_options* options,
              const foveate_execution* execution) {
  AttentionOutputs out;
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(outputs, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return attention(tensor_of(q), tensor_of(k), tensor_of(v), out, in, running.execution());
}

Status differentiate(const foveate_const_tensor* q, const foveate_const_tensor* k, const foveate_const_tensor* v,
                     const foveate_const_tensor* o, const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
                     const foveate_attention_gradients* gradients, const foveate_attention_options* options,
                     const foveate_execution* execution) {
  AttentionGradients out;
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &out));
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return attention_backward(tensor_of(q), tensor_of(k), tensor_of(v), tensor_of(o), tensor_of(lse), tensor_of(d_o), out,
                            in, running.execution());
}

Status plan_attention(const foveate_attention_shape* shape, int64_t workers, foveate_plan* plan) {
  AttentionShape of;
  AttentionPlan p;
  FOVEATE_C_RETURN_IF_ERROR(convert(shape, &of));
  FOVEATE_C_RETURN_IF_ERROR(attention_plan(of, workers, &p));
  return answer("plan",
                foveate_plan{.size = 0,
                             .workspace_bytes = p.workspace_bytes,
                             .begin_bytes = with_call(p.workspace_bytes),
                             .tasks = p.tasks,
                             .tile_rows = p.tile_rows,
                             .block_keys = p.block_keys,
                             .split_keys = p.split_keys,
                             .tiles = p.tiles,
                             .splits = p.splits,
                             .split_groups = p.split_groups},
                plan);
}

Status plan_backward(const foveate_attention_shape* shape, const foveate_attention_gradients* gradients,
                     int64_t workers, foveate_plan* plan) {
  AttentionShape of;
  AttentionGradients wanted;
  AttentionBackwardPlan p;
  FOVEATE_C_RETURN_IF_ERROR(convert(shape, &of));
  FOVEATE_C_RETURN_IF_ERROR(convert(gradients, &wanted));
  FOVEATE_C_RETURN_IF_ERROR(attention_backward_plan(of, wanted, workers, &p));
  return answer("plan", plan_of(p.tasks, p.workspace_bytes, with_call(p.workspace_bytes)), plan);
}

Status merge_states(const State& a, const State& b, const foveate_tensor* o, const foveate_tensor* lse,
                    const foveate_execution* execution) {
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return merge(a, b, tensor_of(o), tensor_of(lse), running.execution());
}

Status mask_of_dropout(const foveate_tensor* keep, const foveate_attention_options* options,
                       const foveate_execution* execution) {
  AttentionOptions in;
  Running running;
  FOVEATE_C_RETURN_IF_ERROR(convert(options, &in));
  FOVEATE_C_RETURN_IF_ERROR(running.read(execution));
  return dropout_mask(tensor_of(keep), in, running.execution());
}

Status write_blocks(const foveate_block_pattern* pattern, const foveate_tensor* blocks) {
  foveate_block_pattern in = FOVEATE_BLOCK_PATTERN_INIT;
  FOVEATE_C_RETURN_IF_ERROR(read("pattern", pattern, &in));
  return make_blocks({.n_q = in.n_q,
                      .n_kv = in.n_kv,
                      .block_size = in.block_size,
                      .window_left = in.window_left,
                      .window_right = in.window_right,
                      .global_tokens = in.global_tokens,
                      .random_blocks = in.random_blocks,
                      .seed = in.seed,
                      .causal = in.causal != 0},
                     tensor_of(blocks));
}

}  // namespace
}  // namespace foveate::c

using namespace foveate::c;  // what follows is C

void foveate_attention_options_init(foveate_attention_options* options, size_t size) {
  fill(foveate_attention_options FOVEATE_ATTENTION_OPTIONS_INIT, options, size);
}

foveate_status foveate_attention(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                 const foveate_const_tensor* v, const foveate_attention_outputs* outputs,
                                 const foveate_attention_options* options, const foveate_execution* execution,
                                 char* message, size_t message_size) {
  return report(attend(q, k, v, outputs, options, execution), message, message_size);
}

foveate_status foveate_attention_backward(const foveate_const_tensor* q, const foveate_const_tensor* k,
                                          const foveate_const_tensor* v, const foveate_const_tensor* o,
                                          const foveate_const_tensor* lse, const foveate_const_tensor* d_o,
                                          const foveate_attention_gradients* gradients,
                                          const foveate_attention_options* options, const foveate_execution* execution,
                                          char* message, size_t message_size) {
  return report(differentiate(q, k, v, o, lse, d_o, gradients, options, execution), message, message_size);
}

void foveate_attention_shape_init(foveate_attention_shape* shape, size_t size) {
  fill(foveate_attention_shape FOVEATE_ATTENTION_SHAPE_INIT, shape, size);
}

foveate_status foveate_attention_plan(const foveate_attention_shape* shape, int64_t workers, foveate_plan* plan,
                                      char* message, size_t message_size) {
  return report(plan_attention(shape, workers, plan), message, message_size);
}

foveate_status foveate_attention_backward_plan(const foveate_attention_shape* shape,
                                               const foveate_attention_gradients* gradients, int64_t workers,
                                               foveate_plan* plan, char* message, size_t message_size) {
  return report(plan_backward(shape, gradients, workers, plan), message, message_size);
}

foveate_status foveate_merge(const foveate_const_tensor* o_a, const foveate_const_tensor* lse_a,
                             const foveate_const_tensor* o_b, const foveate_const_tensor* lse_b,
                             const foveate_tensor* o, const foveate_tensor* lse, const foveate_execution* execution,
                             char* message, size_t message_size) {
  const foveate::State a = {tensor_of(o_a), tensor_of(lse_a)}, b = {tensor_of(o_b), tensor_of(lse_b)};
  return report(merge_states(a, b, o, lse, execution), message, message_size);
}

foveate_status foveate_dropout_mask(const foveate_tensor* keep, const foveate_attention_options* options,
                                    const foveate_execution* execution, char* message, size_t message_size) {
  return report(mask_of_dropout(keep, options, execution), message, message_size);
}

void foveate_block_pattern_init(foveate_block_pattern* pattern, size_t size) {
  fill(foveate_block_pattern FOVEATE_BLOCK_PATTERN_INIT, pattern, size);
}

foveate_status foveate_make_blocks(const foveate_block_pattern* pattern, const foveate_tensor* blocks, char* message,
                                   size_t message_size) {
  return report(write_blocks(pattern, blocks), message, message_size);
}
