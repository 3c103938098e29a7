// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The errors of the command line, word by word: one line, status 2, and no file touched.
#include <utility>

#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using CliErrors = CliTest;

struct Mistake {
  Words arguments;  ///< after q, k and v
  std::string message;
};

TEST_F(CliErrors, ErrorsWordByWord) {
  save<float>("q.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("k.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("v.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<int64_t>("int.npy", {3, 3}, std::vector<int64_t>(9, 1));
  save<float>("two.npy", {2, 1}, Floats(2));
  save<uint8_t>("five.npy", {1, 1, 1, 3, 3}, std::vector<uint8_t>(9, 1), DType::boolean);
  fs::create_hard_link(path("k.npy"), path("hard.npy"));
  fs::create_symlink("q.npy", path("soft.npy"));
  fs::create_directory(path("folder"));
  std::ofstream(path("text.npy")) << "hello";
  std::ofstream(path("o.npy")) << "kept";
  const std::set<std::string> before = files();
  const std::string no_broadcast = "; give at most 4, broadcast to [b, h_q, n_q, n_kv]";
  const std::string own_file = " file too; an output needs a file of its own";
  const std::string help = " (see foveate attend --help)";
  const Words out = {"--out", "o.npy"};
  const Mistake mistakes[] = {
      {{}, "nothing to write: give --out, --lse or --weights"},
      {{"--scale", "nan"}, "--scale: 'nan' is not a finite number, such as 0.125"},
      {{"--scale", "inf"}, "--scale: 'inf' is not a finite number, such as 0.125"},
      {{"--scale", "1e999"}, "--scale: '1e999' is not a finite number, such as 0.125"},
      {{"--softcap", "2x"}, "--softcap: '2x' is not a finite number, such as 0.125"},
      {{"--window", "3"}, "--window: '3' is not L,R: 2 whole numbers between commas"},
      {{"--window", "3,x"}, "--window: '3,x' is not L,R: 2 whole numbers between commas"},
      {{"--threads", "0"}, "--threads: '0' is not a whole number of at least 1"},
      {{"--align", "left"}, "--align: 'left' is none of bottom-right, top-left"},
      {{"--layout", "bnh"}, "--layout: 'bnh' is none of bhnd, bnhd"},
      {{"--dtype", "bf16"}, "--dtype: bf16 is not built yet in foveate 0.1.0"},
      {{"--dropout", "0.1"}, "--dropout: not built yet in foveate 0.1.0"},
      {{"--grad", "q.npy", "--dq", "dq.npy"}, "--grad: not built yet in foveate 0.1.0"},
      {{"--stats", "s.json"}, "--stats: not built yet in foveate 0.1.0"},
      {{"--lse", "l.safetensors"}, "--lse: .safetensors is not built yet in foveate 0.1.0"},
      {{"--caussal"}, "unexpected '--caussal'; did you mean --causal?" + help},
      {{"extra"}, "unexpected 'extra'" + help},
      {{"--lse"}, "--lse: no value given" + help},
      {{"--out", "p.npy", "--out", "o.npy"}, "--out: given more than once" + help},
      {{"--lse", "--causal"}, "--lse: no file named before --causal"},
      {{"--lse", "nowhere/l.npy"}, "--lse: nowhere/l.npy: no folder nowhere; create it first"},
      {{"--lse", "folder"}, "--lse: folder: is a folder, not a file"},
      {{"--lse", "q.npy"}, "--lse: q.npy: is --q's" + own_file},
      {{"--lse", "soft.npy"}, "--lse: soft.npy: is --q's" + own_file},
      {{"--lse", "hard.npy"}, "--lse: hard.npy: is --k's" + own_file},
      {{"--lse", "./folder/../o.npy"}, "--lse: ./folder/../o.npy: is --out's" + own_file},
      {{"--lse", "new.npy", "--weights", "folder/../new.npy"}, "--weights: folder/../new.npy: is --lse's" + own_file},
      {{"--lse", "-", "--weights", "-"}, "--weights: standard output is --lse's already; name a file"},
      {{"--lse", "-", "--json"}, "--lse: standard output is --json's already; name a file"},
      {{"--mask", "-", "--bias", "-"}, "--bias: - is --mask's already; standard input holds one array"},
      {{"--mask", "none.npy"}, "--mask: none.npy: No such file or directory"},
      {{"--mask", "folder"}, "--mask: folder: is a folder, not a file"},
      {{"--mask", "bad\nname"}, "--mask: bad?name: No such file or directory"},
      {{"--mask", "five.npy"}, "mask: 5 axes, shape [1, 1, 1, 3, 3]" + no_broadcast},
      {{"--bias", "int.npy"}, "bias: int64 elements, not floats; save it with astype('float32')"},
      {{"--sinks", "two.npy"}, "sinks: 2 axes, shape [2, 1]; give [h_q], one number a query head"},
      {{"--kv-lengths", "int.npy"}, "kv_lengths: 2 axes, shape [3, 3]; give [b], one length a sequence"},
  };
  for (const Mistake& mistake : mistakes) {
    Words arguments = mistake.arguments;
    if (!arguments.empty() && arguments.back() != "--lse") arguments.insert(arguments.end(), out.begin(), out.end());
    if (mistake.message.find("more than once") != std::string::npos) arguments = mistake.arguments;
    const Outcome outcome = attend(arguments);
    EXPECT_EQ(outcome.status, 2) << mistake.message;
    EXPECT_EQ(outcome.err, "foveate attend: " + mistake.message + "\n");
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(files(), before) << mistake.message;
    EXPECT_EQ(bytes_of("o.npy"), "kept") << mistake.message;
  }
}

TEST_F(CliErrors, ErrorsOfTheLibraryAreOneLineThatNamesTheArgument) {
  save<float>("q.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("k.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("v.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("narrow.npy", {1, 2, 3, 2}, Floats(12, 1.0f));
  save<int64_t>("int.npy", {3, 3}, std::vector<int64_t>(9, 1));
  save<int64_t>("lengths.npy", {1}, {-1});
  save<float>("three.npy", {3}, Floats(3));
  const std::set<std::string> before = files();
  const std::pair<Words, std::string> cases[] = {
      {{"--k", "narrow.npy"}, "k: "},        {{"--mask", "int.npy"}, "mask: "},
      {{"--window", "-2,0"}, "window"},      {{"--softcap", "-1"}, "softcap: "},
      {{"--sinks", "three.npy"}, "sinks: "}, {{"--kv-lengths", "lengths.npy"}, "kv_lengths"},
  };
  for (const auto& [more, name] : cases) {
    Words arguments = {"attend", "--q", "q.npy", "--v", "v.npy", "--out", "o.npy"};
    if (more[0] != "--k") arguments.insert(arguments.end(), {"--k", "k.npy"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << more[0];
    EXPECT_EQ(outcome.err.rfind("foveate attend: " + name, 0), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_EQ(files(), before) << more[0];
  }
}

TEST_F(CliErrors, ErrorsOfQKV) {
  save<float>("q.npy", {2, 3, 4}, Floats(24));
  save<float>("k.npy", {1, 2, 3, 4}, Floats(24));
  save<float>("v.npy", {1, 2, 3, 4}, Floats(24));
  EXPECT_EQ(run({"attend", "--q", "q.npy", "--out", "o.npy"}).err,
            "foveate attend: --k: missing; give --q, --k and --v, each a .npy file\n");
  EXPECT_EQ(
      attend({"--out", "o.npy"}).err,
      "foveate attend: k: 4 axes, shape [1, 2, 3, 4], where q has 3, shape [2, 3, 4]; give q, k and v equally many\n");
  save<float>("q.npy", {4}, Floats(4));
  EXPECT_EQ(attend({"--out", "o.npy"}).err,
            "foveate attend: q: 1 axes, shape [4]; give [n, d], [h, n, d] or [b, h, n, d]\n");
  save<uint16_t>("q.npy", {1, 2, 3, 4}, std::vector<uint16_t>(24), DType::f16);
  EXPECT_EQ(attend({"--out", "o.npy"}).err,
            "foveate attend: q: float16 is not built yet in foveate 0.1.0; give --dtype f32\n");
  save<int32_t>("q.npy", {1, 2, 3, 4}, std::vector<int32_t>(24));
  EXPECT_EQ(attend({"--out", "o.npy"}).err,
            "foveate attend: q: int32 elements, not floats; save it with astype('float32')\n");
  std::ofstream(path("q.npy")) << "hello";
  const Outcome outcome = attend({"--out", "o.npy"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err.rfind("foveate attend: q: q.npy: ", 0), 0u) << outcome.err;
  EXPECT_FALSE(fs::exists(path("o.npy")));
}

TEST_F(CliErrors, UnknownTargetIsRefusedByEveryCommandThatComputes) {
  save_two_keys();
  for (const Words& arguments : {Words{"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy"},
                                 Words{"info"}, Words{"info", "--plan", "1,1,1,1,1,1,1"}}) {
    const Outcome outcome = run(arguments, {.target = "abacus"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("FOVEATE_TARGET"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("abacus"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
  EXPECT_FALSE(fs::exists(path("o.npy")));
}

}  // namespace
}  // namespace foveate
