// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The command line with .safetensors files: as inputs by name, as outputs side by side, and what is said of wrong ones.
#include <sys/stat.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "io/safetensors.h"
#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using nlohmann::json;

class CliSafetensors : public CliTest {
 protected:
  /// A tensor to be saved.
  struct Saved {
    std::string name;
    std::shared_ptr<const io::Array> array;
  };

  template <class T>
  static Saved tensor(const std::string& name, const Extents& shape, const std::vector<T>& values,
                      DType dtype = dtype_of<T>()) {
    io::Array array = io::make_array(dtype, shape);
    if (!values.empty()) std::memcpy(array.data(), values.data(), array.buffer.size());
    return {name, std::make_shared<const io::Array>(std::move(array))};
  }

  void save_tensors(const std::string& name, const std::vector<Saved>& saved,
                    const io::SafetensorsMetadata& metadata = {}) const {
    std::vector<io::NamedArray> tensors;
    for (const Saved& one : saved) tensors.push_back({one.name, *one.array});
    io::OutputFile file(path(name));
    io::write_safetensors(file, tensors, metadata);
    file.commit();
  }

  /// Weights 1/4 and 3/4 by hand, as save_two_keys() has them, with names of their own if need be.
  std::vector<Saved> two_keys(const std::string& q = "q", const std::string& k = "k",
                              const std::string& v = "v") const {
    std::vector<Saved> saved;
    saved.push_back(tensor<float>(q, {1, 1}, {1}));
    saved.push_back(tensor<float>(k, {2, 1}, {0, std::log(3.0f)}));
    saved.push_back(tensor<float>(v, {2, 1}, {0, 4}));
    return saved;
  }

  template <class T = float>
  std::vector<T> tensor_values(const std::string& file, const std::string& name) const {
    const io::Array array = io::Safetensors(path(file)).read(name);
    EXPECT_EQ(array.dtype, dtype_of<T>()) << name;
    std::vector<T> all(static_cast<size_t>(array.size()));
    if (!all.empty()) std::memcpy(all.data(), array.data(), all.size() * sizeof(T));
    return all;
  }

  void expect_run(const Words& arguments, const Process::Setup& setup = {}) const {
    const Outcome outcome = run(arguments, setup);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }

  void expect_refused(const Words& arguments, const std::string& message) const {
    const std::set<std::string> before = files();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_EQ(outcome.err, "foveate " + arguments[0] + ": " + message + "\n");
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(files(), before) << message;
  }
};

TEST_F(CliSafetensors, InputsByTheirUsualNames) {
  save_tensors("in.safetensors", two_keys());
  expect_run({"attend", "--in", "in.safetensors", "--out", "o.npy", "--lse", "lse.npy"});
  expect_near("o.npy", {3});
  expect_near("lse.npy", {std::log(4.0)});
}

TEST_F(CliSafetensors, InputsByNameAndByPath) {
  std::vector<Saved> saved = two_keys("a query", "key", "v");
  saved.push_back(tensor<uint8_t>("mask", {2}, {1, 0}, DType::boolean));
  saved.push_back(tensor<int64_t>("lengths", {1}, {1}));
  save_tensors("in.safetensors", saved);
  save<float>("v.npy", {2, 1}, {8, 0});
  save<float>("sinks.npy", {1}, {0});
  const Words call = {"attend", "--in", "in.safetensors", "--q", "a query", "--k", "key", "--out", "o.npy"};
  const auto with = [&](const Words& more) {
    Words all = call;
    all.insert(all.end(), more.begin(), more.end());
    expect_run(all);
  };
  with({});
  expect_near("o.npy", {3});
  with({"--v", "v.npy"});
  expect_near("o.npy", {2});
  with({"--mask", "mask"});
  expect_near("o.npy", {0});
  with({"--v", "v.npy", "--kv-lengths", "lengths"});
  expect_near("o.npy", {8});
  with({"--sinks", "sinks.npy"});
  expect_near("o.npy", {12.0 / 5});
  save_tensors("one.safetensors", {tensor<float>("any name", {2}, {0, -kInfinity})});
  with({"--v", "v.npy", "--bias", "one.safetensors"});
  expect_near("o.npy", {8});
}

TEST_F(CliSafetensors, FilesOfOneTensorAreInputs) {
  for (const Saved& one : two_keys()) save_tensors(one.name + ".safetensors", {{"any name", one.array}});
  expect_run({"attend", "--q", "q.safetensors", "--k", "k.safetensors", "--v", "v.safetensors", "--out", "o.npy"});
  expect_near("o.npy", {3});
}

TEST_F(CliSafetensors, StandardInputHoldsThemAll) {
  save_tensors("in.safetensors", two_keys());
  expect_run({"attend", "--in", "-", "--out", "o.npy"}, {.input = bytes_of("in.safetensors")});
  expect_near("o.npy", {3});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe"), std::ios::binary) << bytes_of("in.safetensors"); });
  expect_run({"attend", "--in", "pipe", "--out", "p.npy"});
  writer.join();
  expect_near("p.npy", {3});
}

TEST_F(CliSafetensors, EveryTypeOfInput) {
  std::vector<Saved> saved;
  saved.push_back(tensor<uint16_t>("q", {1, 1}, {0x3f80}, DType::bf16));          // 1
  saved.push_back(tensor<uint16_t>("k", {2, 1}, {0, 0}, DType::f16));             // 0, 0
  saved.push_back(tensor<double>("v", {2, 1}, {0, 1.00390625 * 2}));              // 2 + 2^-7, a tie: to 2
  saved.push_back(tensor<uint16_t>("bias", {2}, {0xff80, 0x4000}, DType::bf16));  // -inf, 2
  save_tensors("in.safetensors", saved);
  expect_run({"attend", "--in", "in.safetensors", "--out", "o.npy", "--weights", "w.safetensors"});
  EXPECT_EQ(values("o.npy").at(0), 1.0f);  // bfloat16 as q, whose numbers .npy stores as float32
  EXPECT_EQ(tensor_values<BFloat16>("w.safetensors", "weights").at(1).bits, 0x3f00);
  expect_run({"attend", "--in", "in.safetensors", "--dtype", "f64", "--bias", "bias", "--out", "o.safetensors"});
  EXPECT_EQ(tensor_values<double>("o.safetensors", "out").at(0), 1.00390625 * 2);
}

TEST_F(CliSafetensors, OutputsOfOneFileGoIntoItTogether) {
  save_two_keys();
  save<float>("do.npy", {1, 1}, {1});
  fs::create_symlink("all.safetensors", path("link.safetensors"));
  const Words more = {"--grad", "do.npy",           "--out",          "all.safetensors",
                      "--lse",  "all.safetensors",  "--weights",      "./all.safetensors",
                      "--dv",   "link.safetensors", "--dropout-mask", "all.safetensors",
                      "--dq",   "dq.safetensors",   "--dk",           "dk.npy"};
  for (const char* dtype : {"bf16", "f16", "f32", "f64"}) {  // from the second on it is there already
    SCOPED_TRACE(dtype);
    Words all = more;
    all.insert(all.end(), {"--dtype", dtype});
    expect_success(all);
    const io::Safetensors file(path("all.safetensors"));
    std::set<std::string> names;
    for (const io::SafetensorsTensor& tensor : file.tensors()) names.insert(tensor.name);
    EXPECT_EQ(names, (std::set<std::string>{"out", "lse", "weights", "dv", "dropout-mask"}));
    EXPECT_EQ(io::Safetensors(path("dq.safetensors")).names(), "dq");
    EXPECT_EQ(load("dk.npy").shape, (Extents{2, 1}));
  }
  EXPECT_NEAR(tensor_values<double>("all.safetensors", "out").at(0), 3, 1e-6);
  EXPECT_NEAR(tensor_values<double>("all.safetensors", "weights").at(1), 0.75, 1e-6);
  EXPECT_NEAR(tensor_values<double>("all.safetensors", "dv").at(1), 0.75, 1e-6);
  const io::Array kept = io::Safetensors(path("all.safetensors")).read("dropout-mask");
  EXPECT_EQ(kept.dtype, DType::boolean);
  EXPECT_EQ(std::memcmp(kept.data(), "\1\1", 2), 0);
  EXPECT_TRUE(fs::is_symlink(path("link.safetensors")));
}

TEST_F(CliSafetensors, BFloat16IsItselfThere) {
  save_two_keys();
  save<float>("v.npy", {2, 1}, {0, 1.00390625f});  // 1 + 2^-8, a tie: to 1
  const Outcome outcome =
      attend({"--dtype", "bf16", "--out", "o.safetensors", "--lse", "o.safetensors", "--weights", "w.npy", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json outputs = json::parse(outcome.out)["outputs"];
  EXPECT_EQ(outputs["out"]["dtype"], "bfloat16");
  EXPECT_EQ(outputs["lse"]["dtype"], "float32");
  EXPECT_EQ(outputs["weights"]["dtype"], "float32");
  EXPECT_EQ(tensor_values<BFloat16>("o.safetensors", "out").at(0).bits, 0x3f40);  // 0.75
  EXPECT_NEAR(tensor_values("o.safetensors", "lse").at(0), std::log(4.0), 1e-2);
}

TEST_F(CliSafetensors, OutputsAreInputsAgain) {
  save_tensors("in.safetensors", two_keys());
  expect_run({"attend", "--in", "in.safetensors", "--out", "o.safetensors", "--lse", "o.safetensors"});
  expect_run({"attend", "--in", "o.safetensors", "--q", "out", "--k", "out", "--v", "out", "--out", "p.npy"});
  expect_near("p.npy", {3});
}

TEST_F(CliSafetensors, WrongUseIsOneLineAndNothingIsWritten) {
  save_two_keys();
  std::vector<Saved> saved = two_keys();
  saved.push_back(tensor<int32_t>("numbers", {1, 1}, {1}));
  save_tensors("in.safetensors", saved);
  save_tensors("none.safetensors", {});
  save_tensors("other.safetensors", {tensor<float>("a", {1}, {1}), tensor<float>("b", {1}, {1})});
  std::ofstream(path("f8.safetensors"), std::ios::binary)
      << std::string("\x48\0\0\0\0\0\0\0", 8)
      << R"({"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}              )"
      << "12";
  std::ofstream(path("broken.safetensors")) << "short";
  fs::create_symlink("all.npy", path("all.safetensors"));
  const auto refused = [&](Words more, const std::string& message) {
    more.insert(more.begin(), "attend");
    expect_refused(more, message);
  };
  const std::string held = "; name one of q, k, v, numbers";
  refused({"--in", "in.safetensors"},
          "nothing to write: give --out, --lse, --weights, --dropout-mask or --stats, or --grad and a gradient");
  refused({"--in", "", "--out", "o.npy"}, "--in: empty; name a file");
  refused({"--in", "--out", "o.npy"}, "--in: no file named before --out");
  refused({"--in", "in.safetensors", "--in", "q.npy", "--out", "o.npy"},
          "--in: given more than once (see foveate attend --help)");
  refused({"--in", "no.safetensors", "--out", "o.npy"}, "--in: no.safetensors: No such file or directory");
  refused({"--in", "q.npy", "--out", "o.npy"}, "--in: q.npy: expected a .safetensors file, got an .npy file");
  refused({"--in", "broken.safetensors", "--out", "o.npy"},
          "--in: broken.safetensors: not a whole .safetensors file: ends in the length of its header");
  refused({"--in", "other.safetensors", "--out", "o.npy"},
          "--q: missing, and no tensor q in other.safetensors; name one of a, b");
  refused({"--in", "none.safetensors", "--out", "o.npy"},
          "--q: missing, and no tensor q in none.safetensors, which is empty");
  fs::create_directory(path("folder.safetensors"));
  refused({"--in", "folder.safetensors", "--out", "o.npy"}, "--in: folder.safetensors: is a folder, not a file");
  refused({"--in", "in.safetensors", "--mask", "m", "--out", "o.npy"},
          "--mask: m: neither a file nor a tensor of in.safetensors" + held);
  refused({"--in", "in.safetensors", "--mask", "numbers", "--out", "o.npy"},
          "mask: dtype I32 is not bool; convert it by astype(bool) (true = takes part), or pass it as bias");
  refused({"--in", "in.safetensors", "--q", "numbers", "--out", "o.npy"},
          "q: I32 elements, not floats; save it with astype('float32')");
  refused({"--in", "in.safetensors", "--out", "in.safetensors"},
          "--out: in.safetensors: is --in's file too; an output needs a file of its own");
  refused({"--in", "-", "--q", "-", "--out", "o.npy"},
          "--in: standard input: not a whole .safetensors file: ends in the length of its header");
  refused({"--q", "in.safetensors", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy"},
          "--q: in.safetensors: holds q, k, v, numbers, expected one tensor; give --in in.safetensors and name it");
  refused({"--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--alibi", "none.safetensors", "--out", "o.npy"},
          "--alibi: none.safetensors: holds no tensor");
  refused({"--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--bias", "f8.safetensors", "--out", "o.npy"},
          "bias: f8.safetensors: tensor 'x': dtype: F8_E4M3 cannot be read; save it as F32 or BF16");
  refused({"--in", "in.safetensors", "--out", "all.npy", "--lse", "all.safetensors"},
          "--lse: all.safetensors: is --out's file too; an output needs a file of its own");
  refused({"--in", "in.safetensors", "--out", "nowhere/o.safetensors"},
          "--out: nowhere/o.safetensors: no folder nowhere; create it first");
  EXPECT_FALSE(fs::exists(path("all.npy")));
}

TEST_F(CliSafetensors, FullDiskIsStatusOneAndLeavesNothing) {
  save_tensors("in.safetensors", two_keys());
  const std::set<std::string> before = files();
  const Outcome outcome = run({"attend", "--in", "in.safetensors", "--lse", "o.safetensors", "--out", "/dev/full"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate attend: /dev/full: No space left on device\n");
  EXPECT_EQ(files(), before);
}

TEST_F(CliSafetensors, InfoListsTensors) {
  std::vector<Saved> saved = two_keys();
  saved.push_back(tensor<uint16_t>("a longer name", {2, 3, 256}, std::vector<uint16_t>(1536), DType::bf16));
  saved.push_back(tensor<uint8_t>("", {}, {1}, DType::boolean));
  save_tensors("in.safetensors", saved, {{"format", "pt"}, {"no\nlines", "\x1b[31m"}});
  EXPECT_EQ(run({"info", "--in", "in.safetensors"}).out,
            "in.safetensors: safetensors, 5 tensors, 3.0 KiB\n"
            "  name           dtype  shape              size\n"
            "  q              F32    [1, 1]              4 B\n"
            "  k              F32    [2, 1]              8 B\n"
            "  v              F32    [2, 1]              8 B\n"
            "  a longer name  BF16   [2, 3, 256]     3.0 KiB\n"
            "                 BOOL   []                  1 B\n"
            "metadata\n"
            "  format: pt\n"
            "  no?lines: ?[31m\n");
  const json told = json::parse(run({"info", "--json", "--in", "in.safetensors"}).out);
  EXPECT_EQ(told["file"], "in.safetensors");
  EXPECT_EQ(told["format"], "safetensors");
  EXPECT_EQ(told["metadata"], (json{{"format", "pt"}, {"no\nlines", "\x1b[31m"}}));
  ASSERT_EQ(told["tensors"].size(), 5u);
  EXPECT_EQ(told["tensors"][1], json::parse(R"({"name":"k","dtype":"F32","shape":[2,1],"bytes":8})"));
  EXPECT_EQ(told["tensors"][4], json::parse(R"({"name":"","dtype":"BOOL","shape":[],"bytes":1})"));

  save_tensors("none.safetensors", {});
  EXPECT_EQ(run({"info", "--in", "none.safetensors"}).out, "none.safetensors: safetensors, 0 tensors, 0 B\n");
}

TEST_F(CliSafetensors, InfoTellsOfAnArray) {
  save<float>("a.npy", {2, 3}, Floats(6));
  const std::string text =
      ": npy, 1 tensor, 24 B\n"
      "  name  dtype    shape         size\n"
      "  -     float32  [2, 3]        24 B\n";
  EXPECT_EQ(run({"info", "--in", "a.npy"}).out, "a.npy" + text);
  EXPECT_EQ(run({"info", "--in", "-"}, {.input = bytes_of("a.npy")}).out, "-" + text);
  EXPECT_EQ(json::parse(run({"info", "--in", "a.npy", "--json"}).out),
            json::parse(R"({"file":"a.npy","format":"npy","metadata":{},
                            "tensors":[{"name":null,"dtype":"float32","shape":[2,3],"bytes":24}]})"));
}

TEST_F(CliSafetensors, InfoOfWrongFiles) {
  save<float>("a.npy", {2, 3}, Floats(6));
  std::ofstream(path("short.npy"), std::ios::binary) << bytes_of("a.npy").substr(0, 150);
  fs::copy(path("a.npy"), path("a.safetensors"));
  expect_refused({"info", "--in", ""}, "--in: empty; name a file");
  expect_refused({"info", "--in", "--json"}, "--in: no file named before --json");
  expect_refused({"info", "--in", "no.npy"}, "--in: no.npy: No such file or directory");
  expect_refused({"info", "--in", "short.npy"},
                 "--in: short.npy: shape: (2, 3) of f4 takes 24 bytes, the file holds 22");
  expect_refused({"info", "--in", "a.safetensors"},
                 "--in: a.safetensors: expected a .safetensors file, got an .npy file");
  expect_refused({"info", "--in", "a.npy", "--plan", "1,1,1,1,1,1,1"},
                 "--in: does not go with --plan; ask for one of them");
}

}  // namespace
}  // namespace foveate
