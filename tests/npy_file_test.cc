// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The .npy reader on what lies behind a path: files, pipes, standard input.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "io/npy.h"
#include "tests/npy_bytes.h"

namespace foveate::io {
namespace {

class NpyFile : public testing::Test {
 protected:
  NpyFile() {
    std::string pattern = testing::TempDir() + "npy_test_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~NpyFile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  static std::string error_of_path(const std::string& path) {
    try {
      read_npy(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  std::string folder_;
};

TEST_F(NpyFile, RoundTrip) {
  OutputFile out(path("a.npy"));
  write_npy(out, read(kNumPyFile));
  out.commit();
  std::ifstream in(path("a.npy"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), kNumPyFile);
  EXPECT_EQ(elements<float>(read_npy(path("a.npy"))), (std::vector<float>{1, -2, 3, 4, 5, 6.5}));
}

TEST_F(NpyFile, NamesTheFileAndTheReason) {
  EXPECT_EQ(error_of_path(path("none.npy")), path("none.npy") + ": No such file or directory");
  EXPECT_EQ(error_of_path(folder_), folder_ + ": Is a directory");
  EXPECT_EQ(error_of_path(put("short.npy", kNumPyFile.substr(0, 140))),
            path("short.npy") + ": shape: (2, 3) of f4 takes 24 bytes, the file holds 12");
  EXPECT_EQ(error_of_path(put("empty.npy", "")),
            path("empty.npy") + ": not a whole .npy file: ends in its first 8 bytes");
  EXPECT_EQ(error_of_path(put("two\nlines.npy", "x")).find('\n'), std::string::npos);
  if (geteuid() != 0) {
    std::filesystem::permissions(put("secret.npy", kNumPyFile), std::filesystem::perms::none);
    EXPECT_EQ(error_of_path(path("secret.npy")), path("secret.npy") + ": Permission denied");
  }
}

/// Sends bytes through a named pipe while `read` reads it.
template <class Read>
void through_pipe(const std::string& path, const std::string& bytes, const Read& read) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    const int fd = open(path.c_str(), O_WRONLY);
    for (size_t done = 0; done < bytes.size();) {  // in pieces, so that short reads happen
      const ssize_t n = write(fd, bytes.data() + done, std::min<size_t>(bytes.size() - done, 5000));
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    close(fd);
  });
  read();
  writer.join();
  unlink(path.c_str());
}

TEST_F(NpyFile, Pipe) {
  std::string data(5 << 20, '\0');  // past several steps of growth
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 >> 3);
  for (const auto& [descr, width] : {std::pair("<i4", 4), std::pair("|u1", 1)}) {
    SCOPED_TRACE(descr);
    const std::string bytes = file(dict(descr, "(" + std::to_string(data.size() / width) + ",)"), data);
    through_pipe(path("pipe"), bytes, [&] { EXPECT_EQ(written(read_npy(path("pipe"))), written(read(bytes))); });
  }
}

TEST_F(NpyFile, PipeThatPromisesTooMuch) {
  through_pipe(path("pipe"), file(dict("<f8", "(1000000, 1000000)"), "12345678"), [&] {
    EXPECT_EQ(error_of_path(path("pipe")),
              path("pipe") + ": shape: (1000000, 1000000) of f8 takes 8000000000000 bytes, the file holds 8");
  });
  through_pipe(path("pipe"), file(dict("<f8", "(2,)"), "12345678").substr(0, 30), [&] {
    EXPECT_EQ(error_of_path(path("pipe")), path("pipe") + ": not a whole .npy file: ends in its header");
  });
}

/// Puts a file in the place of standard input as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : saved_(dup(STDIN_FILENO)) {
    const int fd = open(path.c_str(), O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
  }
  ~StandardInput() {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }

 private:
  int saved_;
};

TEST_F(NpyFile, StandardInput) {
  {
    const StandardInput input(put("a.npy", kNumPyFile));
    EXPECT_EQ(read_npy("-").shape, (Extents{2, 3}));
  }
  {
    const StandardInput input(put("b.npy", "junk " + kNumPyFile));
    ASSERT_EQ(lseek(STDIN_FILENO, 5, SEEK_SET), 5);  // what stands before is not counted as left
    EXPECT_EQ(read_npy("-").shape, (Extents{2, 3}));
  }
  {
    const StandardInput input(put("c.npy", kNumPyFile.substr(0, 150)));
    EXPECT_EQ(error_of_path("-"), "standard input: shape: (2, 3) of f4 takes 24 bytes, the file holds 22");
  }
}

TEST_F(NpyFile, ClaimsTakeNoMemory) {  // this much could be mapped, if not filled
  put("claims.npy", file(dict("|i1", "(40000000000,)"), "12345678"));
  EXPECT_EQ(error_of_path(path("claims.npy")),
            path("claims.npy") + ": shape: (40000000000,) of i1 takes 40000000000 bytes, the file holds 8");
}

/// The largest resident size since the last reset, in KiB; 0 where this system does not tell.
int64_t peak_resident(bool reset) {
  if (reset && !(std::ofstream("/proc/self/clear_refs") << 5 << std::flush)) return 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    int64_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

TEST_F(NpyFile, ReadsStraightIntoItsBuffer) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer's shadow counts as resident";
#endif
  constexpr int64_t kBytes = 64 << 20;
  {
    OutputFile out(path("large.npy"));
    write_npy(out, make_array(DType::f32, {kBytes / 4}));
    out.commit();
  }
  const int64_t before = peak_resident(true);
  if (before == 0) GTEST_SKIP() << "no peak of resident memory to be had";
  const Array array = read_npy(path("large.npy"));
  const int64_t grown = peak_resident(false) - before;
  EXPECT_GT(grown, kBytes / 1024 * 9 / 10);
  EXPECT_LT(grown, kBytes / 1024 * 3 / 2);
}

}  // namespace
}  // namespace foveate::io
