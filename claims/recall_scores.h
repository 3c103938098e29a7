// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#ifndef FOVEATE_CLAIMS_RECALL_SCORES_H_
#define FOVEATE_CLAIMS_RECALL_SCORES_H_

#include <utility>
#include <vector>

#include "claims/recall.h"
#include "foveate/attention.h"
#include "foveate/attention_backward.h"

namespace foveate::claims {

/// q . k / divisor
class DotScore : public RecallScore {
 public:
  explicit DotScore(double divisor) : divisor_(divisor) {}

  std::vector<std::pair<int32_t, int32_t>> own(const RecallShape& shape) const override;
  Status attend(const RecallShape& shape, const float* own, RecallPass<float>* pass) const override;
  Status attend(const RecallShape& shape, const double* own, RecallPass<double>* pass) const override;
  Status differentiate(const RecallShape& shape, const float* own, const RecallPass<float>& pass,
                       RecallGradients* gradients, float* d_own) const override;

 private:
  double divisor_;
};

/// w . tanh(W_q q + W_k k + b), with as many features as q has components.
class AdditiveScore : public RecallScore {
 public:
  std::vector<std::pair<int32_t, int32_t>> own(const RecallShape& shape) const override;
  Status attend(const RecallShape& shape, const float* own, RecallPass<float>* pass) const override;
  Status attend(const RecallShape& shape, const double* own, RecallPass<double>* pass) const override;
  Status differentiate(const RecallShape& shape, const float* own, const RecallPass<float>& pass,
                       RecallGradients* gradients, float* d_own) const override;
};

/// What both give the engine: a query a sequence, and its pairs for keys.
template <class T>
struct RecallViews {
  ConstTensor q, k, v, o, lse;

  RecallViews(const RecallShape& s, const RecallPass<T>& pass)
      : q(view(pass.q.data(), s.batch, 1, 1, s.d_k)),
        k(view(pass.k.data(), s.batch, 1, s.pairs, s.d_k)),
        v(view(pass.v.data(), s.batch, 1, s.pairs, s.d_v)),
        o(view(pass.o.data(), s.batch, 1, 1, s.d_v)),
        lse(view(pass.lse.data(), s.batch, 1, 1, 1)) {}
};

template <class T>
AttentionOutputs recall_outputs(const RecallShape& s, RecallPass<T>* pass) {
  return {.o = view(pass->o.data(), s.batch, 1, 1, s.d_v),
          .lse = view(pass->lse.data(), s.batch, 1, 1, 1),
          .weights = view(pass->weights.data(), s.batch, 1, 1, s.pairs)};
}

inline ConstTensor recall_d_o(const RecallShape& s, const RecallGradients& gradients) {
  return view(gradients.o.data(), s.batch, 1, 1, s.d_v);
}

inline AttentionGradients recall_gradients(const RecallShape& s, RecallGradients* gradients) {
  return {.dq = view(gradients->q.data(), s.batch, 1, 1, s.d_k),
          .dk = view(gradients->k.data(), s.batch, 1, s.pairs, s.d_k),
          .dv = view(gradients->v.data(), s.batch, 1, s.pairs, s.d_v)};
}

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_RECALL_SCORES_H_
