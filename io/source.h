// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Where a reader takes its bytes from: a file, a pipe, or memory.
#ifndef FOVEATE_IO_SOURCE_H_
#define FOVEATE_IO_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace foveate::io {

class Source {
 public:
  explicit Source(std::string name) : name_(std::move(name)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// What messages call it.
  const std::string& name() const { return name_; }

  /// Reads `bytes` bytes, fewer only where the source ends, and returns how many. Throws Error.
  virtual size_t read(void* data, size_t bytes) = 0;

  /// How many bytes are left, where that is known: not of a pipe.
  virtual std::optional<uint64_t> remaining() const = 0;

 private:
  std::string name_;
};

/// "-", or a name that the system has for standard input.
bool is_standard_input(std::string_view path);

/// A file by its path; "-" is standard input.
class FileSource final : public Source {
 public:
  explicit FileSource(const std::string& path);
  ~FileSource() override;

  size_t read(void* data, size_t bytes) override;
  std::optional<uint64_t> remaining() const override { return remaining_; }

  /// Where the next read() begins in a file that has places: not of a pipe. Throws Error.
  uint64_t position() const;

  /// Reads from that place on, as read() does from its own, which stays.
  size_t read_at(uint64_t place, void* data, size_t bytes) const;

 private:
  int fd_;
  std::optional<uint64_t> remaining_;
};

/// Bytes in memory, which must outlive it.
class MemorySource final : public Source {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string name) : Source(std::move(name)), bytes_(bytes) {}

  size_t read(void* data, size_t bytes) override;
  std::optional<uint64_t> remaining() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace foveate::io

#endif  // FOVEATE_IO_SOURCE_H_
