// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

namespace foveate::io {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

/// The temporaries that exist now. Of fixed size and lock-free, because a signal handler walks it.
struct Temporary {
  enum State : int { kFree, kClaimed, kLive };
  std::atomic<int> state{kFree};
  char path[PATH_MAX] = {};
};
static_assert(std::atomic<int>::is_always_lock_free);

Temporary temporaries[64];

int register_temporary(const std::string& name, const std::string& path) {
  if (path.size() >= PATH_MAX) throw system_error(name, ENAMETOOLONG);
  int slot = 0;
  for (Temporary& temporary : temporaries) {
    int expected = Temporary::kFree;
    if (temporary.state.compare_exchange_strong(expected, Temporary::kClaimed)) {
      std::memcpy(temporary.path, path.c_str(), path.size() + 1);
      temporary.state.store(Temporary::kLive, std::memory_order_release);
      return slot;
    }
    ++slot;
  }
  throw system_error(name, EMFILE);
}

void forget_temporary(int slot) { temporaries[slot].state.store(Temporary::kFree, std::memory_order_release); }

/// Where the links lead that start at `path`, which are broken: to a file yet to be made.
std::string end_of_links(const std::string& name, std::string path) {
  constexpr int kMaxLinks = 40;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code not_a_link;
    const std::filesystem::path next = std::filesystem::read_symlink(path, not_a_link);
    if (not_a_link) return path;
    path = std::filesystem::path(path).parent_path() / next;
  }
  throw system_error(name, ELOOP);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  if (real == nullptr) throw system_error(path, errno);
  return real.get();
}

std::string temporary_beside(const std::string& target) {
  std::random_device random;
  char name[48];
  std::snprintf(name, sizeof name, ".foveate-%08x%08x.tmp", random(), random());
  return std::filesystem::path(target).replace_filename(name);
}

}  // namespace

OutputFile::OutputFile(std::string path) : name_(path == "-" ? "standard output" : path) {
  if (path == "-") {
    // A duplicate can be closed, and closing tells of errors that writing did not.
    fd_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) throw system_error(name_, errno);
    return;
  }
  if (path.empty()) throw Error("''", "expected a file name, got none");
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw system_error(name_, errno);
    target_ = end_of_links(name_, std::move(path));
    create_temporary(std::nullopt);
    return;
  }
  if (S_ISDIR(status.st_mode)) throw system_error(name_, EISDIR);
  // A rename would replace a file that its owner has made read-only.
  if (access(path.c_str(), W_OK) != 0) throw system_error(name_, errno);
  if (S_ISREG(status.st_mode)) {
    target_ = real_path(path);
    create_temporary(status.st_mode & 0777);
  } else {
    target_ = std::move(path);
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, kNone)),
      fd_(std::exchange(other.fd_, kNone)),
      closed_(std::exchange(other.closed_, true)),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (fd_ != kNone) ::close(fd_);
  if (temporary_ == kNone) return;
  unlink(temporaries[temporary_].path);
  forget_temporary(temporary_);
}

/// With the permissions of the file it will replace, else those that the umask leaves.
void OutputFile::create_temporary(std::optional<mode_t> mode) {
  const std::string path = temporary_beside(target_);
  // Registered before it exists, lest a signal between the two leave it behind.
  const int slot = register_temporary(name_, path);
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ? 0600 : 0666);
  if (fd_ < 0) {
    const int error = errno;
    forget_temporary(slot);
    if (error != ENOENT) throw system_error(name_, error);
    throw Error(name_, "its folder does not exist");
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
  if (std::rename(temporaries[temporary_].path, target_.c_str()) != 0) return errno;
  forget_temporary(std::exchange(temporary_, kNone));
  return 0;
}

void OutputFile::commit() {
  close();
  if (const int error = put_in_place(); error != 0) throw system_error(name_, error);
}

void commit_together(std::span<OutputFile> files) {
  for (OutputFile& file : files) file.close();
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
  for (Temporary& temporary : temporaries) {
    if (temporary.state.load(std::memory_order_acquire) == Temporary::kLive) unlink(temporary.path);
  }
}

}  // namespace foveate::io
