// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/errors.h"
#include "io/output_file.h"

namespace foveate::cli {
namespace {

// What a signal handler may touch: lock-free atomics.
std::atomic<bool> deferred{false};
std::atomic<bool> stop_flag{false};
std::atomic<int> caught{0};
std::atomic<bool> ends_well{false};
std::atomic<bool> in_background{false};  // SIGINT was ignored at the start, as scripts start their background jobs
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal, siginfo_t* info, void* /*context*/) {
  // The terminal's Ctrl-C, which the kernel sends, is not meant for a job in the background; a kill is.
  if (signal == SIGINT && in_background && info->si_code > 0) return;
  if (deferred && caught.exchange(signal) == 0) {
    stop_flag = true;
    return;
  }
  io::remove_temporaries();
  _exit(ends_well ? 0 : kExitSignal + signal);
}

}  // namespace

void handle_signals() {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited = {};
    sigaction(signal, nullptr, &inherited);
    const bool ignored = inherited.sa_handler == SIG_IGN;
    if (signal == SIGINT) in_background = ignored;
    if (!ignored || signal == SIGINT) sigaction(signal, &action, nullptr);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
}

void end_well_on_signals() { ends_well = true; }

Cancellable::Cancellable() { deferred = true; }

Cancellable::~Cancellable() { deferred = false; }

const std::atomic<bool>* Cancellable::stop() const { return &stop_flag; }

void Cancellable::finish() {
  // In this order: a signal after the first line ends the process in its handler, one before it is seen here.
  deferred = false;
  if (const int signal = caught; signal != 0) throw Interrupted{signal};
}

}  // namespace foveate::cli
