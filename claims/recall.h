// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Associative recall and the smallest model of attention that can learn it.
//
//   task    pairs of a key symbol a_j and a value symbol b_j, the a_j all different; one a_j is asked: say its b_j
//   model   x_j = E[a_j] + E[b_j], x = E[a asked]; q = W_q x, k_j = W_k x_j, v_j = W_v x_j
//           o = sum_j softmax_j(score(q, k_j)) v_j; the answer's probabilities = softmax(W_o o)
//   loss    cross-entropy, the mean over a batch
//
// Models differ in their score alone. Attention and its gradients are the engine's. A row of E is projected once, not at
// each place where its symbol stands: with few symbols that would be most of the work.
#ifndef FOVEATE_CLAIMS_RECALL_H_
#define FOVEATE_CLAIMS_RECALL_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "claims/random.h"
#include "foveate/status.h"

namespace foveate::claims {

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

/// What a pass over a batch gives, and what the backward pass needs of it.
template <class T>
struct RecallPass {
  double loss = 0;
  int32_t right = 0;          ///< answers
  double largest_weight = 0;  ///< the mean

  std::vector<T> q, k, v, o, lse, weights;  ///< of attention
  std::vector<T> answers;                   ///< [batch][symbols]: probabilities
};

/// The gradients of attention's arrays; each has the size of its array.
struct RecallGradients {
  std::vector<float> q, k, v, o;
};

/// How q and k make scores, and with them o, lse and weights: by the engine, in float32 and, for checks, in float64.
class RecallScore {
 public:
  virtual ~RecallScore() = default;

  /// Rows and columns of the parameters it has itself, behind the model's in memory: `own` below is where they begin.
  virtual std::vector<std::pair<int32_t, int32_t>> own(const RecallShape& shape) const = 0;

  virtual Status attend(const RecallShape& shape, const float* own, RecallPass<float>* pass) const = 0;
  virtual Status attend(const RecallShape& shape, const double* own, RecallPass<double>* pass) const = 0;

  /// From gradients->o those of q, k and v, and of its own parameters.
  virtual Status differentiate(const RecallShape& shape, const float* own, const RecallPass<float>& pass,
                               RecallGradients* gradients, float* d_own) const = 0;
};

/// A parameter's place among all: rows of `columns`.
struct Parameter {
  size_t first;
  int32_t rows, columns;

  size_t size() const { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }
};

struct RecallParameters {
  RecallParameters(const RecallShape& shape, const RecallScore& score);
  Parameter embedding, w_q, w_k, w_v, w_o;
  std::vector<Parameter> own;  ///< the score's
  size_t size;

  size_t first_own() const { return w_o.first + w_o.size(); }
  std::vector<Parameter> all() const;
};

/// Embeddings N(0, 1), all else N(0, 1 / columns): those of the model first, the same whatever the score.
std::vector<float> initial_recall(const RecallShape& shape, const RecallScore& score, Normal& normal);

template <class T>
Status recall(const RecallShape& shape, const RecallScore& score, const std::vector<T>& parameters,
              const RecallBatch& batch, RecallPass<T>* pass);

/// The loss's gradient, of the parameters' size.
Status recall_gradient(const RecallShape& shape, const RecallScore& score, const std::vector<float>& parameters,
                       const RecallBatch& batch, const RecallPass<float>& pass, std::vector<float>* gradient);

}  // namespace foveate::claims

#endif  // FOVEATE_CLAIMS_RECALL_H_
