// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Which pages are in use, and what stands before them: a tree, in which each page knows the one before it and a
// sequence knows its last one. So a fork is one more holder of a page, no sequence has a list that could outgrow its
// memory, and a page with one holder is the writer's own.
#ifndef FOVEATE_SRC_PAGE_TREE_H_
#define FOVEATE_SRC_PAGE_TREE_H_

#include <cstdint>
#include <memory>

#include "grow.h"

namespace foveate {

/// A page is held by each page after it and each sequence that ends with it. The last to release it frees it, and lets
/// go of the one before.
class PageTree {
 public:
  static constexpr int32_t kNone = -1;

  int64_t size() const { return size_; }
  int64_t in_use() const { return in_use_; }
  int64_t free() const { return size_ - in_use_; }

  bool resize(int64_t size) {
    if (size == size_) return true;
    if (!grow(pages_, size_, size)) return false;
    // The lowest page is taken first.
    for (int64_t i = size - 1; i >= size_; --i) put(static_cast<int32_t>(i));
    size_ = size;
    return true;
  }

  /// A free page, held once, which takes over the caller's hold of `previous`.
  int32_t take(int32_t previous) {
    const int32_t page = first_free_;
    first_free_ = pages_[page].previous;
    pages_[page] = {previous, 1};
    ++in_use_;
    return page;
  }

  void hold(int32_t page) {
    if (page != kNone) ++pages_[page].holders;
  }

  void release(int32_t page) {
    while (page != kNone && --pages_[page].holders == 0) {
      const int32_t previous = pages_[page].previous;
      put(page);
      --in_use_;
      page = previous;
    }
  }

  int32_t previous(int32_t page) const { return pages_[page].previous; }
  bool shared(int32_t page) const { return pages_[page].holders > 1; }

 private:
  struct Page {
    int32_t previous;  ///< of a free page: the next free one
    int32_t holders;
  };

  void put(int32_t page) {
    pages_[page] = {first_free_, 0};
    first_free_ = page;
  }

  std::unique_ptr<Page[]> pages_;
  int64_t size_ = 0, in_use_ = 0;
  int32_t first_free_ = kNone;
};

}  // namespace foveate

#endif  // FOVEATE_SRC_PAGE_TREE_H_
