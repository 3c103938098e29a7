// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <random>
#include <utility>

#include "diagnosis/wrong_rows.h"

namespace foveate::diagnosis {
namespace {

constexpr double kBudget = 0x1p33;            ///< multiplications and additions of a comparison on all rows
constexpr int64_t kLeastRows = 1024;          ///< past it
constexpr double kMostOfPair = 0x1p28;        ///< n_q * n_kv * d_k up to which a softmax over queries is tried in pairs
constexpr double kMostOfTransposed = 0x1p26;  ///< and weights that are transposed
constexpr size_t kMostAccepted = 8;           ///< explanations that are compared on all rows

double work_of_row(const Problem& problem) {
  const AttentionShape& s = problem.shape();
  return std::max(1.0, static_cast<double>(s.n_kv) * static_cast<double>(s.d_k + s.d_v));
}

bool in_pool(const Mistake& mistake, bool rounding) {
  return mistake.apply != nullptr && (mistake.kind == Kind::rounding) == rounding;
}

/// Sums over a head, where they are too much work for a pair that is one of many.
bool too_much(const Problem& problem, const Variant& variant) {
  const AttentionShape& s = problem.shape();
  if (!sums_over_head(variant)) return false;
  const double most = variant.afterwards == Afterwards::transposed ? kMostOfTransposed : kMostOfPair;
  return static_cast<double>(s.n_q) * static_cast<double>(s.n_kv) * static_cast<double>(s.d_k) > most;
}

std::vector<Hypothesis> singles(const Problem& problem, bool rounding) {
  std::vector<Hypothesis> all;
  for (const Mistake& mistake : all_mistakes()) {
    Variant variant = right_way(problem);
    if (in_pool(mistake, rounding) && mistake.apply(variant, problem)) all.push_back({{&mistake}, variant});
  }
  return all;
}

/// Where powers overflow, NaN comes of many a pair: what is beside a missing shift has to show in rows that are finite.
bool needs_both(const Problem& problem, const Hypothesis& pair, const std::vector<RowIndex>& rows,
                const Execution& execution) {
  if (pair.mistakes.size() < 2 || pair.variant.shifted) return true;
  for (const Mistake* mistake : pair.mistakes) {
    Variant alone = right_way(problem);
    mistake->apply(alone, problem);
    if (alone.shifted) continue;
    std::vector<RowIndex> finite;
    Rows of_pair(problem, pair.variant, true);
    for (const RowIndex& at : rows) {
      const bool exchanged = pair.variant.exchanged;
      const Row& row = of_pair.row(at.b, exchanged ? at.i : at.h, exchanged ? at.h : at.i);
      const bool counts =
          !row.empty && !row.open && std::ranges::all_of(row.o, [](double x) { return std::isfinite(x); });
      if (counts) finite.push_back(at);
    }
    if (finite.empty() || fit_on(problem, alone, finite, true, execution).accepted(alone.precision)) return false;
  }
  return true;
}

/// More is allowed for the rounding of some mistakes than of what is right, so that noise may be within it: a mistake has to
/// be nearer, too. One of lse, or in empty rows, is not seen in such rows; one that rounds is noise itself.
bool is_told_from_right(const Problem& problem, const Hypothesis& one, const std::vector<RowIndex>& sample) {
  const bool rounds = std::ranges::any_of(one.mistakes, [](const Mistake* m) { return m->kind == Kind::rounding; });
  const bool elsewhere = std::ranges::all_of(
      one.mistakes, [](const Mistake* m) { return m->kind == Kind::lse || m->kind == Kind::empty; });
  return rounds || elsewhere || nearer_than_right(problem, one.variant, sample);
}

}  // namespace

void run_tasks(const Execution& execution, int64_t n, const std::function<void(int64_t)>& task) {
  struct Context {
    const Execution& execution;
    const std::function<void(int64_t)>& task;
    std::atomic<bool> stopped = false, out_of_memory = false;
  } context{execution, task};
  const auto run = [](void* erased, int64_t t, int64_t) {
    auto& c = *static_cast<Context*>(erased);
    if (c.execution.stop != nullptr && *c.execution.stop) {
      c.stopped = true;
      return;
    }
    try {
      c.task(t);
    } catch (const std::bad_alloc&) {  // a task of an executor may not throw
      c.out_of_memory = true;
    }
  };
  if (execution.executor != nullptr) {
    execution.executor->run(n, run, &context);
  } else {
    for (int64_t t = 0; t < n; ++t) run(&context, t, 0);
  }
  if (context.out_of_memory) throw std::bad_alloc();
  if (context.stopped) throw Stopped{};
}

std::vector<Hypothesis> hypotheses(const Problem& problem, Pool pool, bool& left_out) {
  if (pool == Pool::structures || pool == Pool::roundings) return singles(problem, pool == Pool::roundings);
  const std::vector<Mistake>& mistakes = all_mistakes();
  std::vector<Hypothesis> pairs;
  for (size_t first = 0; first < mistakes.size(); ++first) {
    for (size_t second = first + 1; second < mistakes.size(); ++second) {
      const Mistake &one = mistakes[first], &two = mistakes[second];
      if (one.kind == two.kind || !in_pool(one, false)) continue;
      if (!in_pool(two, pool == Pool::pairs_with_rounding)) continue;
      Variant variant = right_way(problem);
      if (!one.apply(variant, problem) || !two.apply(variant, problem)) continue;
      if (too_much(problem, variant)) {
        left_out = true;
      } else {
        pairs.push_back({{&one, &two}, variant});
      }
    }
  }
  return pairs;
}

int64_t most_rows(const Problem& problem) {
  return std::max(kLeastRows, static_cast<int64_t>(kBudget / work_of_row(problem)));
}

std::vector<RowIndex> rows_to_compare(const Problem& problem) {
  const AttentionShape& s = problem.shape();
  const int64_t rows = s.b * s.h_q * s.n_q;
  const int64_t most = most_rows(problem);
  std::vector<RowIndex> all;
  if (rows <= most) {
    for (int64_t row = 0; row < rows; ++row) all.push_back(row_at(s, row));
    return all;
  }
  // One at random of each stretch, so that all heads and positions have their share; in order, as sums over a head want it.
  std::mt19937_64 random(1);
  for (int64_t n = 0; n < most; ++n) {
    const double length_of = static_cast<double>(rows) / static_cast<double>(most);
    const auto stretch = [&](int64_t k) { return static_cast<int64_t>(length_of * static_cast<double>(k)); };
    const int64_t begin = stretch(n), length = std::max<int64_t>(1, stretch(n + 1) - begin);
    all.push_back(row_at(s, std::min(rows - 1, begin + static_cast<int64_t>(random() % length))));
  }
  return all;
}

Fit fit_on(const Problem& problem, const Variant& variant, const std::vector<RowIndex>& rows, bool sure,
           const Execution& execution) {
  // Sums over the queries of a head are made once for all its rows that one task has.
  constexpr int64_t kRowsOfTask = 64;
  const auto stretch =
      static_cast<size_t>(sums_over_head(variant) ? std::max<int64_t>(1, problem.shape().n_q) : kRowsOfTask);
  std::vector<Fit> fits((rows.size() + stretch - 1) / stretch);
  run_tasks(execution, static_cast<int64_t>(fits.size()), [&](int64_t task) {
    Comparison comparison(problem, variant, sure);
    const size_t begin = static_cast<size_t>(task) * stretch;
    for (size_t row = begin; row < std::min(rows.size(), begin + stretch); ++row) {
      if (!comparison.add(rows[row], fits[static_cast<size_t>(task)]) && sure) break;
    }
  });
  Fit all;
  for (const Fit& fit : fits) all.join(fit);
  return all;
}

std::vector<Accepted> accepted(const Problem& problem, const std::vector<Hypothesis>& all,
                               const std::vector<RowIndex>& sample, const std::vector<RowIndex>& rows,
                               const Execution& execution) {
  // Sums over the queries of a head are made once for rows that come together.
  std::vector<RowIndex> by_head = sample;
  std::ranges::stable_sort(by_head, {}, [](const RowIndex& row) { return std::pair(row.b, row.h); });
  std::vector<char> fits(all.size(), 0);
  run_tasks(execution, static_cast<int64_t>(all.size()), [&](int64_t task) {
    const Variant& variant = all[static_cast<size_t>(task)].variant;
    Comparison comparison(problem, variant, true);
    Fit fit;
    const bool within = std::ranges::all_of(sums_over_head(variant) ? by_head : sample,
                                            [&](const RowIndex& row) { return comparison.add(row, fit); });
    fits[static_cast<size_t>(task)] = within && fit.explained > 0 && fit.accepted(variant.precision);
  });
  std::vector<Accepted> explanations;
  for (size_t n = 0; n < all.size() && explanations.size() < kMostAccepted; ++n) {
    if (!fits[n]) continue;
    const Fit fit = fit_on(problem, all[n].variant, rows, true, execution);
    if (fit.accepted(all[n].variant.precision) && needs_both(problem, all[n], rows, execution) &&
        is_told_from_right(problem, all[n], sample))
      explanations.push_back({all[n], fit});
  }
  return explanations;
}

}  // namespace foveate::diagnosis
