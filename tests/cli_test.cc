// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The command line end to end: values small enough to check by hand, layouts, pipes, summaries.
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli_fixture.h"

namespace foveate {
namespace {

TEST_F(CliTest, ComputesTwoKeysByHand) {
  save_two_keys();
  expect_success({"--out", "o.npy", "--lse", "lse.npy", "--weights", "a.npy"});
  expect_near("o.npy", {3});
  expect_near("lse.npy", {std::log(4.0)});
  expect_near("a.npy", {0.25, 0.75});
  EXPECT_EQ(load("o.npy").shape, (Extents{1, 1}));
  EXPECT_EQ(load("lse.npy").shape, (Extents{1}));
  EXPECT_EQ(load("a.npy").shape, (Extents{1, 2}));
}

TEST_F(CliTest, ComputesInTheTypeAskedFor) {
  save_two_keys();
  expect_success({"--dtype", "f64", "--out", "o.npy", "--lse", "lse.npy", "--weights", "a.npy"});
  EXPECT_NEAR(values<double>("o.npy").at(0), 3, 1e-6);
  EXPECT_NEAR(values<double>("lse.npy").at(0), std::log(4.0), 1e-6);
  EXPECT_NEAR(values<double>("a.npy").at(1), 0.75, 1e-7);

  save<double>("v.npy", {2, 1}, {0, 1e300});  // v follows q to float32, where this is infinite
  expect_success({"--out", "o.npy"});
  EXPECT_EQ(values("o.npy").at(0), kInfinity);

  save<uint16_t>("q.npy", {1, 1}, {0x3c00}, DType::f16);          // 1
  save<uint16_t>("v.npy", {2, 1}, {0x8001, 0x4400}, DType::f16);  // the smallest negative number, 4
  expect_success({"--dtype", "f32", "--out", "o.npy"});
  expect_near("o.npy", {3});
  expect_success({"--out", "o.npy", "--lse", "lse.npy", "--weights", "a.npy"});  // float16 as q, but for lse
  EXPECT_EQ(values<Float16>("o.npy").at(0).bits, 0x4200);                        // 3
  EXPECT_EQ(values<Float16>("a.npy").at(1).bits, 0x3a00);                        // 0.75
  EXPECT_NEAR(values("lse.npy").at(0), std::log(4.0), 1e-4);                     // the keys were rounded
  save<float>("q.npy", {1, 1}, {1});
  save<float>("v.npy", {2, 1}, {0, 1.00390625f});         // 1 + 2^-8, a tie: to 1
  expect_success({"--dtype", "bf16", "--out", "o.npy"});  // .npy has no bfloat16: float32 of its numbers
  EXPECT_EQ(values("o.npy").at(0), 0.75f);
}

TEST_F(CliTest, Scores) {
  save_two_keys();
  expect_success({"--scale", "0", "--out", "o.npy"});
  expect_near("o.npy", {2});
  for (const char* nearly_zero : {"1e-400", "-1e-400", "1e-310"}) {
    expect_success({"--scale", nearly_zero, "--out", "o.npy"});
    expect_near("o.npy", {2});
  }
  expect_success({"--scale", "-1", "--out", "o.npy"});
  expect_near("o.npy", {1});
  expect_success({"--softcap", "1e-9", "--out", "o.npy"});
  expect_near("o.npy", {2});

  save<double>("bias.npy", {2}, {std::log(3.0), 0});
  expect_success({"--bias", "bias.npy", "--out", "o.npy"});
  expect_near("o.npy", {2});
  save<uint16_t>("bias.npy", {1, 1, 1, 2}, {0, 0xfc00}, DType::f16);  // -inf
  expect_success({"--bias", "bias.npy", "--out", "o.npy"});
  expect_near("o.npy", {0});

  save<float>("slope.npy", {1}, {std::log(3.0f)});  // the nearer key gains what the farther one had
  expect_success({"--scale", "0", "--alibi", "slope.npy", "--out", "o.npy"});
  expect_near("o.npy", {3});
  save<float>("sink.npy", {1}, {std::log(4.0f)});  // half of all weight
  expect_success({"--sinks", "sink.npy", "--out", "o.npy", "--lse", "lse.npy"});
  expect_near("o.npy", {1.5});
  expect_near("lse.npy", {std::log(8.0)});
}

TEST_F(CliTest, Masking) {
  save_means(2);
  expect_success({"--causal", "--out", "o.npy", "--lse", "lse.npy"});
  expect_near("o.npy", {15.0 / 4, 31.0 / 5});
  expect_near("lse.npy", {std::log(4.0), std::log(5.0)});
  expect_success({"--causal", "--align", "top-left", "--out", "o.npy"});
  expect_near("o.npy", {1, 1.5});
  expect_success({"--window", "1,0", "--out", "o.npy"});
  expect_near("o.npy", {6, 12});
  expect_success({"--window", "-1,0", "--align", "bottom-right", "--out", "o.npy"});
  expect_near("o.npy", {15.0 / 4, 31.0 / 5});

  save<uint8_t>("mask.npy", {2, 5}, {0, 1, 0, 0, 1, 0, 0, 0, 0, 0}, DType::boolean);
  expect_success({"--mask", "mask.npy", "--out", "o.npy", "--lse", "lse.npy"});
  expect_near("o.npy", {9, 0});
  expect_near("lse.npy", {std::log(2.0), -kInfinity});
  expect_success({"--mask", "mask.npy", "--causal", "--out", "o.npy"});
  expect_near("o.npy", {2, 0});

  save<int32_t>("kv.npy", {1}, {3});
  save<int64_t>("q_lengths.npy", {1}, {1});
  expect_success({"--kv-lengths", "kv.npy", "--q-lengths", "q_lengths.npy", "--out", "o.npy", "--lse", "lse.npy"});
  expect_near("o.npy", {7.0 / 3, 0});
  expect_near("lse.npy", {std::log(3.0), -kInfinity});
}

TEST_F(CliTest, LayoutsHoldTheSameNumbers) {
  constexpr int64_t b = 2, h = 4, h_kv = 2, n_q = 3, n_kv = 5, d = 8;
  const auto save_both = [&](const std::string& name, int64_t heads, int64_t n, unsigned seed) {
    const Floats bhnd = noise(static_cast<size_t>(b * heads * n * d), seed);
    Floats bnhd(bhnd.size());
    for (int64_t i = 0; i < b * heads * n * d; ++i) {
      const int64_t e = i % d, row = i / d % n, head = i / d / n % heads, batch = i / d / n / heads;
      bnhd[((batch * n + row) * heads + head) * d + e] = bhnd[i];
    }
    const Floats first(bhnd.begin(), bhnd.begin() + heads * n * d), first_t(bnhd.begin(), bnhd.begin() + heads * n * d);
    save<float>(name + ".npy", {b, heads, n, d}, bhnd);
    save<float>(name + "_t.npy", {b, n, heads, d}, bnhd);
    save<float>(name + "3.npy", {heads, n, d}, first);
    save<float>(name + "3_t.npy", {n, heads, d}, first_t);
  };
  save_both("q", h, n_q, 1);
  save_both("k", h_kv, n_kv, 2);
  save_both("v", h_kv, n_kv, 3);
  const auto run_as = [&](const std::string& suffix, const std::string& layout) {
    const Outcome outcome = run({"attend", "--causal", "--layout", layout, "--q", "q" + suffix + ".npy", "--k",
                                 "k" + suffix + ".npy", "--v", "v" + suffix + ".npy", "--out", "o" + suffix + ".npy",
                                 "--lse", "lse" + suffix + ".npy", "--weights", "a" + suffix + ".npy"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  };
  run_as("", "bhnd");
  run_as("_t", "bnhd");
  run_as("3", "bhnd");
  run_as("3_t", "bnhd");

  EXPECT_EQ(load("o.npy").shape, (Extents{b, h, n_q, d}));
  EXPECT_EQ(load("o_t.npy").shape, (Extents{b, n_q, h, d}));
  EXPECT_EQ(load("o3_t.npy").shape, (Extents{n_q, h, d}));
  EXPECT_EQ(load("lse_t.npy").shape, (Extents{b, h, n_q}));
  EXPECT_EQ(load("lse3_t.npy").shape, (Extents{h, n_q}));
  EXPECT_EQ(load("a_t.npy").shape, (Extents{b, h, n_q, n_kv}));
  EXPECT_EQ(load("a3_t.npy").shape, (Extents{h, n_q, n_kv}));
  const Floats o = values("o.npy"), o_t = values("o_t.npy"), o3_t = values("o3_t.npy");
  for (int64_t i = 0; i < b * h * n_q * d; ++i) {
    const int64_t e = i % d, row = i / d % n_q, head = i / d / n_q % h, batch = i / d / n_q / h;
    EXPECT_EQ(o[i], o_t[((batch * n_q + row) * h + head) * d + e]);
    if (batch == 0) {
      EXPECT_EQ(o[i], o3_t[(row * h + head) * d + e]);
    }
  }
  EXPECT_EQ(values("lse.npy"), values("lse_t.npy"));
  EXPECT_EQ(values("a.npy"), values("a_t.npy"));
  const Floats o_all = values("o.npy"), o3 = values("o3.npy");
  EXPECT_EQ(o3, Floats(o_all.begin(), o_all.begin() + h * n_q * d));
}

TEST_F(CliTest, EmptyAxes) {
  save<float>("q.npy", {0, 4}, {});
  save<float>("k.npy", {3, 4}, Floats(12));
  save<float>("v.npy", {3, 2}, Floats(6));
  expect_success({"--out", "o.npy", "--lse", "lse.npy"});
  EXPECT_EQ(load("o.npy").shape, (Extents{0, 2}));
  EXPECT_EQ(load("lse.npy").shape, (Extents{0}));

  save<float>("q.npy", {1, 4}, Floats(4));
  save<float>("k.npy", {0, 4}, {});
  save<float>("v.npy", {0, 2}, {});
  expect_success({"--out", "o.npy", "--lse", "lse.npy", "--weights", "a.npy"});
  expect_near("o.npy", {0, 0});
  expect_near("lse.npy", {-kInfinity});
  EXPECT_EQ(load("a.npy").shape, (Extents{1, 0}));
}

TEST_F(CliTest, StandardInputAndOutput) {
  save_two_keys();
  const std::string q = bytes_of("q.npy");
  fs::remove(path("q.npy"));
  const Outcome outcome =
      run({"attend", "--q", "-", "--k", "k.npy", "--v", "v.npy", "--out", "-", "--lse", "lse.npy"}, {.input = q});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::ofstream(path("o.npy"), std::ios::binary) << outcome.out;
  expect_near("o.npy", {3});
  expect_near("lse.npy", {std::log(4.0)});
}

TEST_F(CliTest, ReplacesFilesAndWritesToPipesAndDevices) {
  save_two_keys();
  std::ofstream(path("old.npy")) << "old";
  fs::create_symlink("old.npy", path("link.npy"));
  expect_success({"--out", "link.npy", "--lse", "/dev/null", "--weights", "/dev/null"});
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  expect_near("old.npy", {3});

  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = bytes_of("pipe"); });
  expect_success({"--out", "pipe", "--lse", "lse.npy"});
  reader.join();
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(received, bytes_of("old.npy"));
}

TEST_F(CliTest, FullDiskIsStatusOneAndLeavesNothing) {
  save_two_keys();
  const std::set<std::string> before = files();
  const Outcome outcome = attend({"--lse", "lse.npy", "--out", "/dev/full"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate attend: /dev/full: No space left on device\n");
  EXPECT_EQ(files(), before);
  EXPECT_EQ(attend({"--out", "-"}, {.out_path = "/dev/full"}).status, 1);
  EXPECT_EQ(run({"--help"}, {.out_path = "/dev/full"}).status, 1);
}

TEST_F(CliTest, ThreadsAndTargetsAgree) {
  save<float>("q.npy", {2, 70, 8}, noise(2 * 70 * 8, 1));
  save<float>("k.npy", {2, 90, 8}, noise(2 * 90 * 8, 2));
  save<float>("v.npy", {2, 90, 8}, noise(2 * 90 * 8, 3));
  expect_success({"--threads", "1", "--out", "one.npy"});
  expect_success({"--threads", "3", "--out", "three.npy"});
  EXPECT_EQ(bytes_of("one.npy"), bytes_of("three.npy"));
  const Floats expected = values("one.npy");
  const Words targets = nlohmann::json::parse(run({"info", "--json"}).out)["targets"];
  for (const std::string& target : targets) {
    ASSERT_EQ(attend({"--out", "o.npy"}, {.target = target}).status, 0) << target;
    const Floats got = values("o.npy");
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5) << target;
  }
}

TEST_F(CliTest, JsonSummary) {
  save_two_keys();
  const Outcome outcome = attend({"--json", "--out", "o.npy", "--scale", "0.5", "--window", "7,-1", "--threads", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json summary = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(summary["shape"], nlohmann::json::parse(R"({"b":1,"h_q":1,"h_kv":1,"n_q":1,"n_kv":2,"d_k":1,"d_v":1})"));
  EXPECT_EQ(summary["dtype"], "float32");
  const int cores = nlohmann::json::parse(run({"info", "--json"}).out)["cores"];
  EXPECT_EQ(summary["threads"], std::min(cores, 2));
  EXPECT_EQ(summary["dense_flops"], 8);
  EXPECT_GE(summary["seconds"], 0);
  EXPECT_EQ(summary["options"]["scale"], 0.5);
  EXPECT_EQ(summary["options"]["window"], nlohmann::json({7, -1}));
  EXPECT_EQ(summary["outputs"], nlohmann::json::parse(R"({"out":{"file":"o.npy","dtype":"float32","shape":[1,1]}})"));

  for (const char* name : {"q.npy", "k.npy", "v.npy"}) save<float>(name, {1, 16}, Floats(16));
  EXPECT_EQ(nlohmann::json::parse(attend({"--json", "--out", "o.npy"}).out)["options"]["scale"], 0.25);
}

TEST_F(CliTest, InfoTellsTargetsCoresAndPlan) {
  const Outcome outcome = run({"info", "--json", "--plan", "1,8,2,100,300,64,32", "--dtype", "f64", "--threads", "3"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json info = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(info["foveate"], "0.1.0");
  const Words targets = info["targets"];
  EXPECT_NE(std::find(targets.begin(), targets.end(), info["target"]), targets.end());
  EXPECT_GE(info["cores"], 1);
  EXPECT_EQ(info["plan"]["dtype"], "float64");
  EXPECT_EQ(info["plan"]["threads"], 3);
  EXPECT_EQ(info["plan"]["d_v"], 32);
  for (const char* figure : {"tile_rows", "block_keys", "split_keys", "tiles", "splits", "tasks", "workspace_bytes"}) {
    EXPECT_GE(info["plan"][figure], 1) << figure;
  }

  const Outcome text = run({"info", "--plan", "1,8,8,2048,2048,64,64"}, {.target = targets.back()});
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.out.rfind("foveate 0.1.0\n", 0), 0u);
  EXPECT_NE(text.out.find(targets.back() + " (in use)"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("tile rows"), std::string::npos);

  EXPECT_EQ(run({"info", "--plan", "1,2,3"}).err,
            "foveate info: --plan: '1,2,3' is not b,h_q,h_kv,n_q,n_kv,d_k,d_v: 7 whole numbers with commas "
            "between them, such as 1,8,8,2048,2048,64,64\n");
  EXPECT_EQ(run({"info", "--plan", "1,8,3,4,4,4,4"}).status, 2);
}

TEST_F(CliTest, HelpAndVersion) {
  EXPECT_EQ(run({"--version"}).out, "foveate 0.1.0\n");
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"attend", "demo", "info"}) EXPECT_NE(help.out.find(command), std::string::npos);
  const std::string attend_help = run({"attend", "--help"}).out;
  for (const char* part : {"F is a .npy file", "[b, h_q, n_q, d_k], float", "GQA", "--kv-lengths F", "integers"}) {
    EXPECT_NE(attend_help.find(part), std::string::npos) << part;
  }

  const Outcome alone = run({});
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.out, "");
  EXPECT_EQ(alone.err, help.out);

  const Outcome slip = run({"atend"});
  EXPECT_EQ(slip.status, 2);
  EXPECT_EQ(slip.err, "foveate: unexpected 'atend'; did you mean attend? (see foveate --help)\n");
  EXPECT_EQ(run({"attned"}).err, "foveate: unexpected 'attned'; did you mean attend? (see foveate --help)\n");
}

TEST_F(CliTest, MemoryStaysLinear) {
#ifdef FOVEATE_SANITIZED_MEMORY
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  constexpr int64_t n = 65536, d = 64;
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) save<float>(name, {n, d}, noise(n * d, 1));
  // The window spares time, not memory.
  const Outcome outcome = attend({"--causal", "--window", "1023,0", "--out", "o.npy"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(outcome.max_resident_kib, 200'000'000 / 1024);
}

}  // namespace
}  // namespace foveate
