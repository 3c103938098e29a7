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
#include <cstring>
#include <type_traits>

#include "foveate/float16.h"
#include "hwy/highway.h"
#include "kernels/gemm-inl.h"
#include "kernels/pages.h"
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

/// Whether a source's rows are adjacent elements that fill dwords where they lie.
HWY_INLINE bool LieInDwords(const RowSource& source, int64_t depth) {
  const int64_t parts = static_cast<int64_t>(sizeof(float)) / size_of(source.dtype);
  return source.stride_d == 1 && source.stride % parts == 0 && source.page_stride % parts == 0 && depth % parts == 0 &&
         reinterpret_cast<uintptr_t>(source.data) % sizeof(float) == 0;
}

/// rows[j] = the row of key first + j where it lies, seen as elements of T.
template <class T>
HWY_INLINE void FindRows(const Pages& pages, const RowSource& source, int64_t first, int64_t n, const T** rows) {
  const int64_t size = size_of(source.dtype);
  for (int64_t done = 0; done < n;) {
    const Run run = RunAt(pages, source, first + done, n - done);
    const char* row = static_cast<const char*>(source.data) + run.offset * size;
    for (int64_t j = 0; j < run.n; ++j, row += source.stride * size) {
      rows[done + j] = static_cast<const T*>(static_cast<const void*>(row));
    }
    done += run.n;
  }
}

/// The rows of keys [first, first + n) seen as depth adjacent elements of T each: in place where they lie in one run, else
/// copied to `packed`.
template <class T>
HWY_INLINE Broadcasts<T, false> RowsAsTheyLie(const Pages& pages, const RowSource& source, int64_t first, int64_t n,
                                              int64_t depth, T* packed) {
  const int64_t size = size_of(source.dtype), of_one = static_cast<int64_t>(sizeof(T)) / size;
  const auto row_at = [&](int64_t offset) {
    return static_cast<const T*>(static_cast<const void*>(static_cast<const char*>(source.data) + offset * size));
  };
  Run run = RunAt(pages, source, first, n);
  if (run.n == n) return {row_at(run.offset), source.stride / of_one};
  for (int64_t done = 0; done < n; done += run.n) {
    run = RunAt(pages, source, first + done, n - done);
    for (int64_t j = 0; j < run.n; ++j) {
      std::memcpy(packed + (done + j) * depth, row_at(run.offset + j * source.stride),
                  static_cast<size_t>(depth) * sizeof(T));
    }
  }
  return {packed, depth};
}

/// scales[j] = the scale of the row of key first + j, for scales of rows.
HWY_INLINE void FindScales(const Pages& pages, const RowSource& source, int64_t first, int64_t n, float* scales) {
  for (int64_t done = 0; done < n;) {
    const Run run = RunAt(pages, source, first + done, n - done);
    const float* const from = source.scales + run.scale_offset;
    if (source.scale_stride == 1) {
      std::memcpy(scales + done, from, static_cast<size_t>(run.n) * sizeof(float));
    } else {
      for (int64_t j = 0; j < run.n; ++j) scales[done + j] = from[j * source.scale_stride];
    }
    done += run.n;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace foveate::kernels
HWY_AFTER_NAMESPACE();

#endif  // FOVEATE_SRC_KERNELS_ROWS_INL_H_
