// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call of the engine as it lies in the module's memory, and what the library reads of it.
#ifndef FOVEATE_WEB_ENGINE_CALL_H_
#define FOVEATE_WEB_ENGINE_CALL_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "foveate/attention.h"

namespace foveate::web {

/// foveate::Tensor with 32-bit fields: dtype none (0) is an absent one.
struct TensorField {
  void* data;
  int32_t dtype;  ///< foveate::DType
  int32_t shape[4];
  int32_t stride[4];  ///< in elements
};

struct VectorField {
  void* data;
  int32_t dtype;
  int32_t size;
  int32_t stride;
};

/// A call of foveate::attention, with its options: 448 bytes.
struct Call {
  double scale;  ///< NaN: 1 / sqrt(d_k)
  double softcap;
  double dropout;
  uint64_t seed;
  int32_t causal;
  int32_t align;  ///< foveate::Align
  int32_t window_left, window_right;
  int32_t has_q_offset, q_offset;
  int32_t has_kv_offset, kv_offset;
  TensorField q, k, v, mask, bias, o, lse, weights;
  VectorField alibi_slopes, sinks, q_lengths, kv_lengths;
};
static_assert(sizeof(Call) == 448 && offsetof(Call, q) == 64 && offsetof(Call, alibi_slopes) == 384);

/// What foveate::attention_backward takes beside a Call, whose o and lse are inputs then: 216 bytes.
struct BackwardCall {
  TensorField d_o, dq, dk, dv, dbias;
  VectorField dsinks;
};
static_assert(sizeof(BackwardCall) == 216 && offsetof(BackwardCall, dsinks) == 200);

inline Tensor tensor(const TensorField& field) {
  const int32_t *n = field.shape, *s = field.stride;
  return {field.data, static_cast<DType>(field.dtype), {n[0], n[1], n[2], n[3]}, {s[0], s[1], s[2], s[3]}};
}

inline Vector vector(const VectorField& field) {
  return {field.data, static_cast<DType>(field.dtype), field.size, field.stride};
}

inline AttentionOptions options_of(const Call& call) {
  AttentionOptions options{.causal = call.causal != 0,
                           .align = static_cast<Align>(call.align),
                           .window_left = call.window_left,
                           .window_right = call.window_right,
                           .mask = tensor(call.mask),
                           .bias = tensor(call.bias),
                           .softcap = call.softcap,
                           .alibi_slopes = vector(call.alibi_slopes),
                           .sinks = vector(call.sinks),
                           .q_lengths = vector(call.q_lengths),
                           .kv_lengths = vector(call.kv_lengths),
                           .dropout = call.dropout,
                           .seed = call.seed};
  if (!std::isnan(call.scale)) options.scale = call.scale;
  if (call.has_q_offset != 0) options.q_offset = call.q_offset;
  if (call.has_kv_offset != 0) options.kv_offset = call.kv_offset;
  return options;
}

}  // namespace foveate::web

#endif  // FOVEATE_WEB_ENGINE_CALL_H_
