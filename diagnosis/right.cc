// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/right.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnosis/search.h"
#include "diagnosis/wrong_rows.h"

namespace foveate::diagnosis {
namespace {

/// beyond: products leave the range of the type, and the row is not judged.
enum class State : char { wrong, right, near, beyond };

Tensor packed_view(std::vector<double>& data, const AttentionShape& s, int64_t d) {
  return view(data.data(), s.b, s.h_q, s.n_q, d);
}

/// An array of the problem; another's elements where they stand in for its own.
ConstTensor tensor_of(const Problem& problem, Source source, const double* data = nullptr) {
  const View view = problem.view(source);
  ConstTensor tensor;
  tensor.data = data != nullptr ? data : problem.data(source);
  tensor.dtype = DType::f64;
  std::copy_n(view.shape, 4, tensor.shape);
  std::copy_n(view.stride, 4, tensor.stride);
  return tensor;
}

/// The right result, and what its rounding is measured by: sum of a_ij |v_jd|.
class RightResult {
 public:
  explicit RightResult(const Problem& problem) : problem_(problem), s_(problem.shape()) {}

  Status compute(const Execution& given) {
    const Execution execution = {.executor = given.executor, .stop = given.stop};
    const auto rows = static_cast<size_t>(s_.b * s_.h_q * s_.n_q), depth = static_cast<size_t>(s_.d_v);
    o_.resize(rows * depth);
    magnitude_.resize(rows * depth);
    lse_.resize(rows);
    const ConstTensor q = tensor_of(problem_, Source::q), k = tensor_of(problem_, Source::k);
    const Status status =
        attention(q, k, tensor_of(problem_, Source::v),
                  {.o = packed_view(o_, s_, s_.d_v), .lse = packed_view(lse_, s_, 1)}, problem_.options(), execution);
    if (!status.ok()) return status;
    std::vector<double> sizes(static_cast<size_t>(s_.b * s_.h_kv * s_.n_kv * s_.d_v));
    const double* v = problem_.data(Source::v);
    std::transform(v, v + sizes.size(), sizes.begin(), [](double x) { return std::abs(x); });
    return attention(q, k, tensor_of(problem_, Source::v, sizes.data()), {.o = packed_view(magnitude_, s_, s_.d_v)},
                     problem_.options(), execution);
  }

  const double* o(int64_t row) const { return o_.data() + row * s_.d_v; }
  const double* magnitude(int64_t row) const { return magnitude_.data() + row * s_.d_v; }
  double lse(int64_t row) const { return lse_[static_cast<size_t>(row)]; }

 private:
  const Problem& problem_;
  const AttentionShape& s_;
  std::vector<double> o_, magnitude_, lse_;
};

class Judge {
 public:
  Judge(const Problem& problem, const RightResult& result, const Execution& execution)
      : problem_(problem),
        s_(problem.shape()),
        result_(result),
        execution_(execution),
        variant_(right_way(problem)),
        out_(problem.view(Source::out)),
        type_(size_of(problem.precision()) == 2 ? DType::f32 : problem.precision()),
        states_(static_cast<size_t>(s_.b * s_.h_q * s_.n_q)) {
    sums_ = 2 * half_step(type_) * (16 + 2 * std::sqrt(static_cast<double>(s_.n_kv)));
    if (type_ != problem.precision() && !states_.empty()) {
      const std::vector<RowIndex> rows = rows_to_compare(problem);
      allowed_ = fit_on(problem, variant_, rows, false, execution).allowed(problem.precision());
    }
  }

  /// Rows within what sums alone explain are right; others have to be looked at, for their scores round too.
  Judged run() {
    for (size_t row = 0; row < states_.size(); ++row) {
      const RowIndex at = row_at(s_, static_cast<int64_t>(row));
      states_[row] = out_agrees(at) && lse_agrees(at) ? State::right : State::near;
    }
    settle();
    Judged judged;
    judged.right.resize(states_.size());
    for (size_t row = 0; row < states_.size(); ++row) judged.right[row] = states_[row] != State::wrong;
    return judged;
  }

  void describe(Diagnosis& diagnosis) const {
    diagnosis.rows = static_cast<int64_t>(states_.size());
    diagnosis.elements = diagnosis.rows * s_.d_v;
    diagnosis.largest_difference = -1;
    double squares = 0, count = 0;
    for_each_in_file([&](const RowIndex& at) {
      if (states_[static_cast<size_t>(row_of(at))] == State::beyond) {
        ++diagnosis.rows_beyond;
        return;
      }
      const double* mine = problem_.data(Source::out) + out_.row(at.b, at.h, at.i);
      const double* want = result_.o(row_of(at));
      for (int64_t d = 0; d < s_.d_v; ++d) {
        const double apart = std::abs(mine[d] - want[d]);
        if (!std::isfinite(apart)) continue;
        squares += apart * apart;
        ++count;
        if (apart <= diagnosis.largest_difference) continue;
        diagnosis.largest_difference = apart;
        diagnosis.largest = {at.b, at.h, at.i, d, mine[d], want[d]};
      }
      if (problem_.has_lse()) add_lse(at, diagnosis);
      if (states_[static_cast<size_t>(row_of(at))] == State::right) return;
      add_wrong(at, diagnosis);
      if (diagnosis.differing_rows++ == 0) diagnosis.first = first_difference(at);
    });
    diagnosis.largest_difference = std::max(0.0, diagnosis.largest_difference);
    diagnosis.rms_difference = count > 0 ? std::sqrt(squares / count) : 0;
    diagnosis.unnoticed = allowed_;
    if (diagnosis.not_finite.rows != s_.b * s_.h_q) diagnosis.not_finite.position = -1;
    if (diagnosis.wrong_in_out > 0) find_factor(diagnosis);
  }

 private:
  void add_lse(const RowIndex& at, Diagnosis& diagnosis) const {
    const double apart = std::abs(problem_.lse(at.b, at.h, at.i) - result_.lse(row_of(at)));
    if (std::isfinite(apart)) diagnosis.largest_lse_difference = std::max(diagnosis.largest_lse_difference, apart);
  }

  void add_wrong(const RowIndex& at, Diagnosis& diagnosis) const {
    diagnosis.wrong_in_out += !out_agrees(at);
    diagnosis.wrong_in_lse += !lse_agrees(at);
    const double* mine = problem_.data(Source::out) + out_.row(at.b, at.h, at.i);
    const double* want = result_.o(row_of(at));
    bool missing = false;
    for (int64_t d = 0; d < s_.d_v; ++d) missing = missing || (std::isfinite(want[d]) && !std::isfinite(mine[d]));
    if (!missing) return;
    NotFinite& all = diagnosis.not_finite;
    all.position = all.rows == 0 || all.position == at.i ? at.i : -2;
    ++all.rows;
  }

  template <class Use>
  void for_each_element(const Use& use) const {
    for (int64_t row = 0; row < static_cast<int64_t>(states_.size()); ++row) {
      const RowIndex at = row_at(s_, row);
      const double* mine = problem_.data(Source::out) + out_.row(at.b, at.h, at.i);
      for (int64_t d = 0; d < s_.d_v; ++d) use(row, d, mine[d], result_.o(row)[d]);
    }
  }

  /// Is out all 0, or the right result times one number?
  void find_factor(Diagnosis& diagnosis) const {
    double product = 0, squares = 0, size = 0;
    for_each_element([&](int64_t, int64_t, double mine, double want) {
      product += mine * want;
      squares += want * want;
      size += std::abs(mine);
    });
    diagnosis.all_zero = size == 0;
    const double factor = product / squares;
    if (diagnosis.all_zero || !std::isfinite(factor) || factor == 0) return;
    bool all = true;
    for_each_element([&](int64_t row, int64_t d, double mine, double want) {
      const double allowed = 2 * std::max(1.0, std::abs(factor)) * tolerance(row, d);
      all = all && std::abs(mine - factor * want) <= allowed;
    });
    if (all) diagnosis.factor = factor;
  }

  int64_t row_of(const RowIndex& at) const { return (at.b * s_.h_q + at.h) * s_.n_q + at.i; }

  template <class Use>
  void for_each_in_file(const Use& use) const {
    const bool bhnd = problem_.layout() == Layout::bhnd;
    const int64_t outer = bhnd ? s_.h_q : s_.n_q, inner = bhnd ? s_.n_q : s_.h_q;
    for (int64_t b = 0; b < s_.b; ++b)
      for (int64_t x = 0; x < outer; ++x)
        for (int64_t y = 0; y < inner; ++y) use(bhnd ? RowIndex{b, x, y} : RowIndex{b, y, x});
  }

  double tolerance(int64_t row, int64_t d) const {
    return type_ == problem_.precision() ? sums_ * result_.magnitude(row)[d] : allowed_;
  }

  bool out_agrees(const RowIndex& at) const { return first_in_out(at) == s_.d_v; }

  int64_t first_in_out(const RowIndex& at) const {
    const double* mine = problem_.data(Source::out) + out_.row(at.b, at.h, at.i);
    const int64_t row = row_of(at);
    int64_t d = 0;
    while (d < s_.d_v && agree(mine[d], result_.o(row)[d], tolerance(row, d))) ++d;
    return d;
  }

  bool lse_agrees(const RowIndex& at) const {
    if (!problem_.has_lse()) return true;
    const double mine = problem_.lse(at.b, at.h, at.i), want = result_.lse(row_of(at));
    return std::isinf(want) ? mine == want : agree(mine, want, sums_ + 4 * half_step(type_) * std::abs(want));
  }

  Difference first_difference(const RowIndex& at) const {
    const int64_t d = first_in_out(at), row = row_of(at);
    if (d == s_.d_v) return {at.b, at.h, at.i, -1, problem_.lse(at.b, at.h, at.i), result_.lse(row)};
    return {at.b, at.h, at.i, d, problem_.data(Source::out)[out_.row(at.b, at.h, at.i) + d], result_.o(row)[d]};
  }

  /// Looks at near rows, some at a time. Once one is known to be wrong the result is, and the others of them, which are
  /// past what nearly all right rows keep to, are counted with it.
  void settle() {
    std::vector<size_t> near;
    for (size_t row = 0; row < states_.size(); ++row) {
      if (states_[row] == State::near) near.push_back(row);
    }
    constexpr double kWorkAtOnce = 0x1p30;
    const double work = std::max(1.0, static_cast<double>(s_.n_kv) * static_cast<double>(s_.d_k + s_.d_v));
    const auto at_once = static_cast<size_t>(std::max(64.0, kWorkAtOnce / work));
    bool wrong = false;
    for (size_t begin = 0; begin < near.size() && !wrong; begin += at_once) {
      wrong = settle_some(near, begin, std::min(near.size(), begin + at_once));
    }
    for (State& state : states_) {
      if (state == State::near) state = State::wrong;
    }
  }

  bool settle_some(const std::vector<size_t>& near, size_t begin, size_t end) {
    constexpr size_t kRowsOfTask = 16;
    run_tasks(execution_, static_cast<int64_t>((end - begin + kRowsOfTask - 1) / kRowsOfTask), [&](int64_t task) {
      Comparison comparison(problem_, variant_, false);
      const size_t from = begin + static_cast<size_t>(task) * kRowsOfTask;
      for (size_t n = from; n < std::min(end, from + kRowsOfTask); ++n) {
        Fit fit;
        const RowIndex at = row_at(s_, static_cast<int64_t>(near[n]));
        // Where scores are coarse in 16 bits, how one of them rounds decides a row: no sum of others tells how far.
        const bool within =
            comparison.add(at, fit) && (type_ == problem_.precision() || comparison.last().coarse || out_agrees(at));
        states_[near[n]] = !within ? State::wrong : comparison.last().beyond ? State::beyond : State::right;
      }
    });
    return std::any_of(near.begin() + static_cast<std::ptrdiff_t>(begin),
                       near.begin() + static_cast<std::ptrdiff_t>(end),
                       [this](size_t row) { return states_[row] == State::wrong; });
  }

  const Problem& problem_;
  const AttentionShape& s_;
  const RightResult& result_;
  const Execution& execution_;
  const Variant variant_;
  const View out_;
  const DType type_;    ///< that sums are made in
  double sums_ = 0;     ///< their relative error
  double allowed_ = 0;  ///< the error of an element, in 16 bits
  std::vector<State> states_;
};

RightRows right_rows(const AttentionShape& s, const Judged& judged) {
  RightRows found;
  std::vector<char> everywhere(static_cast<size_t>(s.n_q), 1);
  for (int64_t b = 0; b < s.b; ++b) {
    for (int64_t h = 0; h < s.h_q; ++h) {
      const char* right = judged.right.data() + (b * s.h_q + h) * s.n_q;
      if (std::all_of(right, right + s.n_q, [](char is) { return is != 0; })) found.heads.emplace_back(b, h);
      for (int64_t i = 0; i < s.n_q; ++i) everywhere[static_cast<size_t>(i)] &= right[i];
    }
  }
  for (int64_t begin = 0, i = 0; i < s.n_q; ++i) {
    if (everywhere[static_cast<size_t>(i)] == 0) {
      begin = i + 1;
    } else if (i - begin > found.last - found.first) {
      found.first = begin;
      found.last = i;
    }
  }
  return found;
}

}  // namespace

RowIndex index_of(const AttentionShape& s, const Judged& judged, int64_t row) {
  const auto at = static_cast<size_t>(row);
  RowIndex index = row_at(s, row);
  index.wrong = judged.right[at] == 0;
  index.out_wrong = judged.out_right[at] == 0;
  return index;
}

bool Judged::all() const {
  return std::all_of(right.begin(), right.end(), [](char is) { return is != 0; });
}

Status judge(const Problem& problem, const Execution& execution, Judged& judged, Diagnosis& diagnosis) {
  RightResult result(problem);
  if (Status status = result.compute(execution); !status.ok()) return status;
  Judge judge(problem, result, execution);
  judged = judge.run();
  judge.describe(diagnosis);
  if (judged.all()) return {};
  diagnosis.right_rows = right_rows(problem.shape(), judged);
  diagnosis.wrong_rows = wrong_rows(problem.shape(), judged);
  return {};
}

}  // namespace foveate::diagnosis
