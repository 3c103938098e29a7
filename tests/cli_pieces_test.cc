// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Keys and values in pieces: against the whole for any shape, option, layout and order; what is read and how often; files
// that are four times the memory.
#include <sys/resource.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "cli/attend_compute.h"
#include "cli/attend_inputs.h"
#include "cli/attend_outputs.h"
#include "cli/errors.h"
#include "tests/cli_fixture.h"
#include "tests/npy_bytes.h"
#include "tests/thread_executor.h"

namespace foveate::cli {
namespace {

class CliPieces : public CliTest {
 protected:
  /// Bytes that this process has read until now; 0 where the system does not tell.
  static int64_t bytes_read() {
    std::ifstream file("/proc/self/io");
    std::string word;
    int64_t bytes = 0;
    while (file >> word) {
      if (word == "rchar:") file >> bytes;
    }
    return bytes;
  }
};

/// A random call in files, and how it is asked for.
class RandomCall {
 public:
  RandomCall(const std::string& folder, unsigned seed) : folder_(folder), random_(seed) {
    choose_sizes();
    arguments.layout = one_in(2) ? Layout::bnhd : Layout::bhnd;
    const bool f64 = one_in(3);
    if (f64 || one_in(3)) arguments.dtype = f64 ? DType::f64 : DType::f32;
    arguments.q = put("q", {b_, h_q_, n_q_, d_k_}, arguments.dtype ? any_float() : "<f4");
    arguments.k = put("k", {b_, h_kv_, n_kv, d_k_}, any_float());
    arguments.v = put("v", {b_, h_kv_, n_kv, d_v_}, any_float());
    choose_options();
    arguments.out = one_in(5) ? "" : folder_ + "/o.npy";
    arguments.lse = arguments.out.empty() || one_in(2) ? folder_ + "/lse.npy" : "";
    if (one_in(5)) arguments.dropout_mask = folder_ + "/keep.npy";
  }

  PieceLimits limits() {
    const int64_t a_key = b_ * h_kv_ * (d_k_ + d_v_) * 8;  // at the most
    return {.whole = 0, .piece = a_key * (1 + below(n_kv)), .keys = one_in(2) ? 1 : 16};
  }

  AttendArguments arguments;
  int64_t n_kv;

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }

  void choose_sizes() {
    axes_ = static_cast<size_t>(2 + below(3));
    b_ = axes_ == 4 ? 1 + below(3) : 1;
    h_kv_ = axes_ > 2 ? 1 + below(3) : 1;
    h_q_ = axes_ > 2 ? h_kv_ * (1 + below(3)) : 1;
    n_q_ = 1 + below(20);
    n_kv = 1 + below(200);
    d_k_ = 1 + below(12);
    d_v_ = one_in(10) ? 0 : 1 + below(12);
  }

  void choose_options() {
    AttentionOptions& o = arguments.options;
    o.causal = one_in(3);
    o.align = one_in(3) ? Align::top_left : Align::bottom_right;
    if (one_in(3)) o.window_left = one_in(5) ? INT64_MAX : below(60);
    if (one_in(3)) o.window_right = one_in(5) ? INT64_MAX : below(60);
    if (one_in(4)) o.scale = 2;
    if (one_in(4)) o.softcap = 1.5;
    if (one_in(3)) o.dropout = 0.3;
    o.seed = static_cast<uint64_t>(below(1000));
    const auto axis = [&](int64_t extent) { return one_in(3) ? 1 : extent; };
    const std::vector<int64_t> scores = {axis(b_), axis(h_q_), axis(n_q_), axis(n_kv)};
    if (one_in(3)) arguments.mask = put_array("mask", scores, "|b1", false);
    if (one_in(3)) arguments.bias = put_array("bias", scores, any_float(), one_in(2));
    if (one_in(3)) arguments.alibi = put_array("alibi", {h_q_}, "<f4", false);
    if (one_in(3)) arguments.sinks = put_array("sinks", {h_q_}, "<f8", false);
    if (one_in(3)) arguments.q_lengths = put_lengths<int32_t>("q_lengths", "<i4", n_q_);
    if (one_in(3)) arguments.kv_lengths = put_lengths<int64_t>("kv_lengths", "<i8", n_kv);
  }

  const char* any_float() {
    constexpr const char* kFloats[] = {"<f4", ">f4", "<f8", ">f8", "<f2", ">f2"};
    return kFloats[below(6)];
  }

  /// q, k or v, with the axes there are, in the layout.
  std::string put(const std::string& name, std::vector<int64_t> bhnd, const char* descr) {
    if (arguments.layout == Layout::bnhd) std::swap(bhnd[1], bhnd[2]);
    if (axes_ == 2) return put_array(name, {bhnd[1] * bhnd[2], bhnd[3]}, descr, one_in(2));
    return put_array(name, {bhnd.end() - static_cast<std::ptrdiff_t>(axes_), bhnd.end()}, descr, one_in(2));
  }

  std::string put_array(const std::string& name, const std::vector<int64_t>& shape, const std::string& descr,
                        bool fortran) {
    size_t size = 1;
    for (const int64_t extent : shape) size *= static_cast<size_t>(extent);
    std::string data;
    for (size_t i = 0; i < size; ++i) data += element(descr);
    return put_bytes(name, io::file(io::dict(descr, io::to_string(shape), fortran), data));
  }

  template <class T>
  std::string put_lengths(const std::string& name, const std::string& descr, int64_t most) {
    std::string data;
    for (int64_t i = 0; i < b_; ++i) {
      const T length = static_cast<T>(below(most + 1));
      data.append(reinterpret_cast<const char*>(&length), sizeof length);
    }
    return put_bytes(name, io::file(io::dict(descr, io::to_string({b_})), data));
  }

  std::string put_bytes(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name + ".npy", std::ios::binary) << bytes;
    return folder_ + "/" + name + ".npy";
  }

  /// A number in [-1, 1), or a truth that mostly holds, as the file has it.
  std::string element(const std::string& descr) {
    const double x = static_cast<double>(below(1 << 20)) / (1 << 19) - 1;
    const auto as = [&](auto number) {
      std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
      return descr[0] == '>' ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
    };
    if (descr == "|b1") return std::string(1, x < 0.6 ? '\1' : '\0');
    if (descr[2] == '8') return as(x);
    if (descr[2] == '4') return as(static_cast<float>(x));
    return as(static_cast<uint16_t>((x < 0 ? 0x8000 : 0) | (0x3000 + below(0xc00))));  // 1/8 to 1
  }

  const std::string folder_;
  std::mt19937_64 random_;
  size_t axes_;
  int64_t b_, h_q_, h_kv_, n_q_, d_k_, d_v_;
};

/// What a call computed, and in how many pieces.
struct Computed {
  AttentionShape shape;
  std::vector<std::vector<double>> outputs;
  int64_t pieces;
};

std::vector<double> numbers(const io::Array& array) {
  const auto all = [&](const auto* first) { return std::vector<double>(first, first + array.size()); };
  if (array.dtype == DType::f64) return all(static_cast<const double*>(array.data()));
  if (array.dtype == DType::boolean) return all(static_cast<const bool*>(array.data()));
  return all(static_cast<const float*>(array.data()));
}

Computed computed(const AttendArguments& arguments, const PieceLimits& limits, Executor* executor = nullptr) {
  const AttendInputs inputs = load_inputs(arguments, limits);
  AttendOutputs outputs(arguments, inputs);
  Computation computation(arguments, inputs, outputs);
  Status status = computation.check();
  EXPECT_TRUE(status.ok()) << status.message();
  std::atomic<int64_t> done = 0;
  status = computation.run({.executor = executor, .progress = &done});
  EXPECT_TRUE(status.ok()) << status.message();
  const bool anything = !arguments.out.empty() || !arguments.lse.empty();
  EXPECT_EQ(done, anything ? computation.tasks(executor != nullptr ? executor->concurrency() : 1) : 0);
  Computed result{inputs.shape, {}, computation.pieces()};
  for (const AttendOutputs::Output& output : outputs.all()) result.outputs.push_back(numbers(output.array));
  return result;
}

void expect_like(const Computed& got, const Computed& expected) {
  const double tolerance = expected.shape.dtype == DType::f64 ? 1e-12 : 1e-5;
  ASSERT_EQ(got.outputs.size(), expected.outputs.size());
  for (size_t output = 0; output < got.outputs.size(); ++output) {
    const std::vector<double>&a = got.outputs[output], &b = expected.outputs[output];
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isinf(b[i])) {
        ASSERT_EQ(a[i], b[i]) << "output " << output << " element " << i;
      } else {
        ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << "output " << output << " element " << i;
      }
    }
  }
}

TEST_F(CliPieces, MakeTheWholeWhateverIsAskedFor) {
  int64_t in_several = 0;
  ThreadExecutor executor(3);
  for (unsigned seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomCall call(folder_, seed);
    const Computed whole = computed(call.arguments, {});
    EXPECT_EQ(whole.pieces, 1);
    const Computed pieces = computed(call.arguments, call.limits(), seed % 3 == 0 ? &executor : nullptr);
    in_several += pieces.pieces > 1;
    expect_like(pieces, whole);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(in_several, 300);
}

TEST_F(CliPieces, EachKeyIsReadOnceAndWhatNoQuerySeesIsNot) {
  if (bytes_read() == 0) GTEST_SKIP() << "no /proc/self/io";
  constexpr int64_t b = 2, h = 3, n = 5000, d = 16, each = b * h * n * d * 4;
  save<float>("q.npy", {b, h, 2, d}, noise(b * h * 2 * d, 1));
  save<float>("k.npy", {b, h, n, d}, noise(b * h * n * d, 2));
  save<float>("v.npy", {b, h, n, d}, noise(b * h * n * d, 3));
  AttendArguments arguments;
  arguments.q = path("q.npy");
  arguments.k = path("k.npy");
  arguments.v = path("v.npy");
  arguments.out = path("o.npy");
  const PieceLimits limits{.whole = 0, .piece = 1 << 20, .keys = 64};
  const auto read_for = [&] {
    const int64_t before = bytes_read();
    computed(arguments, limits);
    return bytes_read() - before;
  };
  constexpr int64_t little = 1 << 14;  // q, headers, and the counting itself
  const int64_t all = read_for();
  EXPECT_GE(all, 2 * each);
  EXPECT_LT(all, 2 * each + little);
  arguments.options.window_left = 100;
  EXPECT_LT(read_for(), 4 << 20);
  arguments.options = {.causal = true, .align = Align::top_left};
  EXPECT_LT(read_for(), little + (1 << 12));
}

TEST_F(CliPieces, AFileThatIsShorterThanItSaysIsRefused) {
  RandomCall call(folder_, 1);
  fs::resize_file(path("v.npy"), fs::file_size(path("v.npy")) - 1);
  try {
    load_inputs(call.arguments, call.limits());
    ADD_FAILURE() << "read";
  } catch (const WrongUse& error) {
    EXPECT_EQ(std::string(error.what()).rfind("v: " + path("v.npy") + ": shape: (", 0), 0u) << error.what();
  }
}

/// Files of zeros that take no room on the disk, with some rows of numbers in them.
class CliLarge : public CliTest {
 protected:
  static constexpr int64_t h = 4, h_kv = 2, n_q = 3, d = 128;

  void SetUp() override {
    if (fs::space(folder_).available < (uintmax_t{5} << 28)) GTEST_SKIP() << "no room for 1 GiB in " << folder_;
  }

  /// [h_kv, n, d] with rows of noise at `keys`, each head its own.
  void save_large(const std::string& name, int64_t n, const std::vector<int64_t>& keys, unsigned seed) {
    const std::string header = io::file(io::dict("<f4", io::to_string({h_kv, n, d})), "");
    std::ofstream(path(name), std::ios::binary) << header;
    fs::resize_file(path(name), header.size() + static_cast<uintmax_t>(h_kv * n * d * 4));
    std::fstream file(path(name), std::ios::binary | std::ios::in | std::ios::out);
    Floats& rows = rows_[name] = noise(static_cast<size_t>(h_kv * static_cast<int64_t>(keys.size()) * d), seed);
    const float* row = rows.data();
    for (int64_t head = 0; head < h_kv; ++head) {
      for (const int64_t key : keys) {
        file.seekp(static_cast<std::streamoff>(header.size()) + (head * n + key) * d * 4);
        file.write(reinterpret_cast<const char*>(row), d * 4);
        row += d;
      }
    }
  }

  /// The formula for keys of zeros, whose score is 0 and whose values add nothing, and those at `keys`.
  void expect_attention(int64_t n, const std::vector<int64_t>& keys, const Floats& o, const Floats& lse) const {
    const Floats q = values("q.npy"), &k = rows_.at("k.npy"), &v = rows_.at("v.npy");
    for (int64_t row = 0; row < h * n_q; ++row) {
      const int64_t head = row / n_q / (h / h_kv), last = n - n_q + row % n_q;  // causal
      double z = static_cast<double>(last + 1);
      std::vector<double> sum(d);
      for (size_t key = 0; key < keys.size(); ++key) {
        if (keys[key] > last) continue;
        const int64_t at = (head * static_cast<int64_t>(keys.size()) + static_cast<int64_t>(key)) * d;
        double score = 0;
        for (int64_t e = 0; e < d; ++e) score += double{q[row * d + e]} * double{k[at + e]};
        z += std::exp(score) - 1;
        for (int64_t e = 0; e < d; ++e) sum[e] += std::exp(score) * double{v[at + e]};
      }
      EXPECT_NEAR(lse[row], std::log(z), 1e-5 * std::log(z));
      for (int64_t e = 0; e < d; ++e) EXPECT_NEAR(o[row * d + e], sum[e] / z, 2e-6) << row << ' ' << e;
    }
  }

  std::map<std::string, Floats> rows_;
};

TEST_F(CliLarge, FourTimesTheMemory) {
#ifdef FOVEATE_SANITIZED_MEMORY
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  constexpr int64_t n = 524288;  // 512 MiB each
  std::vector<int64_t> keys;
  for (int64_t key = 0; key < n; key += 1013) keys.push_back(key);
  for (int64_t key = n - 5; key < n; ++key) keys.push_back(key);  // the last of which only some queries see
  save<float>("q.npy", {h, n_q, d}, noise(h * n_q * d, 1));
  save_large("k.npy", n, keys, 2);
  save_large("v.npy", n, keys, 3);
  const Outcome outcome = attend(
      {"--threads", "1", "--scale", "1", "--causal", "--out", "o.npy", "--lse", "lse.npy", "--json"}, {.prepare = [] {
        const rlimit limit = {256 << 20, 256 << 20};
        setrlimit(RLIMIT_AS, &limit);
      }});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["pieces"], 16);
  expect_attention(n, keys, values("o.npy"), values("lse.npy"));
}

TEST_F(CliLarge, WholeOnlyWhereItMustBe) {
  constexpr int64_t n = 132000;  // 258 MiB together
  save<float>("q.npy", {h, n_q, d}, noise(h * n_q * d, 1));
  save_large("k.npy", n, {0, n - 1}, 2);
  save_large("v.npy", n, {0, n - 1}, 3);
  const auto pieces = [&](const Words& more) {
    const Outcome outcome = attend(more);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)["pieces"].get<int>();
  };
  EXPECT_GT(pieces({"--json", "--out", "o.npy"}), 1);
  EXPECT_EQ(pieces({"--json", "--out", "whole.npy", "--weights", "/dev/null"}), 1);
  const Floats o = values("o.npy"), whole = values("whole.npy");
  for (size_t i = 0; i < o.size(); ++i) ASSERT_NEAR(o[i], whole[i], 1e-6);
  save_two_keys();
  EXPECT_EQ(pieces({"--json", "--out", "o.npy"}), 1);
}

TEST_F(CliLarge, MistakesAreFoundBeforeAnythingIsRead) {
  constexpr int64_t n = 132000;
  save<float>("q.npy", {h, n_q, d}, noise(h * n_q * d, 1));
  save_large("k.npy", n, {0}, 2);
  save_large("v.npy", n, {0}, 3);
  save<float>("bias.npy", {3}, Floats(3));
  save<int64_t>("kv.npy", {1}, {n + 1});
  const std::set<std::string> before = files();
  const std::pair<Words, std::string> cases[] = {
      {{"--bias", "bias.npy"},
       "bias: shape [3] does not broadcast to [b, h_q, n_q, n_kv] = [1, 4, 3, 132000]; each extent must equal it or be "
       "1"},
      {{"--kv-lengths", "kv.npy"}, "--kv-lengths: entry 0 is 132001; expected 0 to n_kv = 132000"},
      {{"--window", "-2,0"}, "--window: -2 is below -1; expected a width, or -1 for no bound"},
  };
  for (const auto& [more, message] : cases) {
    Words words = {"--out", "o.npy"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = attend(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, "foveate attend: " + message + "\n");
    EXPECT_EQ(files(), before);
  }
  save<float>("q.npy", {h, n_q, 64}, noise(h * n_q * 64, 1));
  EXPECT_EQ(attend({"--out", "o.npy"}).err, "foveate attend: k: head dim 128 does not equal q's 64\n");
  fs::resize_file(path("v.npy"), fs::file_size(path("v.npy")) - 1);
  const Outcome outcome = attend({"--out", "o.npy"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "foveate attend: v: v.npy: shape: (2, 132000, 128) of f4 takes 135168000 bytes, the file "
            "holds 135167999\n");
  EXPECT_EQ(files(), before);
}

TEST_F(CliLarge, CtrlCBetweenAndWithinPieces) {
  constexpr int64_t n = 264000, queries = 100000;  // minutes of work
  save<float>("q.npy", {h, queries, d}, Floats(h * queries * d));
  save_large("k.npy", n, {0}, 2);
  save_large("v.npy", n, {0}, 3);
  std::ofstream(path("o.npy")) << "kept";
  const std::set<std::string> before = files();
  for (const int milliseconds : {20, 200, 600, 1500}) {
    const Process process({"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy"},
                          {.folder = folder_});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    process.signal(SIGINT);
    const Outcome outcome = process.wait();
    // Before its first line a process dies of the signal, which a shell calls 130 too.
    EXPECT_TRUE(outcome.status == 130 || outcome.status == -SIGINT) << outcome.status << ' ' << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(files(), before);
    EXPECT_EQ(bytes_of("o.npy"), "kept");
  }
}

}  // namespace
}  // namespace foveate::cli
