// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "claims/recall.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foveate::claims {
namespace {

/// y [m][w.rows] = x [m][w.columns] . w^T
template <class T>
void project(const T* x, int32_t m, const T* parameters, const Parameter& w, T* y) {
  for (int32_t i = 0; i < m; ++i) {
    for (int32_t row = 0; row < w.rows; ++row) {
      const T* weights = parameters + w.first + static_cast<size_t>(row) * w.columns;
      T sum = 0;
      for (int32_t c = 0; c < w.columns; ++c) sum += x[i * w.columns + c] * weights[c];
      y[i * w.rows + row] = sum;
    }
  }
}

/// What y's gradient gives to x's and to w's, both added to; w's lies in `gradient` as w does in `parameters`.
void project_back(const float* x, int32_t m, const float* parameters, const Parameter& w, const float* d_y, float* d_x,
                  float* gradient) {
  for (int32_t i = 0; i < m; ++i) {
    for (int32_t row = 0; row < w.rows; ++row) {
      const float d = d_y[i * w.rows + row];
      const size_t at = w.first + static_cast<size_t>(row) * w.columns;
      for (int32_t c = 0; c < w.columns; ++c) {
        d_x[i * w.columns + c] += d * parameters[at + c];
        gradient[at + c] += d * x[i * w.columns + c];
      }
    }
  }
}

template <class T>
void add(const T* x, int32_t n, T* to) {
  for (int32_t i = 0; i < n; ++i) to[i] += x[i];
}

size_t area(int32_t rows, int32_t columns) { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }

/// The two rows of E that make the pair at `place` of the batch.
struct Pair {
  int32_t key, value;
};

Pair pair_at(const RecallShape& s, const RecallBatch& batch, int32_t place) {
  const auto at = static_cast<size_t>(place);
  return {batch.keys[at], s.symbols + batch.values[at]};
}

int32_t place_asked(const RecallShape& s, const RecallBatch& batch, int32_t i) {
  return i * s.pairs + batch.asked[static_cast<size_t>(i)];
}

/// softmax in place; gives the logarithm of the probability of `right`.
template <class T>
double answer(T* logits, int32_t n, int32_t right) {
  const T most = *std::max_element(logits, logits + n);
  double sum = 0;
  for (int32_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(logits[c] - most));
  const double of_right = logits[right] - most - std::log(sum);
  for (int32_t c = 0; c < n; ++c) logits[c] = static_cast<T>(std::exp(static_cast<double>(logits[c] - most)) / sum);
  return of_right;
}

template <class T>
void bring_in(const RecallShape& s, const RecallParameters& p, const std::vector<T>& parameters,
              const RecallBatch& batch, RecallPass<T>* pass) {
  const int32_t rows = p.embedding.rows;
  const T* embedding = parameters.data() + p.embedding.first;
  std::vector<T> q(area(rows, s.d_k)), k(q.size()), v(area(rows, s.d_v));
  project(embedding, rows, parameters.data(), p.w_q, q.data());
  project(embedding, rows, parameters.data(), p.w_k, k.data());
  project(embedding, rows, parameters.data(), p.w_v, v.data());
  pass->q.assign(area(s.batch, s.d_k), T{0});
  pass->k.assign(area(s.batch * s.pairs, s.d_k), T{0});
  pass->v.assign(area(s.batch * s.pairs, s.d_v), T{0});
  for (int32_t i = 0; i < s.batch; ++i) {
    const Pair asked = pair_at(s, batch, place_asked(s, batch, i));
    add(&q[area(asked.key, s.d_k)], s.d_k, &pass->q[area(i, s.d_k)]);
  }
  for (int32_t place = 0; place < s.batch * s.pairs; ++place) {
    const Pair pair = pair_at(s, batch, place);
    for (const int32_t row : {pair.key, pair.value}) {
      add(&k[area(row, s.d_k)], s.d_k, &pass->k[area(place, s.d_k)]);
      add(&v[area(row, s.d_v)], s.d_v, &pass->v[area(place, s.d_v)]);
    }
  }
}

}  // namespace

RecallBatch draw_recall(const RecallShape& s, Random& random) {
  RecallBatch batch;
  std::vector<int32_t> keys(static_cast<size_t>(s.symbols));
  std::iota(keys.begin(), keys.end(), 0);
  for (int32_t i = 0; i < s.batch; ++i) {
    for (int32_t j = 0; j < s.pairs; ++j) {  // the first of a shuffle
      const int32_t drawn = j + random.below(s.symbols - j);
      std::swap(keys[static_cast<size_t>(j)], keys[static_cast<size_t>(drawn)]);
      batch.keys.push_back(keys[static_cast<size_t>(j)]);
      batch.values.push_back(random.below(s.symbols));
    }
    batch.asked.push_back(random.below(s.pairs));
  }
  return batch;
}

RecallParameters::RecallParameters(const RecallShape& s, const RecallScore& score) {
  const auto next = [this](int32_t rows, int32_t columns) {
    const Parameter parameter{size, rows, columns};
    size += parameter.size();
    return parameter;
  };
  size = 0;
  embedding = next(2 * s.symbols, s.d_model);
  w_q = next(s.d_k, s.d_model);
  w_k = next(s.d_k, s.d_model);
  w_v = next(s.d_v, s.d_model);
  w_o = next(s.symbols, s.d_v);
  for (const auto& [rows, columns] : score.own(s)) own.push_back(next(rows, columns));
}

std::vector<Parameter> RecallParameters::all() const {
  std::vector<Parameter> all = {embedding, w_q, w_k, w_v, w_o};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::vector<float> initial_recall(const RecallShape& s, const RecallScore& score, Normal& normal) {
  const RecallParameters p(s, score);
  std::vector<float> parameters(p.size);
  for (const Parameter& parameter : p.all()) {
    const double deviation = parameter.first == p.embedding.first ? 1 : 1 / std::sqrt(parameter.columns);
    for (size_t i = 0; i < parameter.size(); ++i) {
      parameters[parameter.first + i] = static_cast<float>(deviation * normal());
    }
  }
  return parameters;
}

template <class T>
Status recall(const RecallShape& s, const RecallScore& score, const std::vector<T>& parameters,
              const RecallBatch& batch, RecallPass<T>* pass) {
  const RecallParameters p(s, score);
  bring_in(s, p, parameters, batch, pass);
  pass->o.resize(area(s.batch, s.d_v));
  pass->lse.resize(static_cast<size_t>(s.batch));
  pass->weights.resize(area(s.batch, s.pairs));
  if (Status status = score.attend(s, parameters.data() + p.first_own(), pass); !status.ok()) return status;
  pass->answers.resize(area(s.batch, s.symbols));
  project(pass->o.data(), s.batch, parameters.data(), p.w_o, pass->answers.data());
  pass->loss = pass->largest_weight = 0;
  pass->right = 0;
  for (int32_t i = 0; i < s.batch; ++i) {
    T* const logits = &pass->answers[area(i, s.symbols)];
    const int32_t right = batch.values[static_cast<size_t>(place_asked(s, batch, i))];
    pass->right += std::max_element(logits, logits + s.symbols) - logits == right;
    pass->loss -= answer(logits, s.symbols, right) / s.batch;
    const T* const weights = &pass->weights[area(i, s.pairs)];
    pass->largest_weight += static_cast<double>(*std::max_element(weights, weights + s.pairs)) / s.batch;
  }
  return {};
}

template Status recall(const RecallShape&, const RecallScore&, const std::vector<float>&, const RecallBatch&,
                       RecallPass<float>*);
template Status recall(const RecallShape&, const RecallScore&, const std::vector<double>&, const RecallBatch&,
                       RecallPass<double>*);

Status recall_gradient(const RecallShape& s, const RecallScore& score, const std::vector<float>& parameters,
                       const RecallBatch& batch, const RecallPass<float>& pass, std::vector<float>* gradient) {
  const RecallParameters p(s, score);
  gradient->assign(p.size, 0);
  std::vector<float> d_logits = pass.answers;  // the probabilities, less 1 for the right one
  for (int32_t i = 0; i < s.batch; ++i) {
    d_logits[area(i, s.symbols) + batch.values[static_cast<size_t>(place_asked(s, batch, i))]] -= 1;
  }
  for (float& d : d_logits) d /= static_cast<float>(s.batch);
  const auto zeros = [](const std::vector<float>& like) { return std::vector<float>(like.size()); };
  RecallGradients d{zeros(pass.q), zeros(pass.k), zeros(pass.v), zeros(pass.o)};
  project_back(pass.o.data(), s.batch, parameters.data(), p.w_o, d_logits.data(), d.o.data(), gradient->data());
  if (Status status =
          score.differentiate(s, parameters.data() + p.first_own(), pass, &d, gradient->data() + p.first_own());
      !status.ok()) {
    return status;
  }

  const int32_t rows = p.embedding.rows;
  std::vector<float> of_q(area(rows, s.d_k)), of_k(of_q.size()), of_v(area(rows, s.d_v));
  for (int32_t i = 0; i < s.batch; ++i) {
    const Pair asked = pair_at(s, batch, place_asked(s, batch, i));
    add(&d.q[area(i, s.d_k)], s.d_k, &of_q[area(asked.key, s.d_k)]);
  }
  for (int32_t place = 0; place < s.batch * s.pairs; ++place) {
    const Pair pair = pair_at(s, batch, place);
    for (const int32_t row : {pair.key, pair.value}) {
      add(&d.k[area(place, s.d_k)], s.d_k, &of_k[area(row, s.d_k)]);
      add(&d.v[area(place, s.d_v)], s.d_v, &of_v[area(row, s.d_v)]);
    }
  }
  const float* const embedding = parameters.data() + p.embedding.first;
  float* const d_embedding = gradient->data() + p.embedding.first;
  project_back(embedding, rows, parameters.data(), p.w_q, of_q.data(), d_embedding, gradient->data());
  project_back(embedding, rows, parameters.data(), p.w_k, of_k.data(), d_embedding, gradient->data());
  project_back(embedding, rows, parameters.data(), p.w_v, of_v.data(), d_embedding, gradient->data());
  return {};
}

}  // namespace foveate::claims
