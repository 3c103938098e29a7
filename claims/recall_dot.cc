// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/recall_scores.h"

namespace foveate::claims {
namespace {

template <class T>
Status attend_by(double divisor, const RecallShape& shape, RecallPass<T>* pass) {
  const RecallViews<T> of(shape, *pass);
  return attention(of.q, of.k, of.v, recall_outputs(shape, pass), {.scale = 1 / divisor});
}

}  // namespace

std::vector<std::pair<int32_t, int32_t>> DotScore::own(const RecallShape&) const { return {}; }

Status DotScore::attend(const RecallShape& shape, const float*, RecallPass<float>* pass) const {
  return attend_by(divisor_, shape, pass);
}

Status DotScore::attend(const RecallShape& shape, const double*, RecallPass<double>* pass) const {
  return attend_by(divisor_, shape, pass);
}

Status DotScore::differentiate(const RecallShape& shape, const float*, const RecallPass<float>& pass,
                               RecallGradients* gradients, float*) const {
  const RecallViews<float> of(shape, pass);
  return attention_backward(of.q, of.k, of.v, of.o, of.lse, recall_d_o(shape, *gradients),
                            recall_gradients(shape, gradients), {.scale = 1 / divisor_});
}

}  // namespace foveate::claims
