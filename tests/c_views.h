// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What a C++ test has, as C callers state it.
#ifndef FOVEATE_TESTS_C_VIEWS_H_
#define FOVEATE_TESTS_C_VIEWS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "foveate/additive.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"
#include "foveate/foveate_c.h"
#include "foveate/linear.h"
#include "tests/thread_executor.h"

namespace foveate::trial {

inline int32_t in_c(DType dtype) {
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
  return -1;
}

inline foveate_const_tensor in_c(const ConstTensor& t) {
  foveate_const_tensor c = {t.data, in_c(t.dtype), {}, {}};
  for (int axis = 0; axis < 4; ++axis) c.shape[axis] = t.shape[axis], c.stride[axis] = t.stride[axis];
  return c;
}
inline foveate_tensor in_c(const Tensor& t) {
  foveate_tensor c = {t.data, in_c(t.dtype), {}, {}};
  for (int axis = 0; axis < 4; ++axis) c.shape[axis] = t.shape[axis], c.stride[axis] = t.stride[axis];
  return c;
}
inline foveate_const_vector in_c(const ConstVector& v) { return {v.data, in_c(v.dtype), v.size, v.stride}; }
inline foveate_vector in_c(const Vector& v) { return {v.data, in_c(v.dtype), v.size, v.stride}; }
inline foveate_const_matrix in_c(const ConstMatrix& m) {
  return {m.data, in_c(m.dtype), {m.shape[0], m.shape[1]}, {m.stride[0], m.stride[1]}};
}
inline foveate_matrix in_c(const Matrix& m) {
  return {m.data, in_c(m.dtype), {m.shape[0], m.shape[1]}, {m.stride[0], m.stride[1]}};
}

inline foveate_attention_options in_c(const AttentionOptions& o) {
  foveate_attention_options c = FOVEATE_ATTENTION_OPTIONS_INIT;
  c.has_scale = o.scale.has_value();
  c.scale = o.scale.value_or(77);
  c.causal = o.causal;
  c.align = o.align == Align::top_left ? FOVEATE_TOP_LEFT : FOVEATE_BOTTOM_RIGHT;
  c.window_left = o.window_left;
  c.window_right = o.window_right;
  c.mask = in_c(o.mask);
  c.bias = in_c(o.bias);
  c.softcap = o.softcap;
  c.alibi_slopes = in_c(o.alibi_slopes);
  c.sinks = in_c(o.sinks);
  c.q_lengths = in_c(o.q_lengths);
  c.kv_lengths = in_c(o.kv_lengths);
  c.has_q_offset = o.q_offset.has_value();
  c.has_kv_offset = o.kv_offset.has_value();
  c.q_offset = o.q_offset.value_or(77);
  c.kv_offset = o.kv_offset.value_or(77);
  c.dropout = o.dropout;
  c.seed = o.seed;
  c.k_scales = in_c(o.k_scales);
  c.v_scales = in_c(o.v_scales);
  c.q_starts = in_c(o.q_starts);
  c.kv_starts = in_c(o.kv_starts);
  c.block_table = in_c(o.block_table);
  c.tree_mask = in_c(o.tree_mask);
  c.tree_tokens = o.tree_tokens;
  c.blocks = in_c(o.blocks);
  c.block_size = o.block_size;
  c.native_products = o.native_products;
  return c;
}
inline foveate_linear_options in_c(const LinearOptions& o) {
  foveate_linear_options c = FOVEATE_LINEAR_OPTIONS_INIT;
  c.causal = o.causal;
  c.align = o.align == Align::top_left ? FOVEATE_TOP_LEFT : FOVEATE_BOTTOM_RIGHT;
  c.has_q_offset = o.q_offset.has_value();
  c.q_offset = o.q_offset.value_or(77);
  c.mask = in_c(o.mask);
  c.q_lengths = in_c(o.q_lengths);
  c.kv_lengths = in_c(o.kv_lengths);
  return c;
}
inline foveate_attention_outputs in_c(const AttentionOutputs& o) {
  return {sizeof(foveate_attention_outputs), in_c(o.o), in_c(o.lse), in_c(o.weights)};
}
inline foveate_attention_gradients in_c(const AttentionGradients& g) {
  return {sizeof(foveate_attention_gradients), in_c(g.dq), in_c(g.dk), in_c(g.dv), in_c(g.dbias), in_c(g.dsinks)};
}
inline foveate_additive_gradients in_c(const AdditiveGradients& g) {
  return {sizeof(foveate_additive_gradients),
          in_c(g.dq),
          in_c(g.dk),
          in_c(g.dv),
          in_c(g.dbias),
          in_c(g.dsinks),
          in_c(g.dw_q),
          in_c(g.dw_k),
          in_c(g.dw),
          in_c(g.db)};
}
inline foveate_additive_parameters in_c(const AdditiveParameters& p) {
  return {sizeof(foveate_additive_parameters), in_c(p.w_q), in_c(p.w_k), in_c(p.w), in_c(p.b)};
}
inline foveate_linear_gradients in_c(const LinearGradients& g) {
  return {sizeof(foveate_linear_gradients), in_c(g.dq), in_c(g.dk), in_c(g.dv)};
}
inline foveate_attention_shape in_c(const AttentionShape& s) {
  return {sizeof(foveate_attention_shape),
          s.b,
          s.h_q,
          s.h_kv,
          s.n_q,
          s.n_kv,
          s.d_k,
          s.d_v,
          in_c(s.dtype),
          s.weights,
          s.kv_offset,
          s.block_size};
}

/// A parallel loop in C's form, on threads of its own.
class ParallelLoop {
 public:
  explicit ParallelLoop(int workers) : threads_(workers) {}

  foveate_execution execution() {
    foveate_execution execution = FOVEATE_EXECUTION_INIT;
    execution.host = this;
    execution.workers = threads_.concurrency();
    execution.parallel_for = [](void* host, int64_t n_tasks, foveate_task task, void* context) {
      ++static_cast<ParallelLoop*>(host)->loops_;
      static_cast<ParallelLoop*>(host)->threads_.run(n_tasks, task, context);
    };
    return execution;
  }

  int loops() const { return loops_; }

 private:
  ThreadExecutor threads_;
  int loops_ = 0;
};

/// Where a call's message goes.
struct Message {
  char text[FOVEATE_MESSAGE_SIZE] = "untouched";
};

#define EXPECT_C_OK(call, message) EXPECT_EQ(call, FOVEATE_OK) << (message).text
#define ASSERT_C_OK(call, message) ASSERT_EQ(call, FOVEATE_OK) << (message).text

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_C_VIEWS_H_
