// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The sequences of a cache, by numbers that are not given twice.
#ifndef FOVEATE_SRC_SEQUENCE_TABLE_H_
#define FOVEATE_SRC_SEQUENCE_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "grow.h"

namespace foveate {

struct Sequence {
  int64_t length;
  int32_t last_page;  ///< the one that ends with the sequence; PageTree::kNone: no keys
};

/// A number is a place in the table and, from bit 32 on, how many sequences had that place before.
class SequenceTable {
 public:
  int64_t alive() const { return alive_; }

  Sequence* find(int64_t number) const {
    const int64_t place = number & kPlaceMask;
    return number >= 0 && place < size_ && entries_[place].number == number ? &entries_[place].sequence : nullptr;
  }

  /// False: no memory, nothing changed.
  bool add(const Sequence& sequence, int64_t* number) {
    if (first_free_ == kNone && !double_size()) return false;
    Entry& entry = entries_[first_free_];
    first_free_ = entry.next_free;
    entry.number = ~entry.number;
    entry.sequence = sequence;
    ++alive_;
    *number = entry.number;
    return true;
  }

  void remove(int64_t number) {
    const int64_t place = number & kPlaceMask;
    const auto next = static_cast<uint64_t>(number) + kPlaceMask + 1;
    entries_[place].number = ~static_cast<int64_t>(next & std::numeric_limits<int64_t>::max());
    entries_[place].next_free = first_free_;
    first_free_ = place;
    --alive_;
  }

 private:
  static constexpr int64_t kNone = -1, kPlaceMask = (int64_t{1} << 32) - 1;

  struct Entry {
    int64_t number;  ///< of a free place: the complement, below 0, of the number it gives next
    int64_t next_free;
    Sequence sequence;
  };

  bool double_size() {
    const int64_t size = std::max<int64_t>(2 * size_, 8);
    if (!grow(entries_, size_, size)) return false;
    for (int64_t i = size - 1; i >= size_; --i) {
      entries_[i] = {~i, first_free_, {}};
      first_free_ = i;
    }
    size_ = size;
    return true;
  }

  std::unique_ptr<Entry[]> entries_;
  int64_t size_ = 0, alive_ = 0, first_free_ = kNone;
};

}  // namespace foveate

#endif  // FOVEATE_SRC_SEQUENCE_TABLE_H_
