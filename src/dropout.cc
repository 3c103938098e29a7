// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/dropout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fp_mode.h"
#include "philox.h"
#include "tasks.h"
#include "validate.h"
#include "vector_at.h"
#include "workspace.h"

namespace foveate {
namespace {

/// Entries of a task, in whole rows: a fraction of a millisecond, long beside the cost of handing it out.
constexpr int64_t kEntriesPerTask = int64_t{1} << 16;

class Mask {
 public:
  Mask(const Tensor& keep, const AttentionOptions& options)
      : keep_(keep),
        options_(options),
        threshold_(static_cast<uint64_t>(std::ceil(options.dropout * 0x1p32))),
        rows_per_task_(std::max<int64_t>(1, kEntriesPerTask / keep.shape[3])) {}

  Status run(const Execution& execution) const {
    const int64_t rows = keep_.shape[0] * keep_.shape[1] * keep_.shape[2];
    Tasks tasks(execution);
    tasks.run((rows + rows_per_task_ - 1) / rows_per_task_, [&](int64_t task, int64_t) {
      const int64_t last = std::min(rows, (task + 1) * rows_per_task_);
      for (int64_t row = task * rows_per_task_; row < last; ++row) one(row);
    });
    return tasks.status();
  }

 private:
  void one(int64_t row) const {
    const int64_t i = row % keep_.shape[2], h = row / keep_.shape[2] % keep_.shape[1];
    const int64_t b = row / keep_.shape[2] / keep_.shape[1], position = first_position(b) + i;
    bool* const keep = static_cast<bool*>(keep_.data) + b * keep_.stride[0] + h * keep_.stride[1] + i * keep_.stride[2];
    const int64_t kv_offset = options_.kv_offset.value_or(0);
    for (int64_t j = 0; j < keep_.shape[3];) {
      const int64_t key = kv_offset + j;
      const PhiloxWords words = philox({static_cast<uint32_t>(key >> 2), static_cast<uint32_t>(position),
                                        static_cast<uint32_t>(h), static_cast<uint32_t>(b)},
                                       options_.seed);
      // One counter serves the keys up to the next multiple of 4.
      for (auto word = static_cast<size_t>(key & 3); word < 4 && j < keep_.shape[3]; ++word, ++j) {
        keep[j * keep_.stride[3]] = words[word] >= threshold_;
      }
    }
  }

  /// p_0, as attention() has it.
  int64_t first_position(int64_t b) const {
    if (options_.q_offset) return *options_.q_offset;
    if (options_.align == Align::top_left) return 0;
    const auto length = [b](const ConstVector& lengths, int64_t absent) {
      return lengths.present() ? integer_at(lengths, b) : absent;
    };
    return length(options_.kv_lengths, keep_.shape[3]) - length(options_.q_lengths, keep_.shape[2]);
  }

  const Tensor& keep_;
  const AttentionOptions& options_;
  const uint64_t threshold_;
  const int64_t rows_per_task_;
};

}  // namespace

Status dropout_mask(const Tensor& keep, const AttentionOptions& options, const Execution& execution) {
  const FpMode mode;  // the probability is compared and multiplied in a mode without traps
  if (Status status = validate(keep, options); !status.ok()) return status;
  if (Status status = check_workers(execution); !status.ok()) return status;
  for (const int64_t extent : keep.shape) {
    if (extent == 0) return {};
  }
  return Mask(keep, options).run(execution);
}

}  // namespace foveate
