// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Output that appears whole or not at all: bytes go to a temporary file beside the target, and commit() renames it into
// place. Everything here throws Error, so a full disk or a closed pipe is an error with a name, never a short file.
//
//   path "-"                            standard output, written to directly
//   a pipe, a device, /dev/null         written to directly, never replaced; opened by the first write
//   a regular file                      replaced, its permissions kept
//   a symbolic link to either of those  the file it leads to is meant, the link stays
//   nothing                             created, its permissions by the umask
//
// A pipe without a reader raises SIGPIPE: a program that ignores it gets the Error.
#ifndef FOVEATE_IO_OUTPUT_FILE_H_
#define FOVEATE_IO_OUTPUT_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/error.h"

namespace foveate::io {

class OutputFile {
 public:
  /// Finds out whether the target can be written, and makes the temporary.
  explicit OutputFile(std::string path);

  /// Removes the temporary, unless committed.
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  /// What messages call it: the path as it was given, or "standard output".
  const std::string& name() const { return name_; }

  /// Appends. Buffered: an error may show in a later call.
  void write(const void* data, size_t bytes);

  /// Writes out what is buffered and closes, so that a full disk shows before anything is replaced.
  void close();

  /// Closes, and puts the file in its place.
  void commit();

 private:
  static constexpr int kNone = -1;

  friend void commit_together(std::span<OutputFile> files);

  void create_temporary(std::optional<mode_t> mode);
  void open_direct();
  void write_through(const std::byte* data, size_t bytes);
  int put_in_place() noexcept;

  std::string name_;
  std::string target_;     ///< where the file goes, symbolic links resolved
  int temporary_ = kNone;  ///< slot in the registry of temporaries; none where the target is written to directly
  int fd_ = kNone;
  bool closed_ = false;
  std::vector<std::byte> buffer_;
};

/// Commits several: closes all of them before the first is renamed. Should a rename still fail, those before it stay,
/// and the Error says which.
void commit_together(std::span<OutputFile> files);

/// Removes the temporaries of all output files not committed, in a signal handler too (it calls nothing but unlink).
/// Output files must not be used afterwards.
void remove_temporaries() noexcept;

}  // namespace foveate::io

#endif  // FOVEATE_IO_OUTPUT_FILE_H_
