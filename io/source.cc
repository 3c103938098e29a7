// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "io/error.h"

namespace foveate::io {
namespace {

int open_to_read(const std::string& path) {
  const bool standard = is_standard_input(path);
  const int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw system_error(standard ? "standard input" : path, errno);
  return fd;
}

/// What lies past the read position of a regular file. Empty ones count as unknown: those of /proc say 0 whatever they
/// hold.
std::optional<uint64_t> bytes_left(int fd, const struct stat& status) {
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return std::nullopt;
  const off_t at = lseek(fd, 0, SEEK_CUR);
  if (at < 0) return std::nullopt;
  return static_cast<uint64_t>(std::max<off_t>(status.st_size - at, 0));
}

}  // namespace

bool is_standard_input(std::string_view path) {
  constexpr std::array<std::string_view, 4> kNames = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
  return std::find(kNames.begin(), kNames.end(), path) != kNames.end();
}

FileSource::FileSource(const std::string& path)
    : Source(is_standard_input(path) ? "standard input" : path), fd_(open_to_read(path)) {
  struct stat status {};
  const int error = fstat(fd_, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  const bool unreadable = (fcntl(fd_, F_GETFL) & O_ACCMODE) == O_WRONLY;
  if (error != 0 || unreadable) {
    ::close(fd_);
    throw error != 0 ? system_error(name(), error) : Error(name(), "not open for reading");
  }
  remaining_ = bytes_left(fd_, status);
}

FileSource::~FileSource() { ::close(fd_); }

size_t FileSource::read(void* data, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(fd_, static_cast<std::byte*>(data) + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(name(), errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  if (remaining_) *remaining_ -= std::min<uint64_t>(*remaining_, done);
  return done;
}

uint64_t FileSource::position() const {
  const off_t at = lseek(fd_, 0, SEEK_CUR);
  if (at < 0) throw system_error(name(), errno);
  return static_cast<uint64_t>(at);
}

size_t FileSource::read_at(uint64_t place, void* data, size_t bytes) const {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(fd_, static_cast<std::byte*>(data) + done, bytes - done, static_cast<off_t>(place + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error(name(), errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

size_t MemorySource::read(void* data, size_t bytes) {
  const size_t n = std::min(bytes, bytes_.size());
  if (n > 0) std::memcpy(data, bytes_.data(), n);
  bytes_ = bytes_.subspan(n);
  return n;
}

}  // namespace foveate::io
