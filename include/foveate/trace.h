// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where NaN and Inf in attention came from: of each head the first row that is not finite, and the first thing in that row
// that made it so, step by step along the formula of attention.h, in the order of the keys:
//
//   q, k, v, bias, sink   the number was there already
//   product               q . k of finite numbers overflowed
//   scale                 scale * (q . k) overflowed
//   score                 softcap, bias and ALiBi put together overflowed
//   output                sum_j a_ij v_j of finite values left the range of o's type
//
// A row is not finite if its lse is NaN or +inf, if its lse is -inf though keys take part (all scores are -inf), or if its o
// has NaN or Inf. Rows that no key takes part in are well: they have lse -inf and o 0 by definition.
//
// Shapes, types and options as attention() takes them; v may be absent, and o is then not looked at. Dropout is not.
//
// Guarantees
//   Memory     O(n): o and lse. Two blocks are allocated, and freed on return; Execution's workspace is not used.
//   Time       attention, and for a head with such rows one row more, in plain loops.
//   Threads    any number of calls may run at once, on disjoint outputs.
#ifndef FOVEATE_TRACE_H_
#define FOVEATE_TRACE_H_

#include <cstdint>

#include "foveate/attention.h"
#include "foveate/export.h"
#include "foveate/status.h"
#include "foveate/tensor.h"

namespace foveate {

enum class Origin : uint8_t { none, q, k, v, bias, sink, product, scale, score, output };

/// "none", "q", ..., "output".
constexpr const char* name_of(Origin origin) {
  switch (origin) {
    case Origin::none:
      return "none";
    case Origin::q:
      return "q";
    case Origin::k:
      return "k";
    case Origin::v:
      return "v";
    case Origin::bias:
      return "bias";
    case Origin::sink:
      return "sink";
    case Origin::product:
      return "product";
    case Origin::scale:
      return "scale";
    case Origin::score:
      return "score";
    case Origin::output:
      return "output";
  }
  return "unknown";
}

/// What became of it.
enum class Outcome : uint8_t {
  nan,         ///< it was NaN
  opposite,    ///< on the way to the score: inf - inf, or 0 * inf
  softmax,     ///< the score is +inf, and softmax takes inf - inf
  all_lowest,  ///< every score of the row is -inf, so that no weight is left
  sum,         ///< Inf in o
};

/// "nan", "opposite", ...
constexpr const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::nan:
      return "nan";
    case Outcome::opposite:
      return "opposite";
    case Outcome::softmax:
      return "softmax";
    case Outcome::all_lowest:
      return "all_lowest";
    case Outcome::sum:
      return "sum";
  }
  return "unknown";
}

/// The first row of a head that is not finite, and why.
struct NotFinite {
  int64_t rows = 0;  ///< how many of the head are not finite; 0: the rest says nothing
  int64_t row = -1;
  Origin origin = Origin::none;
  bool overflow = false;   ///< finite numbers made it; false: it was given
  int64_t key = -1;        ///< -1: no key has to do with it
  int64_t component = -1;  ///< of q, k, v or o, or where the sum of a product left the range; -1: none
  double value = 0;        ///< what was given, or what the step made
  Outcome outcome = Outcome::nan;
};

/// Writes one record a head, packed: [b][h_q]. Everything is checked before the first is written.
FOVEATE_API Status trace(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v, NotFinite* heads,
                         const AttentionOptions& options = {}, const Execution& execution = {});

}  // namespace foveate

#endif  // FOVEATE_TRACE_H_
