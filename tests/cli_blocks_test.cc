// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Blocks on the command line: the bitmaps that `foveate blocks` makes, and `foveate attend` by them.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/cli_fixture.h"

namespace foveate {
namespace {

class CliBlocks : public CliTest {
 protected:
  static constexpr int64_t h = 2, n = 150, d = 8, size = 32, rows = 5;

  CliBlocks() {
    save<float>("q.npy", {h, n, d}, noise(h * n * d, 1));
    save<float>("k.npy", {h, n, d}, noise(h * n * d, 2));
    save<float>("v.npy", {h, n, d}, noise(h * n * d, 3));
    save<float>("grad.npy", {h, n, d}, noise(h * n * d, 4));
  }

  std::vector<char> bits(const std::string& name) const {
    const io::Array array = load(name);
    EXPECT_EQ(array.dtype, DType::boolean);
    const auto* first = static_cast<const char*>(array.data());
    return std::vector<char>(first, first + array.size());
  }

  /// The mask over pairs that a bitmap [h, rows, rows] means.
  void save_mask(const std::string& name, const std::vector<char>& blocks) {
    std::vector<char> mask;
    for (int64_t head = 0; head < h; ++head)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) mask.push_back(blocks[(head * rows + i / size) * rows + j / size]);
    save<char>(name, {h, n, n}, mask, DType::boolean);
  }

  std::string error_of(const Words& more) const {
    const Outcome outcome = attend(more);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  }
};

TEST_F(CliBlocks, AreAMaskToTheByte) {
  const Outcome made = run({"blocks", "--n", "150", "--block-size", "32", "--window", "32,0", "--global", "1",
                            "--random", "1", "--heads", "2", "--seed", "3", "--out", "blocks.npy"});
  EXPECT_EQ(made.status, 0) << made.err;
  save_mask("mask.npy", bits("blocks.npy"));
  expect_success({"--blocks", "blocks.npy", "--block-size", "32", "--causal", "--out", "by_blocks.npy", "--weights",
                  "weights_by_blocks.npy"});
  expect_success({"--mask", "mask.npy", "--causal", "--out", "by_mask.npy", "--weights", "weights_by_mask.npy"});
  EXPECT_EQ(bytes_of("by_blocks.npy"), bytes_of("by_mask.npy"));
  EXPECT_EQ(bytes_of("weights_by_blocks.npy"), bytes_of("weights_by_mask.npy"));

  expect_success({"--blocks", "blocks.npy", "--block-size", "32", "--grad", "grad.npy", "--dk", "dk_by_blocks.npy"});
  expect_success({"--mask", "mask.npy", "--grad", "grad.npy", "--dk", "dk_by_mask.npy"});
  const Floats want = values("dk_by_mask.npy");
  expect_near("dk_by_blocks.npy", std::vector<double>(want.begin(), want.end()));
}

TEST_F(CliBlocks, TheCommandSaysHowManyAreKept) {
  const Outcome made = run({"blocks", "--n", "128", "--block-size", "32", "--global", "32", "--out", "blocks.npy"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, "10 of 16 blocks kept (62.5%)\n");
  EXPECT_EQ(made.err, "");
  EXPECT_EQ(load("blocks.npy").shape, (Extents{1, 4, 4}));
  EXPECT_EQ(bits("blocks.npy"), (std::vector<char>{1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1}));
}

TEST_F(CliBlocks, StandardOutputTakesTheBitmapAlone) {
  const Outcome made = run({"blocks", "--n", "64", "--out", "-"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out.substr(1, 5), "NUMPY");
  EXPECT_EQ(made.out.back(), '\1');
}

TEST_F(CliBlocks, WrongUseIsOneLine) {
  save<char>("blocks.npy", {rows, rows}, std::vector<char>(25, 1), DType::boolean);
  const Words out = {"--out", "o.npy"};
  const auto with = [&](Words words) {
    words.insert(words.end(), out.begin(), out.end());
    return error_of(words);
  };
  EXPECT_EQ(with({"--blocks", "blocks.npy"}),
            "foveate attend: --blocks: no --block-size; give how many keys a block has\n");
  EXPECT_EQ(with({"--block-size", "32"}),
            "foveate attend: --block-size: no --blocks; give the bitmap of the blocks kept\n");
  EXPECT_EQ(with({"--blocks", "blocks.npy", "--block-size", "64"}),
            "foveate attend: blocks: shape [5, 5] does not broadcast to [b, h_q, ceil(n_q / block_size), ceil(n_kv / "
            "block_size)] = [1, 2, 3, 3]; each extent must equal it or be 1\n");
  EXPECT_EQ(
      with({"--blocks", "q.npy", "--block-size", "32"}),
      "foveate attend: blocks: dtype float32 is not bool; convert it by astype(bool) (true = the block is kept)\n");
  EXPECT_FALSE(files().contains("o.npy"));

  const Outcome none = run({"blocks", "--n", "64"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "foveate blocks: --out: missing; give the .npy file to write\n");
  const Outcome no_length = run({"blocks", "--n-q", "64", "--out", "b.npy"});
  EXPECT_EQ(no_length.status, 2);
  EXPECT_EQ(no_length.err, "foveate blocks: --n-kv: missing; give --n, or --n-q and --n-kv\n");
  const Outcome below = run({"blocks", "--n", "64", "--block-size", "0", "--out", "b.npy"});
  EXPECT_EQ(below.status, 2);
  const Outcome other = run({"blocks", "--n", "64", "--out", "b.safetensors"});
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err, "foveate blocks: --out: b.safetensors: a bitmap is written as .npy; name it so\n");
  const Outcome past = run({"blocks", "--n", "1152921504606846977", "--out", "b.npy"});
  EXPECT_EQ(past.status, 2);
  EXPECT_EQ(past.err, "foveate blocks: --n: 1152921504606846977 is past 2^60\n");
  EXPECT_FALSE(files().contains("b.npy"));
}

TEST_F(CliBlocks, TheSummaryNamesThem) {
  save<char>("blocks.npy", {rows, rows}, std::vector<char>(25, 1), DType::boolean);
  const Outcome outcome = attend({"--blocks", "blocks.npy", "--block-size", "32", "--out", "o.npy", "--json"});
  const nlohmann::json options = nlohmann::json::parse(outcome.out).at("options");
  EXPECT_EQ(options.at("blocks"), "blocks.npy");
  EXPECT_EQ(options.at("block_size"), 32);
}

}  // namespace
}  // namespace foveate
