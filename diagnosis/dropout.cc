// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/dropout.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "diagnosis/rows.h"

namespace foveate::diagnosis {
namespace {

constexpr int64_t kMostKeys = 256;     ///< of a row that is solved for
constexpr size_t kLeastWeights = 16;   ///< that have to be seen
constexpr double kTolerance = 0.03;    ///< of a ratio of weights
constexpr double kLeastShare = 0.001;  ///< of a row's weight; smaller ones tell little

/// A row's weights beside those that it should have.
struct Solved {
  RowIndex row;
  std::vector<int64_t> keys;
  Eigen::VectorXd right, found;
  double error;  ///< of each weight found
};

std::optional<Solved> solve(const Problem& problem, const Variant& variant, Rows& rows, const RowIndex& at) {
  Solved solved{.row = at, .keys = {}, .right = {}, .found = {}, .error = 0};
  const Row& row = rows.row(at.b, at.h, at.i);
  const auto depth = static_cast<int64_t>(row.o.size());
  for (size_t j = 0; j < rows.weights().size(); ++j) {
    if (rows.weights()[j] > 0) solved.keys.push_back(static_cast<int64_t>(j));
  }
  const auto n = static_cast<int64_t>(solved.keys.size());
  if (row.empty || n < 2 || n > std::min(depth, kMostKeys)) return {};
  const double* mine = problem.data(Source::out) + variant.out.row(at.b, at.h, at.i);
  if (!std::all_of(mine, mine + depth, [](double x) { return std::isfinite(x); })) return {};
  Eigen::MatrixXd values(depth, n);
  solved.right.resize(n);
  for (int64_t c = 0; c < n; ++c) {
    values.col(c) = Eigen::Map<const Eigen::VectorXd>(rows.value(at.b, at.h, solved.keys[c]), depth);
    solved.right[c] = rows.weights()[solved.keys[c]];
  }
  if (!values.allFinite()) return {};
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(values, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const double least = svd.singularValues()[n - 1];
  if (least <= 1e-6 * svd.singularValues()[0]) return {};
  const Eigen::VectorXd o = Eigen::Map<const Eigen::VectorXd>(mine, depth);
  solved.found = svd.solve(o);
  const double tolerance = *std::max_element(row.tolerance.begin(), row.tolerance.end());
  // What no weights of these keys make is no dropout. A kept weight may be several times what it should be, and so its error.
  if ((values * solved.found - o).cwiseAbs().maxCoeff() > 10 * tolerance) return {};
  solved.error = 10 * tolerance * std::sqrt(static_cast<double>(depth)) / least;
  return solved;
}

/// Ratios of the weights that are far larger than their error.
std::vector<double> ratios_of(const std::vector<Solved>& all) {
  std::vector<double> ratios;
  for (const Solved& one : all) {
    for (Eigen::Index j = 0; j < one.right.size(); ++j) {
      if (one.right[j] < kLeastShare || one.error > 0.3 * kTolerance * one.right[j]) continue;
      ratios.push_back(one.found[j] / one.right[j]);
    }
  }
  return ratios;
}

double residual_of(const Problem& problem, const Variant& variant, Rows& rows, const std::vector<Solved>& all,
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

std::optional<Dropout> find_dropout(const Problem& problem, const std::vector<RowIndex>& rows) {
  const Variant variant = right_way(problem);
  Rows right(problem, variant, true);
  std::vector<Solved> all;
  for (const RowIndex& at : rows) {
    if (std::optional<Solved> solved = solve(problem, variant, right, at)) all.push_back(std::move(*solved));
  }
  std::vector<double> ratios = ratios_of(all);
  std::sort(ratios.begin(), ratios.end());
  const auto kept = std::lower_bound(ratios.begin(), ratios.end(), 0.5);
  const auto n_kept = ratios.end() - kept, n_dropped = kept - ratios.begin();
  if (ratios.size() < kLeastWeights || n_kept < 2 || n_dropped < 2) return {};
  const double factor = kept[n_kept / 2];
  const bool two_kinds =
      std::all_of(ratios.begin(), kept, [](double r) { return std::abs(r) < kTolerance; }) &&
      std::all_of(kept, ratios.end(), [factor](double r) { return std::abs(r - factor) < kTolerance * factor; });
  if (!two_kinds || factor < 1 - kTolerance) return {};
  Dropout dropout;
  dropout.rescaled = factor > 1 + kTolerance / 10;
  dropout.probability =
      dropout.rescaled ? 1 - 1 / factor : static_cast<double>(n_dropped) / static_cast<double>(ratios.size());
  dropout.rows = static_cast<int64_t>(all.size());
  dropout.residual = residual_of(problem, variant, right, all, dropout.rescaled ? factor : 1);
  return dropout;
}

}  // namespace foveate::diagnosis
