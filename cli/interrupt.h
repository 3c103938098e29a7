// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C, SIGTERM and SIGHUP. Outside a Cancellable a signal ends the process at once, even where it waits on a pipe, and
// the temporary files go with it. Inside one it raises the stop flag that the computation polls; a second signal ends at
// once. The exit status is 128 + the signal's number (130 after Ctrl-C), but 0 for a server, which knows no other end.
// What was ignored when the program began stays ignored, as nohup and the background jobs of a shell ask for.
#ifndef FOVEATE_CLI_INTERRUPT_H_
#define FOVEATE_CLI_INTERRUPT_H_

#include <atomic>

namespace foveate::cli {

/// Installs the handlers, once. A reader that closes its end of a pipe, or a file that grows past its limit, becomes a
/// failed write, not a silent death.
void handle_signals();

/// From now on a signal is the ordinary way to end: at once, with exit status 0. For servers.
void end_well_on_signals();

/// While one lives, a first signal raises stop() instead of ending the process. One at a time.
class Cancellable {
 public:
  Cancellable();
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;

  const std::atomic<bool>* stop() const;

  /// Ends the deferral. Throws Interrupted if a signal came.
  void finish();
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_INTERRUPT_H_
