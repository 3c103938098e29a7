// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include "foveate/tbb.h"
#include "tbb/blocked_range.h"
#include "tbb/global_control.h"
#include "tbb/info.h"
#include "tbb/parallel_for.h"
#include "tbb/partitioner.h"
#include "tbb/task_arena.h"

namespace foveate {

struct TbbExecutor::Arena {
  // No more than TBB will give: asked for more, it prints a warning and gives no more either.
  explicit Arena(int threads)
      : arena(std::min(threads, static_cast<int>(
                                    tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)))) {
  }

  tbb::task_arena arena;
  std::mutex turn;
};

TbbExecutor::TbbExecutor(int threads)
    : arena_(std::make_unique<Arena>(threads > 0 ? threads : tbb::info::default_concurrency())) {}

TbbExecutor::~TbbExecutor() = default;

int64_t TbbExecutor::concurrency() const { return arena_->arena.max_concurrency(); }

void TbbExecutor::run(int64_t n_tasks, Task task, void* context) {
  // A worker's index names a slot of the arena, which one thread holds at a time; the lock keeps two calls from meeting
  // in one slot.
  const std::lock_guard<std::mutex> lock(arena_->turn);
  arena_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, n_tasks, 1),
        [&](const tbb::blocked_range<int64_t>& range) {
          const int64_t worker = tbb::this_task_arena::current_thread_index();
          for (int64_t i = range.begin(); i < range.end(); ++i) task(context, i, worker);
        },
        tbb::auto_partitioner());
  });
}

}  // namespace foveate
