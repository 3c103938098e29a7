// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Output that appears whole or not at all: bytes go to a temporary file beside the target, and commit() renames it into
// place. Everything here throws Error, so a full disk or a closed pipe is an error with a name, never a short file.
//
//   path "-", "/dev/stdout"             standard output, written to directly
//   a pipe, a device, /dev/null         written to directly, never replaced; opened by the first write
//   a regular file                      replaced, its permissions kept
//   a symbolic link to either of those  the file it leads to is meant, the link stays
//   nothing                             created, its permissions by the umask
//
// A pipe without a reader raises SIGPIPE: a program that ignores it gets the Error.
#ifndef FOVEATE_IO_OUTPUT_FILE_H_
#define FOVEATE_IO_OUTPUT_FILE_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/error.h"

namespace foveate::io {

/// "-", or a name that the system has for standard output.
bool is_standard_output(std::string_view path);

/// What tells one regular file from another, whatever its names; "" for pipes and devices, which many may share.
std::string file_identity(const struct stat& status);

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

  /// What tells the file that will be replaced or made from any other, by whatever path and links it was named: the
  /// file_identity of one that exists. "" for pipes and devices.
  const std::string& identity() const { return identity_; }

  /// Appends. Buffered: an error may show in a later call.
  void write(const void* data, size_t bytes);

  /// Writes out what is buffered and closes, so that a full disk shows before anything is replaced.
  void close();

  /// Closes, and puts the file in its place.
  void commit();

 private:
  static constexpr int kNone = -1;

  friend void commit_together(std::span<OutputFile> files);

  OutputFile() = default;
  void open_standard_output();
  void open_folder(const std::filesystem::path& target);
  std::string identity_in_folder() const;
  void create_temporary(std::optional<mode_t> mode);
  void open_direct();
  void write_through(const std::byte* data, size_t bytes);
  int put_in_place() noexcept;

  std::string name_;
  std::string folder_name_;
  std::string target_;  ///< the file's name in its folder, symbolic links followed; the path where written to directly
  std::string identity_;
  int folder_ = kNone;
  int temporary_ = kNone;  ///< slot in the registry of temporaries; none where the target is written to directly
  int fd_ = kNone;
  bool closed_ = false;
  std::vector<std::byte> buffer_;
};

/// Commits several: closes all of them before the first is renamed, and no signal comes between the renames. Should a
/// rename still fail, those before it stay, and the Error says which.
void commit_together(std::span<OutputFile> files);

/// Removes the temporaries of all output files not committed, before the process ends: in a signal handler, that is,
/// which no other handler may interrupt. Waits for a commit under way on another thread. Output files must not be used
/// afterwards.
void remove_temporaries() noexcept;

}  // namespace foveate::io

#endif  // FOVEATE_IO_OUTPUT_FILE_H_
