// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/recall_scores.h"
#include "foveate/additive.h"

namespace foveate::claims {
namespace {

/// Where its parameters lie: W_q, W_k, w, b.
template <class T>
struct Own {
  T *w_q, *w_k, *w, *b;

  Own(T* own, int64_t d) : w_q(own), w_k(w_q + d * d), w(w_k + d * d), b(w + d) {}
};

template <class T>
AdditiveParameters parameters_at(const T* own, int64_t d) {
  const Own<const T> at(own, d);
  return {.w_q = view(at.w_q, d, d), .w_k = view(at.w_k, d, d), .w = view(at.w, d), .b = view(at.b, d)};
}

template <class T>
Status attend_by(const RecallShape& shape, const T* own, RecallPass<T>* pass) {
  const RecallViews<T> of(shape, *pass);
  return additive_attention(of.q, of.k, of.v, parameters_at(own, shape.d_k), recall_outputs(shape, pass));
}

}  // namespace

std::vector<std::pair<int32_t, int32_t>> AdditiveScore::own(const RecallShape& shape) const {
  return {{shape.d_k, shape.d_k}, {shape.d_k, shape.d_k}, {1, shape.d_k}, {1, shape.d_k}};
}

Status AdditiveScore::attend(const RecallShape& shape, const float* own, RecallPass<float>* pass) const {
  return attend_by(shape, own, pass);
}

Status AdditiveScore::attend(const RecallShape& shape, const double* own, RecallPass<double>* pass) const {
  return attend_by(shape, own, pass);
}

Status AdditiveScore::differentiate(const RecallShape& shape, const float* own, const RecallPass<float>& pass,
                                    RecallGradients* gradients, float* d_own) const {
  const RecallViews<float> of(shape, pass);
  const int64_t d = shape.d_k;
  const Own<float> at(d_own, d);
  AdditiveGradients wanted;
  static_cast<AttentionGradients&>(wanted) = recall_gradients(shape, gradients);
  wanted.dw_q = view(at.w_q, d, d);
  wanted.dw_k = view(at.w_k, d, d);
  wanted.dw = view(at.w, d);
  wanted.db = view(at.b, d);
  return additive_attention_backward(of.q, of.k, of.v, parameters_at(own, d), of.o, of.lse,
                                     recall_d_o(shape, *gradients), wanted);
}

}  // namespace foveate::claims
