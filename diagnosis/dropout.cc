// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/dropout.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "diagnosis/randomness.h"
#include "diagnosis/rows.h"

namespace foveate::diagnosis {
namespace {

constexpr int64_t kMostKeys = 128;     ///< of a row that is solved for
constexpr double kTolerance = 0.03;    ///< of a ratio of weights
constexpr double kLeastShare = 0.001;  ///< of a row's weight; smaller ones tell little

/// A row's weights beside those that it should have.
struct Solved {
  RowIndex row;
  std::vector<int64_t> keys;
  Eigen::VectorXd right, found;
  double tolerance = 0;  ///< of the row's elements
  double least = 0;      ///< singular value: how much less noise a row has than its weights
  double squares = 0;    ///< of what no weights make
  int64_t freedom = 0;   ///< components that are more than the keys
};

/// Thrown where a row can be solved for, but no weights of its keys make it: then it is no dropout.
struct Contradiction {};

class Solver {
 public:
  Solver(const Problem& problem, const Variant& variant)
      : problem_(problem), variant_(variant), rows_(problem, variant, true) {}

  std::optional<Solved> solve(const RowIndex& at) {
    Solved solved{.row = at, .keys = {}, .right = {}, .found = {}};
    const Row& row = rows_.row(at.b, at.h, at.i);
    const auto depth = static_cast<int64_t>(row.o.size());
    for (size_t j = 0; j < rows_.weights().size(); ++j) {
      if (rows_.weights()[j] > 0) solved.keys.push_back(static_cast<int64_t>(j));
    }
    const auto n = static_cast<int64_t>(solved.keys.size());
    if (row.empty || n < 1 || n > std::min(depth, kMostKeys) || !decompose(at, solved.keys, depth)) return {};
    solved.right.resize(n);
    for (int64_t c = 0; c < n; ++c) solved.right[c] = rows_.weights()[static_cast<size_t>(solved.keys[c])];
    const double* mine = problem_.data(Source::out) + variant_.out.row(at.b, at.h, at.i);
    if (!std::all_of(mine, mine + depth, [](double x) { return std::isfinite(x); })) throw Contradiction();
    const Eigen::VectorXd o = Eigen::Map<const Eigen::VectorXd>(mine, depth);
    solved.found = svd_.solve(o);
    const Eigen::VectorXd left = values_ * solved.found - o;
    solved.tolerance = *std::max_element(row.tolerance.begin(), row.tolerance.end()) +
                       half_step(problem_.precision()) * o.cwiseAbs().maxCoeff();
    // A kept weight may be several times what it should be, and so its error.
    if (left.cwiseAbs().maxCoeff() > 10 * solved.tolerance) throw Contradiction();
    solved.least = svd_.singularValues()[n - 1];
    solved.squares = left.squaredNorm();
    solved.freedom = depth - n;
    return solved;
  }

  const Rows& rows() const { return rows_; }

 private:
  /// Of the values of these keys; the last ones are kept, for rows of a head often have the same. false where they depend on
  /// each other.
  bool decompose(const RowIndex& at, const std::vector<int64_t>& keys, int64_t depth) {
    if (b_ != at.b || h_ != at.h || keys != keys_) {
      b_ = at.b;
      h_ = at.h;
      keys_ = keys;
      values_.resize(depth, static_cast<Eigen::Index>(keys.size()));
      for (size_t c = 0; c < keys.size(); ++c) {
        values_.col(static_cast<Eigen::Index>(c)) =
            Eigen::Map<const Eigen::VectorXd>(rows_.value(at.b, at.h, keys[c]), depth);
      }
      finite_ = values_.allFinite();
      if (finite_) svd_.compute(values_, Eigen::ComputeThinU | Eigen::ComputeThinV);
    }
    return finite_ && svd_.singularValues().tail<1>()[0] > 1e-6 * svd_.singularValues()[0];
  }

  const Problem& problem_;
  const Variant& variant_;
  Rows rows_;
  int64_t b_ = -1, h_ = -1;
  std::vector<int64_t> keys_;
  Eigen::MatrixXd values_;
  Eigen::JacobiSVD<Eigen::MatrixXd> svd_;
  bool finite_ = false;
};

/// How large the noise of an element is beside its tolerance, at most: as what no weights make tells, over all rows.
double noise_of(const std::vector<Solved>& all) {
  double squares = 0, freedom = 0;
  for (const Solved& one : all) {
    squares += one.squares / (one.tolerance * one.tolerance);
    freedom += static_cast<double>(one.freedom);
  }
  constexpr double kEnough = 16;
  return freedom < kEnough ? 10 : std::min(10.0, std::max(8 * std::sqrt(squares / freedom), 1e-3));
}

/// Weights that are far larger than their error, each beside the one that was found.
struct Told {
  std::vector<Drawn> weights;
  std::vector<double> ratios;  ///< found over right
};

Told told_by(const std::vector<Solved>& all) {
  Told told;
  const double noise = noise_of(all);
  for (const Solved& one : all) {
    const double error = noise * one.tolerance * std::sqrt(static_cast<double>(one.right.size())) / one.least;
    for (Eigen::Index j = 0; j < one.right.size(); ++j) {
      const double weight = one.right[j];
      if (weight < kLeastShare || error > 0.3 * kTolerance * weight) continue;
      const int64_t rank = (one.right.array() > weight).count();
      told.weights.push_back({one.row.b, one.row.h, one.row.i, one.keys[static_cast<size_t>(j)], rank, weight, false});
      told.ratios.push_back(one.found[j] / weight);
    }
  }
  return told;
}

/// The one ratio that all have which are not 0; nothing where some have another. Zeros are marked.
std::optional<double> common_factor(Told& told) {
  std::vector<double> kept;
  for (size_t n = 0; n < told.ratios.size(); ++n) {
    told.weights[n].zero = told.ratios[n] < 0.5;
    if (!told.weights[n].zero) kept.push_back(told.ratios[n]);
  }
  if (kept.empty()) return {};
  std::ranges::sort(kept);
  const double factor = kept[kept.size() / 2];
  for (const double ratio : told.ratios) {
    const bool either = ratio < 0.5 ? std::abs(ratio) < kTolerance : std::abs(ratio - factor) < kTolerance * factor;
    if (!either) return {};
  }
  if (factor < 1 - kTolerance / 10) return {};
  return factor;
}

double residual_of(const Problem& problem, const Variant& variant, const Rows& rows, const std::vector<Solved>& all,
                   double factor) {
  double residual = 0;
  const View out = variant.out;
  for (const Solved& one : all) {
    const double* mine = problem.data(Source::out) + out.row(one.row.b, one.row.h, one.row.i);
    for (int64_t d = 0; d < problem.shape().d_v; ++d) {
      double o = 0;
      for (size_t j = 0; j < one.keys.size(); ++j) {
        const auto at = static_cast<Eigen::Index>(j);
        const bool kept = one.found[at] > factor / 2 * one.right[at];
        if (kept) o += factor * one.right[at] * rows.value(one.row.b, one.row.h, one.keys[j])[d];
      }
      residual = std::max(residual, std::abs(mine[d] - o));
    }
  }
  return residual;
}

}  // namespace

std::optional<Dropout> find_dropout(const Problem& problem, const std::vector<RowIndex>& rows) try {
  const Variant variant = right_way(problem);
  Solver solver(problem, variant);
  std::vector<Solved> all;
  for (const RowIndex& at : rows) {
    if (std::optional<Solved> solved = solver.solve(at)) all.push_back(std::move(*solved));
  }
  Told told = told_by(all);
  const std::optional<double> factor = common_factor(told);
  if (!factor) return {};
  Dropout dropout;
  dropout.rescaled = *factor > 1 + kTolerance / 10;
  dropout.probability = dropout.rescaled ? 1 - 1 / *factor
                                         : static_cast<double>(std::ranges::count_if(told.weights, &Drawn::zero)) /
                                               static_cast<double>(told.weights.size());
  if (!drawn_at_random(told.weights, dropout.probability)) return {};
  dropout.rows = static_cast<int64_t>(all.size());
  dropout.residual = residual_of(problem, variant, solver.rows(), all, dropout.rescaled ? *factor : 1);
  return dropout;
} catch (const Contradiction&) {
  return {};
}

}  // namespace foveate::diagnosis
