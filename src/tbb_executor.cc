// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "foveate/tbb.h"

#ifndef _WIN32
#include <pthread.h>
#endif

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "tbb/blocked_range.h"
#include "tbb/global_control.h"
#include "tbb/info.h"
#include "tbb/parallel_for.h"
#include "tbb/partitioner.h"
#include "tbb/task_arena.h"

namespace foveate {

struct TbbExecutor::Arena {
  explicit Arena(int n) : workers(n), arena(n) {}

  /// An idle one of the process's, or a new one.
  static std::unique_ptr<Arena> take(int workers);
  static void give_back(std::unique_ptr<Arena> taken);

  const int workers;
  tbb::task_arena arena;
  std::mutex turn;

  struct Process;
};

/// The arenas that no executor has at present. TBB frees the memory of an arena only after its last worker has left,
/// which may be long after its end: 30 000 of them, one after another on a busy machine, held 225 MB and made each call
/// eight times slower.
struct TbbExecutor::Arena::Process {
  std::mutex mutex;
  std::vector<std::unique_ptr<Arena>> idle;
  bool forked = false;  ///< of a process that had executors: TBB counts on threads that are not there

  /// Never ended: threads may be at work until the process is.
  static Process& get() {
    static Process* const process = [] {
      auto* made = new Process;
#ifndef _WIN32
      // The child's one thread knows neither who held the mutex nor what state the arenas were in.
      pthread_atfork(nullptr, nullptr, [] { (new (&get()) Process)->forked = true; });
#endif
      return made;
    }();
    return *process;
  }
};

std::unique_ptr<TbbExecutor::Arena> TbbExecutor::Arena::take(int workers) {
  Process& process = Process::get();
  if (process.forked) workers = 1;
  const std::lock_guard<std::mutex> lock(process.mutex);
  const auto found = std::find_if(process.idle.begin(), process.idle.end(),
                                  [&](const auto& idle) { return idle->workers == workers; });
  if (found == process.idle.end()) return std::make_unique<Arena>(workers);
  std::swap(*found, process.idle.back());
  std::unique_ptr<Arena> taken = std::move(process.idle.back());
  process.idle.pop_back();
  return taken;
}

void TbbExecutor::Arena::give_back(std::unique_ptr<Arena> taken) {
  Process& process = Process::get();
  const std::lock_guard<std::mutex> lock(process.mutex);
  process.idle.push_back(std::move(taken));
}

TbbExecutor::TbbExecutor(int threads) {
  if (threads <= 0) threads = tbb::info::default_concurrency();
  // No more than TBB will give: asked for more, it prints a warning and gives no more either.
  const size_t most = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  arena_ = Arena::take(std::min(threads, static_cast<int>(most)));
}

TbbExecutor::~TbbExecutor() { Arena::give_back(std::move(arena_)); }

int64_t TbbExecutor::concurrency() const { return arena_->workers; }

void TbbExecutor::run(int64_t n_tasks, Task task, void* context) {
  // A worker's index names a slot of the arena, which one thread holds at a time; the lock keeps two calls from meeting
  // in one slot.
  const std::lock_guard<std::mutex> lock(arena_->turn);
  if (n_tasks <= 1 || arena_->workers == 1 || Arena::Process::get().forked) {  // no other thread need wake
    for (int64_t i = 0; i < n_tasks; ++i) task(context, i, 0);
    return;
  }
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
