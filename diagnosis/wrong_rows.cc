// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/wrong_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "diagnosis/rows.h"

namespace foveate::diagnosis {
namespace {

struct Apart {
  double largest = 0, squares = 0;
  bool within = true;  ///< the row's tolerances
};

/// How far a variant's row is from somebody's; nothing where either is not finite, or has nothing to say.
std::optional<Apart> apart(const Problem& problem, const Variant& variant, Rows& rows, RowIndex at) {
  if (variant.exchanged) std::swap(at.h, at.i);
  const Row& row = rows.row(at.b, at.h, at.i);
  if (row.empty || row.open || row.beyond) return {};
  const double* mine = problem.data(Source::out) + variant.out.row(at.b, at.h, at.i);
  Apart found;
  for (size_t d = 0; d < row.o.size(); ++d) {
    const double difference = std::abs(mine[d] - row.o[d]);
    if (!std::isfinite(difference)) return {};
    found.largest = std::max(found.largest, difference);
    found.squares += difference * difference;
    found.within = found.within && difference <= row.tolerance[d];
  }
  return found;
}

}  // namespace

WrongRows wrong_rows(const AttentionShape& s, const Judged& judged) {
  WrongRows found{.first = s.n_q, .last = -1, .heads = {}};
  for (int64_t b = 0; b < s.b; ++b) {
    for (int64_t h = 0; h < s.h_q; ++h) {
      const char* right = judged.right.data() + (b * s.h_q + h) * s.n_q;
      bool any = false;
      for (int64_t i = 0; i < s.n_q; ++i) {
        if (right[i] != 0) continue;
        any = true;
        found.first = std::min(found.first, i);
        found.last = std::max(found.last, i);
      }
      if (any) found.heads.emplace_back(b, h);
    }
  }
  return found;
}

std::vector<RowIndex> wrong_rows_to_compare(const AttentionShape& s, const Judged& judged, size_t most) {
  std::vector<RowIndex> all;
  for (size_t row = 0; row < judged.right.size(); ++row) {
    if (!judged.right[row]) all.push_back(index_of(s, judged, static_cast<int64_t>(row)));
  }
  if (all.size() <= most) return all;
  std::vector<RowIndex> some;
  std::mt19937_64 random(3);
  std::ranges::sample(all, std::back_inserter(some), static_cast<std::ptrdiff_t>(most), random);
  return some;
}

bool explains_what_right_does_not(const Problem& problem, const Variant& variant, const std::vector<RowIndex>& rows) {
  constexpr size_t kLeast = 4, kEnough = 256;
  constexpr double kNearer = 4;
  const Variant right = right_way(problem);
  Rows of_right(problem, right, true), of_variant(problem, variant, true);
  size_t told = 0;
  for (size_t n = 0; n < rows.size() && told < kEnough; ++n) {
    const std::optional<Apart> from_variant = apart(problem, variant, of_variant, rows[n]);
    const std::optional<Apart> from_right = apart(problem, right, of_right, rows[n]);
    if (!from_variant || !from_right) continue;
    if (kNearer * from_variant->largest > from_right->largest) return false;
    ++told;
  }
  return told >= kLeast;
}

bool nearer_than_right(const Problem& problem, const Variant& variant, const std::vector<RowIndex>& rows) {
  constexpr double kNearer = 2;
  const Variant right = right_way(problem);
  Rows of_right(problem, right, true), of_variant(problem, variant, true);
  double squares = 0, squares_of_right = 0;
  for (const RowIndex& at : rows) {
    if (!at.wrong) continue;
    const std::optional<Apart> from_variant = apart(problem, variant, of_variant, at);
    const std::optional<Apart> from_right = apart(problem, right, of_right, at);
    if (!from_variant || !from_right) continue;
    if (problem.has_lse() && size_of(problem.precision()) > 2 && from_right->within) continue;  // lse is what is wrong
    squares += from_variant->squares;
    squares_of_right += from_right->squares;
  }
  return kNearer * kNearer * squares <= squares_of_right;
}

Hint hint_of(const Problem& problem, const Judged& judged) {
  constexpr size_t kMost = 128;
  std::vector<RowIndex> all;
  for (size_t row = 0; row < judged.right.size(); ++row) {
    all.push_back(index_of(problem.shape(), judged, static_cast<int64_t>(row)));
  }
  std::mt19937_64 random(5);
  std::ranges::shuffle(all, random);
  const Variant right = right_way(problem);
  Rows rows(problem, right, true);
  // Of right rows and of wrong ones: the fewest and the most keys that one of them sees.
  size_t seen[2] = {}, fewest[2] = {SIZE_MAX, SIZE_MAX}, most[2] = {};
  for (const RowIndex& at : all) {
    if (seen[at.wrong] == kMost) continue;
    rows.row(at.b, at.h, at.i);
    const auto keys =
        static_cast<size_t>(std::ranges::count_if(rows.weights(), [](double weight) { return weight > 0; }));
    if (keys == 0) continue;
    ++seen[at.wrong];
    fewest[at.wrong] = std::min(fewest[at.wrong], keys);
    most[at.wrong] = std::max(most[at.wrong], keys);
  }
  if (seen[0] == 0 || seen[1] == 0) return Hint::none;
  if (most[0] == 1 && fewest[1] > 1) return Hint::scores;
  const auto n_kv = static_cast<size_t>(problem.shape().n_kv);
  return fewest[0] == n_kv && most[1] < n_kv ? Hint::masking : Hint::none;
}

}  // namespace foveate::diagnosis
