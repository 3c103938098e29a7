// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What the tests of the command line share: a folder of arrays, and runs of foveate in it.
#ifndef FOVEATE_TESTS_CLI_FIXTURE_H_
#define FOVEATE_TESTS_CLI_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "io/npy.h"
#include "tests/cli_process.h"

namespace foveate {

namespace fs = std::filesystem;
using Extents = std::vector<int64_t>;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    std::string name = (fs::temp_directory_path() / "foveate-cli-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CliTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  template <class T>
  void save(const std::string& name, const Extents& shape, const std::vector<T>& values, DType dtype = dtype_of<T>()) {
    io::OutputFile file(path(name));
    io::write_npy(file, io::ConstArray(values.data(), dtype, shape, io::c_strides(shape)));
    file.commit();
  }

  io::Array load(const std::string& name) const { return io::read_npy(path(name)); }

  template <class T = float>
  std::vector<T> values(const std::string& name) const {
    const io::Array array = load(name);
    EXPECT_EQ(array.dtype, dtype_of<T>()) << name;
    std::vector<T> all(static_cast<size_t>(array.size()));
    if (!all.empty()) std::memcpy(all.data(), array.data(), all.size() * sizeof(T));
    return all;
  }

  Outcome run(const Words& arguments, Process::Setup setup = {}) const {
    setup.folder = folder_;
    return Process(arguments, setup).wait();
  }

  /// `attend` with q, k and v, and more.
  Outcome attend(const Words& more, const Process::Setup& setup = {}) const {
    Words all = {"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, setup);
  }

  void expect_success(const Words& more) const {
    const Outcome outcome = attend(more);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, "");
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }

  std::string bytes_of(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }

  /// Weights 1/4 and 3/4 by hand: scores 0 and ln 3.
  void save_two_keys() {
    save<float>("q.npy", {1, 1}, {1});
    save<float>("k.npy", {2, 1}, {0, std::log(3.0f)});
    save<float>("v.npy", {2, 1}, {0, 4});
  }

  /// Queries of zeros: every row is the mean of the values that take part. v = 1, 2, 4, 8, 16.
  void save_means(int64_t n_q) {
    save<float>("q.npy", {n_q, 1}, Floats(static_cast<size_t>(n_q), 0.0f));
    save<float>("k.npy", {5, 1}, Floats(5, 1.0f));
    save<float>("v.npy", {5, 1}, {1, 2, 4, 8, 16});
  }

  void expect_near(const std::string& name, const std::vector<double>& expected) const {
    const Floats got = values(name);
    ASSERT_EQ(got.size(), expected.size()) << name;
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isinf(expected[i])) {
        EXPECT_EQ(got[i], expected[i]) << name << " " << i;
      } else {
        EXPECT_NEAR(got[i], expected[i], 1e-5 * (1 + std::fabs(expected[i]))) << name << " " << i;
      }
    }
  }

  fs::path folder_;
};

/// Numbers without a pattern that an axis mixed up could keep.
inline Floats noise(size_t count, unsigned seed) {
  Floats all(count);
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = static_cast<float>(seed >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return all;
}

}  // namespace foveate

#endif  // FOVEATE_TESTS_CLI_FIXTURE_H_
