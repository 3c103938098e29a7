// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/diagnose.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "diagnosis/dropout.h"
#include "diagnosis/fit.h"
#include "diagnosis/problem.h"
#include "diagnosis/right.h"
#include "diagnosis/search.h"
#include "diagnosis/wrong_rows.h"

namespace foveate::diagnosis {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

Status refuse(const char* argument, const char* why) {
  return Status::error(StatusCode::invalid_argument, "%s: %s", argument, why);
}

Status check_shape(const char* name, const ConstTensor& t, const ConstTensor& q, int64_t depth) {
  if (!is_float(t.dtype)) return refuse(name, "not of a float type; convert it");
  const int64_t* s = t.shape;
  if (s[0] == q.shape[0] && s[1] == q.shape[1] && s[2] == q.shape[2] && s[3] == depth) return {};
  const auto number = [](int64_t x) { return static_cast<long long>(x); };
  return Status::error(StatusCode::invalid_argument,
                       "%s: shape [%lld, %lld, %lld, %lld], expected [%lld, %lld, %lld, %lld]", name, number(s[0]),
                       number(s[1]), number(s[2]), number(s[3]), number(q.shape[0]), number(q.shape[1]),
                       number(q.shape[2]), number(depth));
}

/// All that `attention` checks, and what is of this call alone.
Status check(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& out,
             const ConstTensor& lse, const AttentionOptions& options) {
  if (options.dropout != 0) return refuse("dropout", "leave it out; it is looked for");
  if (options.q_starts.present() || options.kv_starts.present() || options.block_table.present() ||
      options.k_scales.present() || options.v_scales.present() || options.tree_mask.present()) {
    return refuse("options", "packed sequences, pages, scales and trees are not diagnosed; give padded floats");
  }
  for (const auto& [name, array] : {std::pair("q", &q), std::pair("k", &k), std::pair("v", &v)}) {
    if (!is_float(array->dtype)) return refuse(name, "not of a float type; convert it");
  }
  const int64_t rows =
      std::max<int64_t>(0, q.shape[0]) * std::max<int64_t>(0, q.shape[1]) * std::max<int64_t>(0, q.shape[2]);
  std::vector<double> state(static_cast<size_t>(rows));
  Tensor row_sums = view(state.data(), q.shape[0], q.shape[1], q.shape[2], 1);
  if (q.dtype != DType::f64) row_sums.dtype = DType::f32;
  const std::atomic<bool> stop = true;
  const Status status = attention(q, k, v, {.lse = row_sums}, options, {.stop = &stop});
  if (!status.ok() && status.code() != StatusCode::cancelled) return status;
  if (Status wrong = check_shape("out", out, q, v.shape[3]); !wrong.ok()) return wrong;
  return lse.present() ? check_shape("lse", lse, q, 1) : Status();
}

/// The rows that hypotheses are screened on: at random, first those that are wrong, then any, the first and the last too.
std::vector<RowIndex> sample_of(const AttentionShape& s, const Judged& judged, size_t count) {
  const auto rows = static_cast<int64_t>(judged.right.size());
  std::vector<int64_t> wrong, all;
  for (int64_t row = 0; row < rows; ++row) {
    all.push_back(row);
    if (!judged.right[static_cast<size_t>(row)]) wrong.push_back(row);
  }
  std::mt19937_64 random(7);
  std::ranges::shuffle(wrong, random);
  std::ranges::shuffle(all, random);
  wrong.resize(std::min(wrong.size(), count / 2));
  wrong.push_back(rows - 1);
  wrong.push_back(0);
  for (size_t n = 0; n < all.size() && wrong.size() < count; ++n) wrong.push_back(all[n]);
  std::vector<RowIndex> sample;
  for (const int64_t row : wrong) {
    sample.push_back(index_of(s, judged, row));
  }
  return sample;
}

class Search {
 public:
  Search(const Problem& problem, const Judged& judged, const Execution& execution, Diagnosis& diagnosis)
      : problem_(problem),
        judged_(judged),
        execution_(execution),
        diagnosis_(diagnosis),
        sample_(sample_of(problem.shape(), judged, 64)),
        rows_(rows_to_compare(problem)) {}

  /// Single mistakes before pairs, what is wrong in the formula before what is rounded, and at last the one that no formula
  /// reproduces.
  void run() {
    constexpr std::pair<Pool, int64_t> kPools[] = {{Pool::structures, 40},
                                                   {Pool::roundings, 50},
                                                   {Pool::pairs_of_structures, 80},
                                                   {Pool::pairs_with_rounding, 90}};
    for (const auto& [pool, step] : kPools) {
      if (try_pool(pool)) return;
      reach(step);
    }
    if (try_dropout() || try_wrong_rows()) return;
    diagnosis_.verdict = Verdict::unknown;
    diagnosis_.hint = hint_of(problem_, judged_);
  }

 private:
  void reach(int64_t step) {
    if (execution_.progress != nullptr) *execution_.progress = step;
  }

  bool try_pool(Pool pool) {
    const std::vector<Hypothesis> all = hypotheses(problem_, pool, diagnosis_.pairs_left_out);
    diagnosis_.tried += static_cast<int64_t>(all.size());
    std::vector<Accepted> found = accepted(problem_, all, sample_, rows_, execution_);
    if (found.empty()) return false;
    std::ranges::stable_sort(found, {}, [](const Accepted& one) { return one.fit.largest; });
    for (const Accepted& one : found) add(one);
    const bool pair = diagnosis_.explanations.front().mistakes.size() == 2;
    diagnosis_.verdict = pair ? Verdict::two_mistakes : Verdict::mistake;
    return true;
  }

  /// Ways to make one mistake count once.
  void add(const Accepted& accepted) {
    const auto ids = [](const std::vector<const Mistake*>& mistakes) {
      std::string all;
      for (const Mistake* mistake : mistakes) all += std::string(mistake->id) + ' ';
      return all;
    };
    for (const Explanation& known : diagnosis_.explanations) {
      if (ids(known.mistakes) == ids(accepted.hypothesis.mistakes)) return;
    }
    diagnosis_.explanations.push_back(
        {accepted.hypothesis.mistakes, accepted.fit.largest, accepted.fit.lse_largest, accepted.fit.rows});
  }

  bool try_dropout() {
    if (diagnosis_.first.d < 0) return false;  // dropout leaves lse as it is
    const std::optional<Dropout> found = find_dropout(problem_, rows_for_dropout());
    if (!found) return false;
    const Mistake& what = mistake(found->rescaled ? "dropout-on" : "dropout-not-rescaled");
    diagnosis_.explanations.push_back({{&what}, found->residual, 0, found->rows});
    diagnosis_.dropout = found->probability;
    diagnosis_.verdict = Verdict::mistake;
    return true;
  }

  /// One mistake, in some heads or rows alone.
  bool try_wrong_rows() {
    constexpr int64_t kLeast = 4;
    constexpr size_t kSample = 64;
    const AttentionShape& s = problem_.shape();
    if (diagnosis_.differing_rows < kLeast || diagnosis_.differing_rows == diagnosis_.rows) return false;
    const std::vector<RowIndex> rows = wrong_rows_to_compare(s, judged_, static_cast<size_t>(most_rows(problem_)));
    const std::vector<RowIndex> sample = wrong_rows_to_compare(s, judged_, kSample);
    std::vector<Accepted> found =
        accepted(problem_, hypotheses(problem_, Pool::structures, diagnosis_.pairs_left_out), sample, rows, execution_);
    std::erase_if(found, [&](const Accepted& one) {
      return !explains_what_right_does_not(problem_, one.hypothesis.variant, rows);
    });
    if (found.empty()) return false;
    std::ranges::stable_sort(found, {}, [](const Accepted& one) { return one.fit.largest; });
    for (const Accepted& one : found) add(one);
    diagnosis_.verdict = Verdict::mistake;
    diagnosis_.scope = Scope::wrong_rows;
    return true;
  }

  /// At random, and those with few positions before them, which few keys take part in where attention is causal; each once.
  std::vector<RowIndex> rows_for_dropout() const {
    constexpr size_t kRows = 128;
    const AttentionShape& s = problem_.shape();
    std::set<int64_t> places;
    for (const RowIndex& at : sample_of(s, judged_, kRows)) places.insert((at.b * s.h_q + at.h) * s.n_q + at.i);
    const int64_t few = std::min(s.n_q, s.d_v), heads = s.b * s.h_q;
    for (int64_t n = 0; few > 0 && n < static_cast<int64_t>(kRows); ++n) {
      places.insert(n % heads * s.n_q + (n / heads * 7 + 1) % few);
    }
    std::vector<RowIndex> rows;
    for (const int64_t row : places) {
      rows.push_back(index_of(s, judged_, row));
    }
    return rows;
  }

  const Problem& problem_;
  const Judged& judged_;
  const Execution& execution_;
  Diagnosis& diagnosis_;
  const std::vector<RowIndex> sample_, rows_;
};

}  // namespace

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {"right", "mistake", "two_mistakes", "unknown"};
  return kNames[static_cast<size_t>(verdict)];
}

Status diagnose(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& out,
                const ConstTensor& lse, const AttentionOptions& options, Layout layout, const Execution& execution,
                Diagnosis* diagnosis) try {
  if (Status status = check(q, k, v, out, lse, options); !status.ok()) return status;
  const Problem problem(q, k, v, out, lse, options, layout);
  Diagnosis found{.precision = problem.precision()};
  Judged judged;
  if (Status status = judge(problem, execution, judged, found); !status.ok()) return status;
  if (execution.progress != nullptr) *execution.progress = 30;
  judged.out_right = judged.right;
  if (!judged.all() && lse.present()) {
    Diagnosis of_out;
    Judged by_out;
    const Problem out_alone(q, k, v, out, {}, options, layout);
    if (Status status = judge(out_alone, execution, by_out, of_out); !status.ok()) return status;
    judged.out_right = by_out.right;
  }
  if (!judged.all()) Search(problem, judged, execution, found).run();
  if (execution.progress != nullptr) *execution.progress = kProgressSteps;
  *diagnosis = std::move(found);
  return {};
} catch (const Stopped&) {
  return Status::error(StatusCode::cancelled, "stopped");
} catch (const std::bad_alloc&) {
  return Status::error(StatusCode::out_of_memory, "not enough memory for float64 copies of the arrays");
}

}  // namespace foveate::diagnosis
