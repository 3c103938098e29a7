// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "overlap.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace foveate {
namespace {

/// An axis with more than one element, in bytes, stepping forward.
struct Axis {
  int64_t extent, step;
};

/// A view as a set of bytes: the lowest address, and axes by falling step.
struct Footprint {
  uint64_t low = 0;
  int64_t element = 0;
  int n_axes = 0;
  Axis axes[4];

  /// Bytes from the first byte to past the last, axes from `from` on.
  int64_t span(int from = 0) const {
    int64_t bytes = element;
    for (int i = from; i < n_axes; ++i) bytes += (axes[i].extent - 1) * axes[i].step;
    return bytes;
  }
};

bool empty(const ConstTensor& view) {
  return std::any_of(view.shape, view.shape + 4, [](int64_t extent) { return extent == 0; });
}

Footprint footprint(const ConstTensor& view) {
  Footprint f;
  f.low = reinterpret_cast<uintptr_t>(view.data);
  f.element = size_of(view.dtype);
  for (int i = 0; i < 4; ++i) {
    if (view.shape[i] <= 1) continue;
    const int64_t step = view.stride[i] * f.element;
    if (step < 0) f.low += static_cast<uint64_t>((view.shape[i] - 1) * step);
    int at = f.n_axes++;
    for (; at > 0 && f.axes[at - 1].step < std::abs(step); --at) f.axes[at] = f.axes[at - 1];
    f.axes[at] = {view.shape[i], std::abs(step)};
  }
  return f;
}

/// Whether [a, a + a_bytes) and [b, b + b_bytes) meet on a circle of `around` bytes.
bool meet_modulo(uint64_t a, int64_t a_bytes, uint64_t b, int64_t b_bytes, int64_t around) {
  const uint64_t circle = static_cast<uint64_t>(around);
  const uint64_t forward = b >= a ? (b - a) % circle : (circle - (a - b) % circle) % circle;
  const int64_t from_a_to_b = static_cast<int64_t>(forward);
  return from_a_to_b < a_bytes || from_a_to_b + b_bytes > around;
}

}  // namespace

bool addressable(const ConstTensor& view) {
  int64_t total = size_of(view.dtype);
  for (int i = 0; i < 4; ++i) {
    if (view.shape[i] <= 1) continue;
    int64_t bytes;
    if (view.stride[i] == INT64_MIN || __builtin_mul_overflow(view.shape[i] - 1, std::abs(view.stride[i]), &bytes) ||
        __builtin_mul_overflow(bytes, size_of(view.dtype), &bytes) || __builtin_add_overflow(total, bytes, &total)) {
      return false;
    }
  }
  return true;
}

bool overlaps_itself(const ConstTensor& view) {
  if (empty(view)) return false;
  const Footprint f = footprint(view);
  for (int i = 0; i < f.n_axes; ++i) {
    if (f.axes[i].step < f.span(i + 1)) return true;
  }
  return false;
}

bool overlap(const ConstTensor& a, const ConstTensor& b) {
  if (empty(a) || empty(b)) return false;
  const Footprint fa = footprint(a), fb = footprint(b);
  if (fa.low + static_cast<uint64_t>(fa.span()) <= fb.low || fb.low + static_cast<uint64_t>(fb.span()) <= fa.low) {
    return false;
  }
  // Where both step through memory by multiples of one step and stay within it otherwise, they are apart if they are so
  // on a circle of that step.
  for (int i = 0; i < std::min(fa.n_axes, fb.n_axes); ++i) {
    const int64_t step = fa.axes[i].step;
    if (step == 0 || step != fb.axes[i].step) break;
    const auto multiple = [step](const Axis& axis) { return axis.step % step == 0; };
    if (!std::all_of(fa.axes, fa.axes + i, multiple) || !std::all_of(fb.axes, fb.axes + i, multiple)) break;
    const bool within = fa.span(i + 1) <= step && fb.span(i + 1) <= step;
    if (within && !meet_modulo(fa.low, fa.span(i + 1), fb.low, fb.span(i + 1), step)) return false;
  }
  return true;
}

}  // namespace foveate
