// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Associative recall and the smallest model of attention that can learn it.
//
//   task    pairs of a key symbol a_j and a value symbol b_j, the a_j all different; one a_j is asked: say its b_j
//   model   x_j = E[a_j] + E[b_j], x = E[a asked]; q = W_q x, k_j = W_k x_j, v_j = W_v x_j
//           o = sum_j softmax_j(q . k_j / divisor) v_j; the answer's probabilities = softmax(W_o o)
//   loss    cross-entropy, the mean over a batch
//
// Attention and its gradients are the engine's. A row of E is projected once, not at each place where its symbol
// stands: with few symbols that would be most of the work.
#ifndef FOVEATE_WEB_ENGINE_RECALL_H_
#define FOVEATE_WEB_ENGINE_RECALL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "claims/random.h"
#include "foveate/status.h"

namespace foveate::web {

using claims::Normal;
using claims::Random;

struct RecallShape {
  int32_t d_k;
  int32_t symbols = 16;  ///< of keys, and as many of values
  int32_t pairs = 8;
  int32_t batch = 32;
  int32_t d_model = 32;
  int32_t d_v = 32;
};

struct RecallBatch {
  std::vector<int32_t> keys, values;  ///< [batch][pairs]
  std::vector<int32_t> asked;         ///< [batch] the place of the pair
};

RecallBatch draw_recall(const RecallShape& shape, Random& random);

/// A parameter's place among all: rows of `columns`.
struct Parameter {
  size_t first;
  int32_t rows, columns;

  size_t size() const { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }
};

struct RecallParameters {
  explicit RecallParameters(const RecallShape& shape);
  Parameter embedding, w_q, w_k, w_v, w_o;
  size_t size;
};

/// Embeddings N(0, 1), projections N(0, 1 / inputs).
std::vector<float> initial_recall(const RecallShape& shape, Normal& normal);

/// What a pass over a batch gives, and what the backward pass needs of it.
template <class T>
struct RecallPass {
  double loss = 0;
  int32_t right = 0;          ///< answers
  double largest_weight = 0;  ///< the mean

  std::vector<T> q, k, v, o, lse, weights, answers;  ///< answers [batch][symbols]: probabilities
};

template <class T>
Status recall(const RecallShape& shape, double divisor, const std::vector<T>& parameters, const RecallBatch& batch,
              RecallPass<T>* pass);

/// The loss's gradient, of the parameters' size.
Status recall_gradient(const RecallShape& shape, double divisor, const std::vector<float>& parameters,
                       const RecallBatch& batch, const RecallPass<float>& pass, std::vector<float>* gradient);

}  // namespace foveate::web

#endif  // FOVEATE_WEB_ENGINE_RECALL_H_
