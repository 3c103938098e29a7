// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Memory that ends where no memory is: a read or write one byte too far is the end of the program.
#ifndef FOVEATE_TESTS_GUARD_PAGES_H_
#define FOVEATE_TESTS_GUARD_PAGES_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "foveate/tensor.h"

namespace foveate::trial {

/// Which edge of the memory lies right at a page that may not be touched.
enum class Edge { end, begin };

class GuardedMemory {
 public:
  GuardedMemory(size_t bytes, Edge edge) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = (bytes + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    void* const all = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::runtime_error("mmap failed");
    base_ = static_cast<char*>(all);
    if (inner > 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mprotect failed");
    std::memset(base_ + page, 0x7f, inner);
    data_ = base_ + page + (edge == Edge::end ? inner - bytes : 0);
  }
  GuardedMemory(GuardedMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), mapped_(other.mapped_), data_(other.data_) {}
  GuardedMemory& operator=(GuardedMemory&&) = delete;
  ~GuardedMemory() {
    if (base_ != nullptr) munmap(base_, mapped_);
  }

  char* data() const { return data_; }

 private:
  char* base_ = nullptr;
  size_t mapped_ = 0;
  char* data_ = nullptr;
};

/// A copy of a view of strides above 0: from its first element to its last, and not a byte more.
class GuardedArray {
 public:
  GuardedArray(const ConstTensor& from, Edge edge) : from_(from), memory_(span(from), edge) {
    if (span(from) > 0) std::memcpy(memory_.data(), from.data, span(from));
  }

  ConstTensor view() const {
    ConstTensor copy = from_;
    copy.data = memory_.data();
    return copy;
  }
  Tensor writable() const {
    return {memory_.data(),
            from_.dtype,
            {from_.shape[0], from_.shape[1], from_.shape[2], from_.shape[3]},
            {from_.stride[0], from_.stride[1], from_.stride[2], from_.stride[3]}};
  }

  /// Copies what was written back to where the view was made of.
  void copy_back() const {
    if (span(from_) > 0) std::memcpy(const_cast<void*>(from_.data), memory_.data(), span(from_));
  }

 private:
  static size_t span(const ConstTensor& view) {
    int64_t elements = 1;
    for (int axis = 0; axis < 4; ++axis) {
      if (view.shape[axis] == 0) return 0;
      if (view.shape[axis] > 1) elements += (view.shape[axis] - 1) * view.stride[axis];
    }
    return static_cast<size_t>(elements * size_of(view.dtype));
  }

  ConstTensor from_;
  GuardedMemory memory_;
};

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_GUARD_PAGES_H_
