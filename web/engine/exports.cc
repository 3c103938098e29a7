// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention with all its options.
#include "exports.h"

#include "foveate/attention.h"

namespace foveate::web {
namespace {

/// Entry j of an axis alone. An axis of extent 1 is left as it is: it is broadcast.
ConstTensor only(ConstTensor view, int axis, int64_t j) {
  if (!view.present() || view.shape[axis] == 1) return view;
  view.data = static_cast<const char*>(view.data) + j * view.stride[axis] * size_of(view.dtype);
  view.shape[axis] = 1;
  return view;
}

bool fits(const ConstTensor& view, int axis, int64_t extent) {
  return !view.present() || view.shape[axis] == 1 || view.shape[axis] == extent;
}

}  // namespace

int32_t fv_attention(const Call* call) {
  const AttentionOutputs outputs{.o = tensor(call->o), .lse = tensor(call->lse), .weights = tensor(call->weights)};
  return report(attention(tensor(call->q), tensor(call->k), tensor(call->v), outputs, options_of(*call)));
}

int32_t fv_scores(const Call* call, void* scores) {
  const ConstTensor q = tensor(call->q), k = tensor(call->k), v = tensor(call->v);
  const int64_t n_q = q.shape[2], n_kv = k.shape[2];
  AttentionOptions options = options_of(*call);
  if (options.q_lengths.present() || options.kv_lengths.present()) return refuse("scores: lengths are not taken");
  if (v.shape[2] != n_kv || !fits(options.mask, 3, n_kv) || !fits(options.bias, 3, n_kv)) {
    return refuse("scores: v, mask and bias must have as many keys as k, %d", static_cast<int>(n_kv));
  }
  options.sinks = {};
  if (!options.q_offset) options.q_offset = options.align == Align::bottom_right ? n_kv - n_q : 0;
  const int64_t kv_offset = options.kv_offset.value_or(0);
  Tensor one{scores, q.dtype, {q.shape[0], q.shape[1], n_q, 1}, {q.shape[1] * n_q * n_kv, n_q * n_kv, n_kv, 1}};
  for (int64_t j = 0; j < n_kv; ++j) {
    AttentionOptions alone = options;
    alone.kv_offset = kv_offset + j;
    alone.mask = only(options.mask, 3, j);
    alone.bias = only(options.bias, 3, j);
    one.data = static_cast<char*>(scores) + j * size_of(q.dtype);
    const Status status = attention(q, only(k, 2, j), only(v, 2, j), {.lse = one}, alone);
    if (!status.ok()) return report(status);
  }
  return 0;
}

}  // namespace foveate::web
