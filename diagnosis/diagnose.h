// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which mistake makes of q, k and v the result that somebody has? The right result is computed and compared; where it is
// another, some ninety known mistakes, and then all pairs of them of different kinds, are tried for one that gives the
// result, to within what rounding explains. Nothing is reported that does not reproduce every row compared; or, where some
// rows are right and nothing explains all, every wrong one.
//
//   Shapes   q, k and v as `attention` takes them, padded; out [b, h_q, n_q, d_v] of any float type; lse [b, h_q, n_q, 1]
//            float32 or float64, or absent. `layout` is the order of axes that the files of q, k, v and out have: some
//            mistakes are in how memory is read.
//   Type     a result is right or wrong in the narrower of q's and out's type.
//   Errors   those of `attention`; an out or lse of another shape or type; options that it has no notion of: dropout,
//            packed sequences, pages, scales, a tree. Nothing is written then.
//   Threads  any number of calls may run at once. The executor may change no result.
//   Memory   O(n): float64 copies of the arrays, some of them rounded; never n_q x n_kv.
#ifndef FOVEATE_DIAGNOSIS_DIAGNOSE_H_
#define FOVEATE_DIAGNOSIS_DIAGNOSE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "diagnosis/mistakes.h"
#include "foveate/attention.h"
#include "foveate/status.h"

namespace foveate::diagnosis {

enum class Verdict : uint8_t { right, mistake, two_mistakes, unknown };

/// "right", "mistake", "two_mistakes", "unknown".
const char* name_of(Verdict verdict);

/// An element of out, or where d is -1, of lse.
struct Difference {
  int64_t b = 0, h = 0, i = 0, d = -1;
  double got = 0, expected = 0;
};

/// One mistake, or two, that reproduce the result.
struct Explanation {
  std::vector<const Mistake*> mistakes;
  double residual = 0;      ///< the largest difference that is left
  double lse_residual = 0;  ///< of lse
  int64_t rows_compared = 0;
};

/// Rows that are right where others are not.
struct RightRows {
  int64_t first = 0,
          last = -1;  ///< these positions are, in every head: the longest such stretch; none where last < first
  std::vector<std::pair<int64_t, int64_t>> heads;  ///< [b, h] of which every row is
};

/// Rows that are wrong: all lie between these positions, in these heads [b, h].
struct WrongRows {
  int64_t first = 0, last = -1;
  std::vector<std::pair<int64_t, int64_t>> heads;
};

/// What explanations explain: every row compared, or the wrong ones, the others being right.
enum class Scope : uint8_t { all_rows, wrong_rows };

/// Rows of out with NaN or infinities where numbers are expected. `position`: theirs, where it is the same one in every head.
struct NotFinite {
  int64_t rows = 0;
  int64_t position = -1;
};

/// Where nothing explains a result: only rows that see all keys are right, or only those that see one.
enum class Hint : uint8_t { none, masking, scores };

struct Diagnosis {
  Verdict verdict = Verdict::right;
  DType precision = DType::none;  ///< what rounding was allowed for

  int64_t rows = 0, elements = 0;
  int64_t rows_beyond = 0;  ///< not judged: their products leave the range of the type
  int64_t differing_rows = 0;
  int64_t wrong_in_out = 0, wrong_in_lse = 0;  ///< of these rows; some may be wrong in both
  NotFinite not_finite = {};
  double largest_difference = 0, rms_difference = 0;  ///< of out, over finite elements
  double largest_lse_difference = 0;
  double unnoticed = 0;    ///< in 16 bits: how far an element of out may be off and be right; else 0
  bool all_zero = false;   ///< out is 0 everywhere, which would not be right
  double factor = 1;       ///< out is the right result times this
  Hint hint = Hint::none;  ///< of the verdict unknown
  Difference largest = {};
  Difference first = {};  ///< in the order of the file; where differing_rows is not 0
  RightRows right_rows = {};
  WrongRows wrong_rows = {};

  Scope scope = Scope::all_rows;
  std::vector<Explanation> explanations = {};  ///< best first; these arrays cannot tell them apart
  int64_t tried = 0;                           ///< hypotheses
  bool pairs_left_out = false;                 ///< some with sums over a head's queries, which would take too long

  /// The probability that weights were left out with, of a verdict of dropout; else 0.
  double dropout = 0;
};

/// What Execution::progress counts up to.
inline constexpr int64_t kProgressSteps = 100;

/// Judges `out`, and `lse` where it is present, both by the options that were meant. `cancelled` where the stop flag was
/// seen.
Status diagnose(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, const ConstTensor& out,
                const ConstTensor& lse, const AttentionOptions& options, Layout layout, const Execution& execution,
                Diagnosis* diagnosis);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_DIAGNOSE_H_
