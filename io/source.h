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
