// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// How much a call has to do, in multiply-adds: roughly, and rather too many than too few. It decides whether other
// threads help, and whether somebody could want to stop the call before it is over (call.h), nothing else.
#ifndef FOVEATE_PYTHON_WORK_H_
#define FOVEATE_PYTHON_WORK_H_

#include <cstdint>
#include <limits>

#include "foveate/attention.h"
#include "foveate/tensor.h"

namespace foveate::python {

/// Multiply-adds from which a call is worth a thread of its own, which costs some 50 us: 3 ms on two fast cores, half a second
/// at one a nanosecond.
inline constexpr double kMuchWork = 1 << 29;

/// Below so many no other thread is asked: it would wake when all is done, in some 5 us. Nor is the GIL released, which another
/// thread may hold for 5 ms then.
inline constexpr double kLittleWork = 1 << 17;

inline constexpr double kUnknownWork = std::numeric_limits<double>::infinity();

/// Each row of a tensor with a matrix of its own or of all.
double work_of_rows(const ConstTensor& tensor, int64_t matrix_rows, int64_t matrix_columns);

/// Each row of q with so many keys: two products, and all that stands between them.
double work_of_pairs(const ConstTensor& q, int64_t n_kv, int64_t d_k, int64_t d_v);

/// The same with the keys that k has: all that are packed, and what a block table has room for.
double work_of_attention(const ConstTensor& q, const ConstTensor& k, const ConstTensor& v,
                         const AttentionOptions& options);

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_WORK_H_
