// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The backward pass of attention with all its options.
#include "foveate/attention_backward.h"
#include "gradients.h"

namespace foveate::web {

int32_t fv_attention_backward(const Call* call, const BackwardCall* backward) {
  const AttentionGradients gradients{.dq = tensor(backward->dq),
                                     .dk = tensor(backward->dk),
                                     .dv = tensor(backward->dv),
                                     .dbias = tensor(backward->dbias),
                                     .dsinks = vector(backward->dsinks)};
  return report(attention_backward(tensor(call->q), tensor(call->k), tensor(call->v), tensor(call->o),
                                   tensor(call->lse), tensor(backward->d_o), gradients, options_of(*call)));
}

}  // namespace foveate::web
