// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where rows of keys and values lie: in one run, or in runs that pages make. How they are asked for before they are read.
#ifndef FOVEATE_SRC_KERNELS_PAGES_H_
#define FOVEATE_SRC_KERNELS_PAGES_H_

#include <algorithm>
#include <cstdint>

#include "hwy/base.h"
#include "kernels/tile.h"

namespace foveate::kernels {

/// The page, of sequence-wide number `index`, that a block table names.
HWY_INLINE int64_t PageAt(const Pages& pages, int64_t index) {
  return pages.dtype == DType::i64 ? static_cast<const int64_t*>(pages.table)[index * pages.stride]
                                   : static_cast<const int32_t*>(pages.table)[index * pages.stride];
}

/// Keys that lie at one stride: from `offset` elements after the source's data, and their scales likewise.
struct Run {
  int64_t n;
  int64_t offset, scale_offset;
};

/// The run that key `first` begins, of at most n keys.
HWY_INLINE Run RunAt(const Pages& pages, const RowSource& source, int64_t first, int64_t n) {
  if (pages.table == nullptr) return {n, first * source.stride, first * source.scale_stride};
  const int64_t page = PageAt(pages, first / pages.size), row = first % pages.size;
  return {std::min(n, pages.size - row), page * source.page_stride + row * source.stride,
          page * source.scale_page_stride + row * source.scale_stride};
}

/// Asks for n rows of `bytes`, adjacent, `stride` bytes apart. Locality as __builtin_prefetch has it: 3 is L1, 2 is L2.
template <int kLocality = 3>
HWY_INLINE void PrefetchLines(const void* first, int64_t n, int64_t bytes, int64_t stride) {
  constexpr int64_t kLine = 64;
  const char* row = static_cast<const char*>(first);
  if (stride == bytes) bytes *= n, n = 1;  // without gaps they are one
  for (int64_t r = 0; r < n; ++r, row += stride) {
    for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at, 0, kLocality);
  }
}

/// Asks for keys [first, first + n) of a source, of depth elements each, where these are adjacent.
template <int kLocality = 3>
HWY_INLINE void PrefetchRows(const Pages& pages, const RowSource& source, int64_t depth, int64_t first, int64_t n) {
  const int64_t size = size_of(source.dtype), bytes = source.stride_d == 1 ? depth * size : 0;
  for (int64_t done = 0; done < n;) {
    const Run run = RunAt(pages, source, first + done, n - done);
    const char* const row = static_cast<const char*>(source.data) + run.offset * size;
    PrefetchLines<kLocality>(row, run.n, bytes, source.stride * size);
    done += run.n;
  }
}

}  // namespace foveate::kernels

#endif  // FOVEATE_SRC_KERNELS_PAGES_H_
