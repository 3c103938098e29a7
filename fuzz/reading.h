// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What fuzzers of file readers share.
#ifndef FOVEATE_FUZZ_READING_H_
#define FOVEATE_FUZZ_READING_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>

#include "io/error.h"
#include "io/source.h"

namespace foveate::fuzz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

/// Memory that does not tell its size, like a pipe.
class Pipe final : public io::Source {
 public:
  explicit Pipe(std::span<const std::byte> bytes) : Source("pipe"), memory_(bytes, "pipe") {}
  size_t read(void* data, size_t bytes) override { return memory_.read(data, bytes); }
  std::optional<uint64_t> remaining() const override { return std::nullopt; }

 private:
  io::MemorySource memory_;
};

/// What `read` returns; nothing where it threw an Error, which is one line.
template <class Read>
auto attempt(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const io::Error& error) {
    const std::string line = error.what();
    require(!line.empty() && line.find('\n') == std::string::npos, "an Error is one line");
    return std::nullopt;
  }
}

}  // namespace foveate::fuzz

#endif  // FOVEATE_FUZZ_READING_H_
