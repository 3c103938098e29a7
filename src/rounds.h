// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call as rounds of tasks, whatever it computes: what runs on an executor, or is handed to a host by planned_call.h. Tasks of
// a round may run in any order and at once; a round begins when the one before it is done.
#ifndef FOVEATE_SRC_ROUNDS_H_
#define FOVEATE_SRC_ROUNDS_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "foveate/attention.h"
#include "foveate/status.h"
#include "tasks.h"

namespace foveate {

class Rounds {
 public:
  virtual int64_t rounds() const = 0;
  virtual int64_t tasks(int64_t round) const = 0;

  /// Does tasks [first, first + count) of a round, here, as that worker.
  virtual void run(int64_t round, int64_t first, int64_t count, int64_t worker) = 0;

  /// `cancelled` if any task was left out.
  virtual Status status() const = 0;

 protected:
  ~Rounds() = default;
};

/// Memory for the rounds of a call, and for those of one that has another call's among its own.
struct RoundsMemory {
  alignas(64) char bytes[1024];
};
struct NestedRoundsMemory {
  alignas(64) char bytes[4096];
};

/// Builds a call in place. It tells rounds() and tasks(round), does one(round, task, worker), and needs no end. What it is
/// handed outlives it.
template <class Call, class Memory, class... Arguments>
Rounds* place_rounds(Memory* memory, const Execution& execution, Arguments&&... arguments) {
  class Placed final : public Rounds {
   public:
    explicit Placed(const Execution& how, Arguments&&... rest) : call_(std::forward<Arguments>(rest)...), tasks_(how) {}
    int64_t rounds() const override { return call_.rounds(); }
    int64_t tasks(int64_t round) const override { return call_.tasks(round); }
    void run(int64_t round, int64_t first, int64_t count, int64_t worker) override {
      const auto body = [this, round](int64_t task, int64_t as) { call_.one(round, task, as); };
      for (int64_t task = first; task < first + count; ++task) tasks_.one(body, task, worker);
    }
    Status status() const override { return tasks_.status(); }

   private:
    Call call_;
    Tasks tasks_;
  };
  static_assert(sizeof(Placed) <= sizeof(Memory) && std::is_trivially_destructible_v<Placed>);
  return new (memory->bytes) Placed(execution, std::forward<Arguments>(arguments)...);
}

/// Does all of a call, on the executor or here.
inline Status run_all(Rounds& rounds, const Execution& execution) {
  struct Round {
    Rounds& rounds;
    int64_t index;
  };
  const auto task = [](void* context, int64_t index, int64_t worker) {
    const Round& round = *static_cast<const Round*>(context);
    round.rounds.run(round.index, index, 1, worker);
  };
  for (Round round{rounds, 0}; round.index < rounds.rounds(); ++round.index) {
    const int64_t n = rounds.tasks(round.index);
    if (n == 0) continue;
    execution.executor != nullptr ? execution.executor->run(n, task, &round) : rounds.run(round.index, 0, n, 0);
  }
  return rounds.status();
}

}  // namespace foveate

#endif  // FOVEATE_SRC_ROUNDS_H_
