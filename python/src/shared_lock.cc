// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/shared_lock.h"

#include <new>
#include <set>
#include <stdexcept>

namespace foveate::python {
namespace {

namespace nb = nanobind;

thread_local const SharedLock::Reading* innermost = nullptr;

/// All there are, by the GIL's protection. Never ended: an object of Python may outlive the module.
std::set<SharedLock*>& locks() {
  static auto* const all = new std::set<SharedLock*>;
  return *all;
}

}  // namespace

SharedLock::SharedLock() { locks().insert(this); }

SharedLock::~SharedLock() {
  locks().erase(this);
  if (held_for_fork_) mutex_.unlock_shared();
}

SharedLock::Reading::Reading(SharedLock& lock) : lock_(lock), outer_(innermost), first_(!lock.read_here()) {
  if (first_ && !lock_.mutex_.try_lock_shared()) {
    const nb::gil_scoped_release released;
    wait([&] { return lock_.mutex_.try_lock_shared_for(kBetweenQuestions); });
  }
  innermost = this;
}

SharedLock::Reading::~Reading() {
  innermost = outer_;
  if (first_) lock_.mutex_.unlock_shared();
}

bool SharedLock::read_here() const {
  for (const Reading* one = innermost; one != nullptr; one = one->outer_) {
    if (&one->lock_ == this) return true;
  }
  return false;
}

void SharedLock::refuse_readers() const {
  if (!read_here()) return;
  throw std::runtime_error(
      "cache: changed by a signal's handler or a finalizer while this thread's call reads it; change it after the "
      "call");
}

void SharedLock::watch_forks() {
  nb::dict hooks;
  hooks["before"] = nb::cpp_function(before_fork);
  hooks["after_in_parent"] = nb::cpp_function(after_fork_in_parent);
  hooks["after_in_child"] = nb::cpp_function(after_fork_in_child);
  nb::module_::import_("os").attr("register_at_fork")(**hooks);
}

// With the GIL, unlike other waiting: who changes something does not need it to come to an end, and who only waits to do so
// does not keep readers out.
void SharedLock::before_fork() {
  for (SharedLock* lock : locks()) {
    if (lock->read_here()) continue;  // then nobody changes it
    lock->mutex_.lock_shared();
    lock->held_for_fork_ = true;
  }
}

void SharedLock::after_fork_in_parent() {
  for (SharedLock* lock : locks()) {
    if (lock->held_for_fork_) lock->mutex_.unlock_shared();
    lock->held_for_fork_ = false;
  }
}

void SharedLock::after_fork_in_child() {
  for (SharedLock* lock : locks()) {
    new (&lock->mutex_) std::shared_timed_mutex;  // other threads that had it are not there to give it back
    if (lock->read_here()) lock->mutex_.lock_shared();
    lock->held_for_fork_ = false;
  }
}

}  // namespace foveate::python
