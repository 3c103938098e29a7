// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of keys and values in the computing type. Rows of that type, adjacent elements and one stride are read where they
// lie; others are converted a block at a time into scratch memory: 64 rows serve 48 queries, so that converting is 2 % of
// the multiply-adds.
#if defined(FOVEATE_SRC_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEATE_SRC_KERNELS_ROWS_INL_H_
#undef FOVEATE_SRC_KERNELS_ROWS_INL_H_
#else
#define FOVEATE_SRC_KERNELS_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace foveate::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body with a null pointer of the element type that a dtype names, among those that a computing type T reads.
template <class T, class Body>
HWY_INLINE void WithElement(DType dtype, const Body& body) {
  if constexpr (std::is_same_v<T, float> && kNarrowTypes) {
    if (dtype == DType::f16) return body(static_cast<Float16*>(nullptr));
    if (dtype == DType::bf16) return body(static_cast<BFloat16*>(nullptr));
    if (dtype == DType::i8) return body(static_cast<int8_t*>(nullptr));
  }
  body(static_cast<T*>(nullptr));
}

/// A vector of elements, converted exactly.
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}
/// As Float16 converts: Highway's own conversion on targets without an instruction for it makes numbers of Inf and NaN.
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const Float16* from) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fff));
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(du, uint32_t{112} << 23));
  const auto raised = hn::BitCast(d, hn::Add(normal, hn::Set(du, uint32_t{1} << 23)));
  const auto subnormal = hn::BitCast(du, hn::Sub(raised, hn::Set(d, 0x1p-14f)));
  const auto special = hn::Or(normal, hn::Set(du, 0x7f800000));
  const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x400)), subnormal, normal);
  const auto wide = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7bff)), special, finite);
  return hn::BitCast(d, hn::Or(wide, hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)))));
#endif
}
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const int8_t* from) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<int8_t, D> d8;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, from)));
}

/// n elements, `stride` apart, to adjacent ones of the computing type.
template <class T, class E>
HWY_INLINE void ConvertRow(const E* from, int64_t stride, int64_t n, T* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (stride == 1) {
    for (; i + lanes <= n; i += lanes) hn::StoreU(LoadElements(d, from + i), d, to + i);
  }
  for (; i < n; ++i) to[i] = static_cast<T>(from[i * stride]);
}

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

/// The same of int8, each times its scale; scales are `scale_stride` apart, 0 for one of the whole row.
HWY_INLINE void ConvertRow(const int8_t* from, int64_t stride, const float* scales, int64_t scale_stride, int64_t n,
                           float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (stride == 1 && scale_stride <= 1 && scale_stride >= 0) {
    for (; i + lanes <= n; i += lanes) {
      const auto scale = scale_stride == 0 ? hn::Set(d, *scales) : hn::LoadU(d, scales + i);
      hn::StoreU(hn::Mul(LoadElements(d, from + i), scale), d, to + i);
    }
  }
  for (; i < n; ++i) to[i] = static_cast<float>(from[i * stride]) * scales[i * scale_stride];
}

/// Converts a run's rows of depth elements to packed ones.
template <class T, class E>
HWY_NOINLINE void ConvertRun(const RowSource& source, const Run& run, int64_t depth, T* to) {
  const E* from = static_cast<const E*>(source.data) + run.offset;
  for (int64_t j = 0; j < run.n; ++j, from += source.stride, to += depth) {
    if constexpr (std::is_same_v<E, int8_t>) {
      const float* const scales = source.scales + run.scale_offset + j * source.scale_stride;
      ConvertRow(from, source.stride_d, scales, source.scale_stride_d, depth, to);
    } else {
      ConvertRow(from, source.stride_d, depth, to);
    }
  }
}

/// Finds the rows of keys [first, first + n) where they lie, if they have adjacent elements of the computing type and one
/// stride there.
template <class T>
HWY_INLINE bool FindInPlace(const Pages& pages, const RowSource& source, int64_t first, int64_t n, int64_t depth,
                            Broadcasts<T, false>& rows) {
  if (source.dtype != dtype_of<T>() || (source.stride_d != 1 && depth > 1)) return false;
  const Run run = RunAt(pages, source, first, n);
  rows = {static_cast<const T*>(source.data) + run.offset, source.stride};
  return run.n == n;
}

/// The rows of keys [first, first + n) with adjacent elements: in place where they lie so, else converted to `packed`.
template <class T>
HWY_INLINE Broadcasts<T, false> RowsOf(const Pages& pages, const RowSource& source, int64_t first, int64_t n,
                                       int64_t depth, T* packed) {
  Broadcasts<T, false> rows;
  if (FindInPlace(pages, source, first, n, depth, rows)) return rows;
  WithElement<T>(source.dtype, [&](auto* element) HWY_ATTR {
    using E = std::remove_pointer_t<decltype(element)>;
    for (int64_t done = 0; done < n;) {
      const Run run = RunAt(pages, source, first + done, n - done);
      ConvertRun<T, E>(source, run, depth, packed + done * depth);
      done += run.n;
    }
  });
  return {packed, depth};
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_ROWS_INL_H_
