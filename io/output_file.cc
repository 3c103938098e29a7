// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

namespace foveate::io {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 18;

/// The temporaries that exist now. Of fixed size and lock-free, because a signal handler walks it.
struct Temporary {
  enum State : int { kFree, kClaimed, kLive };
  std::atomic<int> state{kFree};
  int folder = -1;
  char name[40] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

Temporary temporaries[64];

/// Registers a temporary of a new name in an open folder.
int register_temporary(const std::string& name, int folder) {
  int slot = 0;
  for (Temporary& temporary : temporaries) {
    int expected = Temporary::kFree;
    if (temporary.state.compare_exchange_strong(expected, Temporary::kClaimed)) {
      std::random_device random;
      std::snprintf(temporary.name, sizeof temporary.name, ".foveate-%08x%08x.tmp", random(), random());
      temporary.folder = folder;
      temporary.state.store(Temporary::kLive, std::memory_order_release);
      return slot;
    }
    ++slot;
  }
  throw system_error(name, EMFILE);
}

void forget_temporary(int slot) { temporaries[slot].state.store(Temporary::kFree, std::memory_order_release); }

void remove(const Temporary& temporary) { unlinkat(temporary.folder, temporary.name, 0); }

/// Who makes, renames or removes temporaries now. A lock that a signal handler can take, too: no handler ever runs on the
/// thread that holds it.
std::atomic_flag files_change;

void claim_files() {
  constexpr timespec kMoment = {.tv_sec = 0, .tv_nsec = 100'000};
  while (files_change.test_and_set(std::memory_order_acquire)) nanosleep(&kMoment, nullptr);
}

/// While one lives, no signal ends the process on this thread, and remove_temporaries() on another waits.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
    claim_files();
  }
  ~Undisturbed() {
    files_change.clear(std::memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_;
};

/// Where the links lead that start at `path`: to a file, or to where one is yet to be made.
fs::path end_of_links(const std::string& name, fs::path path) {
  constexpr int kMaxLinks = 40;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code not_a_link;
    const fs::path next = fs::read_symlink(path, not_a_link);
    if (not_a_link) return path;
    path = path.parent_path() / next;
  }
  throw system_error(name, ELOOP);
}

}  // namespace

bool is_standard_output(std::string_view path) {
  constexpr std::array<std::string_view, 4> kNames = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  return std::find(kNames.begin(), kNames.end(), path) != kNames.end();
}

std::string file_identity(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return {};
  return "file " + std::to_string(status.st_dev) + " " + std::to_string(status.st_ino);
}

// It delegates, so that the destructor tidies up after a constructor that throws half-way.
OutputFile::OutputFile(std::string path) : OutputFile() {
  if (is_standard_output(path)) {
    name_ = "standard output";
    open_standard_output();
    return;
  }
  name_ = path;
  if (path.empty()) throw Error("''", "expected a file name, got none");
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw system_error(name_, errno);
  if (exists && S_ISDIR(status.st_mode)) throw Error(name_, "is a folder, not a file");
  // A rename would replace a file that its owner has made read-only.
  if (exists && access(path.c_str(), W_OK) != 0) throw system_error(name_, errno);
  if (exists && !S_ISREG(status.st_mode)) {
    target_ = std::move(path);
    return;
  }
  const fs::path target = end_of_links(name_, path);
  // /proc has links to files that no name leads to any more.
  if (exists && access(target.c_str(), F_OK) != 0) throw system_error(name_, errno);
  open_folder(target);
  create_temporary(exists ? std::optional(status.st_mode & 0777) : std::nullopt);
  identity_ = exists ? file_identity(status) : identity_in_folder();
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      folder_name_(std::move(other.folder_name_)),
      target_(std::move(other.target_)),
      identity_(std::move(other.identity_)),
      folder_(std::exchange(other.folder_, kNone)),
      temporary_(std::exchange(other.temporary_, kNone)),
      fd_(std::exchange(other.fd_, kNone)),
      closed_(std::exchange(other.closed_, true)),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (fd_ != kNone) ::close(fd_);
  if (temporary_ != kNone) {
    const Undisturbed undisturbed;
    remove(temporaries[temporary_]);
    forget_temporary(temporary_);
  }
  if (folder_ != kNone) ::close(folder_);
}

void OutputFile::open_standard_output() {
  const int mode = fcntl(STDOUT_FILENO, F_GETFL);
  if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY) throw Error(name_, "not open for writing");
  // A duplicate can be closed, and closing tells of errors that writing did not.
  fd_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) throw system_error(name_, errno);
  identity_ = file_identity(status);
}

/// Names are looked up from the folder on, so that no path grows past what the system takes.
void OutputFile::open_folder(const fs::path& target) {
  folder_name_ = target.has_parent_path() ? target.parent_path() : ".";
  target_ = target.filename();
  folder_ = open(folder_name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_ == kNone && errno == ENOENT) throw Error(name_, "no folder " + folder_name_ + "; create it first");
  if (folder_ == kNone) throw system_error(name_, errno);
  if (target_.empty()) throw Error(name_, "is a folder, not a file");
}

std::string OutputFile::identity_in_folder() const {
  struct stat status {};
  if (fstat(folder_, &status) != 0) throw system_error(name_, errno);
  return "new " + std::to_string(status.st_dev) + " " + std::to_string(status.st_ino) + " " + target_;
}

/// With the permissions of the file it will replace, else those that the umask leaves.
void OutputFile::create_temporary(std::optional<mode_t> mode) {
  const Undisturbed undisturbed;
  const int slot = register_temporary(name_, folder_);
  fd_ = openat(folder_, temporaries[slot].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ? 0600 : 0666);
  if (fd_ == kNone) {
    const int error = errno;
    forget_temporary(slot);
    throw Error(name_, "cannot write in " + folder_name_ + ": " + std::generic_category().message(error));
  }
  temporary_ = slot;
  // Some file systems have no permissions to set: the same for every file there, so nothing is lost.
  if (mode && fchmod(fd_, *mode) != 0 && errno != EPERM && errno != ENOTSUP) throw system_error(name_, errno);
}

/// Late, because opening a pipe waits for its reader, who may first want to read another output to its end.
void OutputFile::open_direct() {
  fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) throw system_error(name_, errno);
}

void OutputFile::write(const void* data, size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  if (buffer_.size() + bytes <= kBufferBytes) {
    buffer_.insert(buffer_.end(), from, from + bytes);
    return;
  }
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
  if (bytes < kBufferBytes) {
    buffer_.insert(buffer_.end(), from, from + bytes);
  } else {
    write_through(from, bytes);
  }
}

void OutputFile::write_through(const std::byte* data, size_t bytes) {
  if (fd_ == kNone) open_direct();
  while (bytes > 0) {
    const ssize_t wrote = ::write(fd_, data, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw system_error(name_, errno);
    data += wrote;
    bytes -= static_cast<size_t>(wrote);
  }
}

void OutputFile::close() {
  if (closed_) return;
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
  closed_ = true;
  // After EINTR, too, the descriptor is gone.
  if (::close(std::exchange(fd_, kNone)) != 0 && errno != EINTR) throw system_error(name_, errno);
}

/// The error number of the rename, 0 when it is done.
int OutputFile::put_in_place() noexcept {
  if (temporary_ == kNone) return 0;
  if (renameat(folder_, temporaries[temporary_].name, folder_, target_.c_str()) != 0) return errno;
  forget_temporary(std::exchange(temporary_, kNone));
  return 0;
}

void OutputFile::commit() {
  close();
  const Undisturbed undisturbed;
  if (const int error = put_in_place(); error != 0) throw system_error(name_, error);
}

void commit_together(std::span<OutputFile> files) {
  for (OutputFile& file : files) file.close();
  const Undisturbed undisturbed;
  std::string done;
  for (OutputFile& file : files) {
    if (const int error = file.put_in_place(); error != 0) {
      const std::string problem = std::generic_category().message(error);
      throw Error(file.name(), done.empty() ? problem : problem + " (already written: " + done + ")");
    }
    done += (done.empty() ? "" : ", ") + file.name();
  }
}

void remove_temporaries() noexcept {
  claim_files();  // and never released: the process ends
  for (const Temporary& temporary : temporaries) {
    if (temporary.state.load(std::memory_order_acquire) == Temporary::kLive) remove(temporary);
  }
}

}  // namespace foveate::io
