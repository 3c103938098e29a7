// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Gradients on the command line: by hand, against differences of the loss, their shapes and types, and the rest of such
// a call.
#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "cli/attend_compute.h"
#include "cli/attend_inputs.h"
#include "cli/attend_outputs.h"
#include "cli/convert.h"
#include "tests/cli_fixture.h"
#include "tests/npy_bytes.h"
#include "tests/thread_executor.h"

namespace foveate::cli {
namespace {

using Doubles = std::vector<double>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Multiples of 1/8 from -1 to 1, which every float type has.
Doubles eighths(int64_t count, unsigned seed) {
  Doubles all;
  for (const float x : noise(static_cast<size_t>(count), seed)) all.push_back(std::round(x * 8) / 8);
  return all;
}

double dot(const Doubles& a, const Doubles& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

class CliGradients : public CliTest {
 protected:
  static constexpr int64_t b = 2, h = 4, h_kv = 2, n_q = 3, n_kv = 5, d_k = 4, d_v = 6;
  const Words of_qkv = {"--grad", "grad.npy", "--dq", "dq.npy", "--dk", "dk.npy", "--dv", "dv.npy"};
  const Words of_bias_and_sinks = {"--bias",  "bias.npy",  "--sinks",  "sinks.npy",
                                   "--dbias", "dbias.npy", "--dsinks", "dsinks.npy"};
  const Words of_all = of_qkv + of_bias_and_sinks;
  /// Inputs and the gradients by them.
  const std::vector<std::pair<std::string, std::string>> pairs = {{"q.npy", "dq.npy"},
                                                                  {"k.npy", "dk.npy"},
                                                                  {"v.npy", "dv.npy"},
                                                                  {"bias.npy", "dbias.npy"},
                                                                  {"sinks.npy", "dsinks.npy"}};

  /// Numbers of their own for each name, as float64.
  void save_eighths(const std::string& name, const Extents& shape) {
    const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    save<double>(name, shape, eighths(count, static_cast<unsigned>(std::hash<std::string>()(name))));
  }

  /// [b, h, n, d] with as many axes as asked for, in the layout.
  static Extents shaped(Extents bhnd, size_t axes, Layout layout) {
    if (layout == Layout::bnhd) std::swap(bhnd[1], bhnd[2]);
    if (axes == 2) return {bhnd[1] * bhnd[2], bhnd[3]};
    return {bhnd.end() - static_cast<std::ptrdiff_t>(axes), bhnd.end()};
  }

  /// Arrays for every option. What an array has no axis for is one.
  void save_problem(size_t axes = 4, Layout layout = Layout::bhnd) {
    const int64_t batch = axes == 4 ? b : 1, heads = axes > 2 ? h : 1, kv_heads = axes > 2 ? h_kv : 1;
    save_eighths("q.npy", shaped({batch, heads, n_q, d_k}, axes, layout));
    save_eighths("k.npy", shaped({batch, kv_heads, n_kv, d_k}, axes, layout));
    save_eighths("v.npy", shaped({batch, kv_heads, n_kv, d_v}, axes, layout));
    save_eighths("grad.npy", shaped({batch, heads, n_q, d_v}, axes, layout));
    save_eighths("bias.npy", {heads, 1, n_kv});
    save_eighths("sinks.npy", {heads});
    save_eighths("alibi.npy", {heads});
    save<uint8_t>("mask.npy", {n_q, n_kv}, {1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0}, DType::boolean);
    save<int64_t>("q_lengths.npy", {batch}, std::vector<int64_t>(static_cast<size_t>(batch), 2));
    save<int32_t>("kv_lengths.npy", {batch}, std::vector<int32_t>(static_cast<size_t>(batch), 4));
  }

  /// What sum(out * grad) gains along a direction of a float64 input, from calls that know no gradients: the central
  /// difference of fourth order, whose own error and whose roundings stay below 1e-10 for numbers like these.
  double slope(const std::string& input, const Doubles& direction, const Words& options) {
    const Extents shape = load(input).shape;
    const Doubles x = values<double>(input), d_o = values<double>("grad.npy");
    const auto loss = [&](double step) {
      Doubles moved = x;
      for (size_t i = 0; i < x.size(); ++i) moved[i] += step * direction[i];
      save<double>(input, shape, moved);
      expect_success(options + Words{"--bias", "bias.npy", "--sinks", "sinks.npy", "--out", "o.npy"});
      return dot(values<double>("o.npy"), d_o);
    };
    constexpr double kStep = 1e-3;
    const double near = loss(kStep) - loss(-kStep), far = loss(2 * kStep) - loss(-2 * kStep);
    save<double>(input, shape, x);
    return (8 * near - far) / (12 * kStep);
  }

  /// The elements of a file of any float type.
  Doubles widened(const std::string& name) const { return io::elements<double>(convert(load(name), DType::f64)); }

  /// The command line's call, to be run in this process.
  AttendArguments arguments() const {
    AttendArguments a;
    a.q = path("q.npy"), a.k = path("k.npy"), a.v = path("v.npy"), a.grad = path("grad.npy");
    a.dq = path("dq.npy"), a.dk = path("dk.npy"), a.dv = path("dv.npy");
    return a;
  }
};

TEST_F(CliGradients, ComputesTwoKeysByHand) {
  save_two_keys();  // a = 1/4, 3/4; o = 3; da = 0, 4; so ds = -3/4, 3/4
  save<float>("grad.npy", {1, 1}, {1});
  save<float>("bias.npy", {2}, {0, 0});
  expect_success(of_qkv + Words{"--bias", "bias.npy", "--dbias", "dbias.npy"});
  expect_near("dq.npy", {0.75 * std::log(3.0)});
  expect_near("dk.npy", {-0.75, 0.75});
  expect_near("dv.npy", {0.25, 0.75});
  expect_near("dbias.npy", {-0.75, 0.75});

  save<float>("sinks.npy", {1}, {std::log(4.0f)});  // half of all weight, so that o = 3/2
  expect_success({"--grad", "grad.npy", "--sinks", "sinks.npy", "--dsinks", "dsinks.npy", "--out", "o.npy"});
  expect_near("dsinks.npy", {-0.75});
  expect_near("o.npy", {1.5});
}

TEST_F(CliGradients, AreTheSlopesOfTheLoss) {
  const Words options[] = {{},
                           {"--causal", "--softcap", "1.5", "--scale", "0.7"},
                           {"--mask", "mask.npy", "--window", "2,1"},
                           {"--alibi", "alibi.npy", "--align", "top-left", "--causal"},
                           {"--q-lengths", "q_lengths.npy", "--kv-lengths", "kv_lengths.npy"},
                           {"--dropout", "0.4", "--seed", "7"}};
  size_t next = 0;
  for (const size_t axes : {2, 3, 4}) {
    for (const auto& [layout, name] : {std::pair(Layout::bhnd, "bhnd"), {Layout::bnhd, "bnhd"}}) {
      const Words call = options[next++] + Words{"--layout", name};
      SCOPED_TRACE(testing::PrintToString(call) + " with axes " + std::to_string(axes));
      save_problem(axes, layout);
      expect_success(call + of_all);
      for (const auto& [input, gradient] : pairs) {
        ASSERT_EQ(load(gradient).shape, load(input).shape) << gradient;
        const Doubles got = values<double>(gradient);
        const Doubles direction = eighths(static_cast<int64_t>(got.size()), 9);
        EXPECT_NEAR(dot(got, direction), slope(input, direction, call), 1e-9) << gradient;
      }
    }
  }
}

TEST_F(CliGradients, LayoutsHoldTheSameNumbers) {
  save_problem();
  expect_success(of_qkv);
  const std::vector<std::string> names = {"q.npy", "k.npy", "v.npy", "grad.npy", "dq.npy", "dk.npy", "dv.npy"};
  std::vector<Doubles> expected;
  for (const std::string& name : names) {
    const Extents shape = load(name).shape;
    const Doubles bhnd = values<double>(name);
    Doubles bnhd(bhnd.size());
    const int64_t heads = shape[1], n = shape[2], d = shape[3];
    for (int64_t i = 0; i < static_cast<int64_t>(bhnd.size()); ++i) {
      const int64_t e = i % d, row = i / d % n, head = i / d / n % heads, batch = i / d / n / heads;
      bnhd[((batch * n + row) * heads + head) * d + e] = bhnd[i];
    }
    save<double>(name, {shape[0], n, heads, d}, bnhd);
    expected.push_back(bnhd);
  }
  for (const char* name : {"dq.npy", "dk.npy", "dv.npy"}) fs::remove(path(name));
  expect_success(of_qkv + Words{"--layout", "bnhd"});
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(values<double>(names[i]), expected[i]) << names[i];
}

TEST_F(CliGradients, AreOfTheTypeComputedWith) {
  save_problem();
  expect_success(of_all);
  std::vector<Doubles> exact;
  for (const auto& [input, gradient] : pairs) exact.push_back(widened(gradient));
  const auto expect_type = [&](const Words& more, DType stored, DType of_sinks, double step) {
    expect_success(of_all + more);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const std::string& gradient = pairs[i].second;
      EXPECT_EQ(load(gradient).dtype, gradient == "dsinks.npy" ? of_sinks : stored) << gradient;
      // Inputs are exact in every type: what is rounded is out and the result, and weights before they meet it.
      const Doubles got = widened(gradient);
      for (size_t j = 0; j < got.size(); ++j) {
        ASSERT_NEAR(got[j], exact[i][j], 16 * step * (1 + std::abs(exact[i][j]))) << gradient << ' ' << j;
      }
    }
  };
  expect_type({"--dtype", "f32"}, DType::f32, DType::f32, 0x1p-24);
  expect_type({"--dtype", "f16"}, DType::f16, DType::f32, 0x1p-11);
  expect_type({"--dtype", "bf16"}, DType::f32, DType::f32, 0x1p-8);
  for (const char* gradient : {"dq.npy", "dk.npy", "dv.npy", "dbias.npy"}) {
    for (const float x : values(gradient)) EXPECT_EQ(x, static_cast<float>(BFloat16(x))) << gradient;
  }
  std::vector<Float16> halves;
  for (const double x : values<double>("q.npy")) halves.push_back(Float16(x));
  save<Float16>("q.npy", load("q.npy").shape, halves);  // all follow q's type, the gradient of out and bias's too
  expect_type({}, DType::f16, DType::f32, 0x1p-11);
  expect_type({"--dtype", "f64"}, DType::f64, DType::f64, 0x1p-53);
}

TEST_F(CliGradients, DbiasHasTheShapeOfTheBiasAndSumsWhatItIsBroadcastOver) {
  save_problem();
  const int64_t whole[4] = {b, h, n_q, n_kv};
  const auto dbias = [&](const Extents& shape) {
    const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    save<double>("bias.npy", shape, Doubles(static_cast<size_t>(count), 0.25));  // alike, so that ds is too
    expect_success(of_bias_and_sinks + Words{"--grad", "grad.npy", "--causal"});
    EXPECT_EQ(load("dbias.npy").shape, shape);
    return values<double>("dbias.npy");
  };
  const Doubles all = dbias({b, h, n_q, n_kv});
  for (const Extents& shape : {Extents{},
                               {n_kv},
                               {1},
                               {n_q, n_kv},
                               {n_q, 1},
                               {1, n_kv},
                               {h, 1, 1},
                               {h, n_q, n_kv},
                               {1, h, 1, n_kv},
                               {b, 1, 1, n_kv},
                               {b, 1, n_q, 1},
                               {1, 1, 1, 1}}) {
    SCOPED_TRACE(testing::PrintToString(shape));
    const Doubles got = dbias(shape);
    Doubles sums(got.size());
    for (size_t i = 0; i < all.size(); ++i) {
      int64_t rest = static_cast<int64_t>(i), to = 0, step = 1;
      for (size_t axis = 4; axis-- > 0; rest /= whole[axis]) {
        const size_t lacking = 4 - shape.size();
        const int64_t extent = axis < lacking ? 1 : shape[axis - lacking];
        to += extent == 1 ? 0 : rest % whole[axis] * step;
        step *= extent;
      }
      sums[static_cast<size_t>(to)] += all[i];
    }
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], sums[i], 1e-13) << i;
  }
}

TEST_F(CliGradients, DoNotChangeWhatElseIsWritten) {
  save_problem();
  const Words more = {"--causal", "--dropout", "0.4", "--dtype", "f32"};
  expect_success(more + Words{"--out", "o.npy", "--lse", "l.npy", "--weights", "a.npy", "--dropout-mask", "m.npy"});
  expect_success(more + of_qkv);
  const std::string dk = bytes_of("dk.npy");
  expect_success(more + of_qkv + Words{"--out", "o2.npy", "--lse", "l2.npy", "--weights", "a2.npy"} +
                 Words{"--dropout-mask", "m2.npy"});
  EXPECT_EQ(bytes_of("o.npy"), bytes_of("o2.npy"));
  EXPECT_EQ(bytes_of("l.npy"), bytes_of("l2.npy"));
  EXPECT_EQ(bytes_of("a.npy"), bytes_of("a2.npy"));
  EXPECT_EQ(bytes_of("m.npy"), bytes_of("m2.npy"));
  EXPECT_EQ(bytes_of("dk.npy"), dk);
  expect_success(more + of_qkv + Words{"--lse", "l2.npy", "--threads", "1"});
  EXPECT_EQ(bytes_of("dk.npy"), dk);
}

TEST_F(CliGradients, EachMayBeAskedForAlone) {
  save_problem();
  expect_success(of_all);
  for (const auto& [input, gradient] : pairs) {
    const Doubles together = values<double>(gradient);
    const std::string option = "--" + gradient.substr(0, gradient.find('.'));
    const std::set<std::string> before = files();
    expect_success({"--grad", "grad.npy", "--bias", "bias.npy", "--sinks", "sinks.npy", option, "alone.npy"});
    const Doubles alone = values<double>("alone.npy");
    ASSERT_EQ(alone.size(), together.size());
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(alone[i], together[i], 1e-14) << gradient << ' ' << i;
    fs::remove(path("alone.npy"));
    EXPECT_EQ(files(), before);
  }
}

TEST_F(CliGradients, TheGradientOfOutMayLieInAnyOrderAndType) {
  save_problem();
  expect_success(of_qkv);
  const std::string dq = bytes_of("dq.npy"), dv = bytes_of("dv.npy");
  const Extents shape = load("grad.npy").shape;
  const Doubles d_o = values<double>("grad.npy");
  std::string fortran;  // float32, big-endian, the first axis next to next
  for (int64_t i = 0; i < static_cast<int64_t>(d_o.size()); ++i) {
    const int64_t x = i % b, y = i / b % h, z = i / b / h % n_q, e = i / b / h / n_q;
    const auto number = static_cast<float>(d_o[static_cast<size_t>(((x * h + y) * n_q + z) * d_v + e)]);
    const std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
    fortran.append(bytes.rbegin(), bytes.rend());
  }
  std::ofstream(path("grad.npy"), std::ios::binary) << io::file(io::dict(">f4", io::to_string(shape), true), fortran);
  expect_success(of_qkv);
  EXPECT_EQ(bytes_of("dq.npy"), dq);
  EXPECT_EQ(bytes_of("dv.npy"), dv);
}

TEST_F(CliGradients, EmptyAxesGiveZeros) {
  const auto save_shapes = [&](int64_t queries, int64_t keys, int64_t columns) {
    save_eighths("q.npy", {queries, 4});
    save_eighths("k.npy", {keys, 4});
    save_eighths("v.npy", {keys, columns});
    save_eighths("grad.npy", {queries, columns});
    save_eighths("bias.npy", {1, 1});
    save_eighths("sinks.npy", {1});
  };
  for (const auto& [queries, keys, columns] : {std::tuple(0, 3, 2), {2, 0, 2}, {2, 3, 0}, {0, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << queries << ' ' << keys << ' ' << columns);
    save_shapes(queries, keys, columns);
    expect_success(of_all);
    for (const auto& [input, gradient] : pairs) {
      EXPECT_EQ(load(gradient).shape, load(input).shape) << gradient;
      for (const double x : values<double>(gradient)) EXPECT_EQ(x, 0) << gradient;
    }
  }
}

TEST_F(CliGradients, StandardInputAndOutputPipesAndDevices) {
  save_problem();
  expect_success(of_qkv);
  const std::string d_o = bytes_of("grad.npy"), dq = bytes_of("dq.npy"), dv = bytes_of("dv.npy");
  fs::remove(path("grad.npy"));
  const Outcome outcome = attend({"--grad", "-", "--dq", "-", "--dk", "/dev/null", "--dv", "dv.npy"}, {.input = d_o});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, dq);
  EXPECT_EQ(bytes_of("dv.npy"), dv);

  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = bytes_of("pipe"); });
  EXPECT_EQ(attend({"--grad", "-", "--dv", "pipe"}, {.input = d_o}).err, "");
  reader.join();
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(received, dv);
}

TEST_F(CliGradients, OneFileMayBeSeveralInputs) {
  save_eighths("q.npy", {3, 4});
  for (const char* name : {"k.npy", "v.npy", "grad.npy"}) fs::copy_file(path("q.npy"), path(name));
  expect_success(of_qkv);
  const Outcome outcome = run({"attend", "--q", "q.npy", "--k", "q.npy", "--v", "q.npy", "--grad", "q.npy", "--dq",
                               "dq2.npy", "--dk", "dk2.npy"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(bytes_of("dq2.npy"), bytes_of("dq.npy"));
  EXPECT_EQ(bytes_of("dk2.npy"), bytes_of("dk.npy"));
}

TEST_F(CliGradients, FullDiskIsStatusOneAndLeavesNothing) {
  save_problem();
  std::ofstream(path("dq.npy")) << "kept";
  const std::set<std::string> before = files();
  const Outcome outcome = attend({"--grad", "grad.npy", "--dq", "dq.npy", "--out", "o.npy", "--dv", "/dev/full"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate attend: /dev/full: No space left on device\n");
  EXPECT_EQ(files(), before);
  EXPECT_EQ(bytes_of("dq.npy"), "kept");
  EXPECT_EQ(attend({"--grad", "grad.npy", "--dq", "-"}, {.out_path = "/dev/full"}).status, 1);
}

TEST_F(CliGradients, ProgressCountsBothPasses) {
  save_problem();
  AttendArguments a = arguments();
  const auto expect_all_counted = [&](bool forward_alone) {
    for (const int workers : {1, 3}) {
      ThreadExecutor executor(workers);
      const AttendInputs inputs = load_inputs(a);
      const AttendOutputs outputs(a, inputs);
      Computation computation(a, inputs, outputs);
      ASSERT_TRUE(computation.check().ok());
      std::atomic<int64_t> done = 0;
      const Status status = computation.run({.executor = &executor, .progress = &done});
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(done, computation.tasks(workers));
      AttentionPlan plan;
      ASSERT_TRUE(attention_plan(inputs.shape, workers, &plan).ok());
      EXPECT_EQ(done == plan.tasks, forward_alone);
    }
  };
  expect_all_counted(false);
  a.dq = a.dk = "";
  expect_all_counted(false);
  a.dv = a.grad = "";
  a.out = path("o.npy");
  expect_all_counted(true);
}

/// Runs tasks one by one, and raises the flag before those of the second run.
class StopsTheSecondRun final : public Executor {
 public:
  explicit StopsTheSecondRun(std::atomic<bool>* stop) : stop_(stop) {}
  int64_t concurrency() const override { return 1; }
  void run(int64_t n_tasks, Task task, void* context) override {
    *stop_ = ++runs_ > 1;
    for (int64_t t = 0; t < n_tasks; ++t) task(context, t, 0);
  }

 private:
  std::atomic<bool>* stop_;
  int runs_ = 0;
};

TEST_F(CliGradients, TheSecondPassCanBeStopped) {
  save_problem();
  const AttendArguments a = arguments();
  const AttendInputs inputs = load_inputs(a);
  const AttendOutputs outputs(a, inputs);
  Computation computation(a, inputs, outputs);
  ASSERT_TRUE(computation.check().ok());
  std::atomic<bool> stop = false;
  std::atomic<int64_t> done = 0;
  StopsTheSecondRun executor(&stop);
  const Status status = computation.run({.executor = &executor, .stop = &stop, .progress = &done});
  EXPECT_EQ(status.code(), StatusCode::cancelled) << status.message();
  AttentionPlan plan;
  ASSERT_TRUE(attention_plan(inputs.shape, 1, &plan).ok());
  EXPECT_GE(done, plan.tasks);
  EXPECT_LT(done, computation.tasks(1));
}

TEST_F(CliGradients, KeysAreReadWhole) {
  save_problem();
  const PieceLimits limits{.whole = 0, .piece = 1, .keys = 1};
  AttendArguments a = arguments();
  EXPECT_EQ(load_inputs(a, limits).pieces, nullptr);
  a.grad = "";
  EXPECT_NE(load_inputs(a, limits).pieces, nullptr);
}

TEST_F(CliGradients, TheSummaryTells) {
  save_problem();
  const auto summary = [&](const Words& words) {
    const Outcome outcome = attend(words + Words{"--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json all = summary(of_all + Words{"--dtype", "bf16"});
  EXPECT_EQ(all["outputs"], nlohmann::json::parse(R"({"dq":{"file":"dq.npy","dtype":"float32","shape":[2,4,3,4]},
      "dk":{"file":"dk.npy","dtype":"float32","shape":[2,2,5,4]},
      "dv":{"file":"dv.npy","dtype":"float32","shape":[2,2,5,6]},
      "dbias":{"file":"dbias.npy","dtype":"float32","shape":[4,1,5]},
      "dsinks":{"file":"dsinks.npy","dtype":"float32","shape":[4]}})"));
  constexpr int64_t weights = b * h * n_q * n_kv;
  EXPECT_EQ(all["dense_flops"], 2 * weights * (4 * d_k + 3 * d_v));
  EXPECT_EQ(summary({"--grad", "grad.npy", "--dv", "dv.npy"})["dense_flops"], 2 * weights * (2 * d_k + 2 * d_v));
  EXPECT_EQ(summary({"--out", "o.npy"})["dense_flops"], 2 * weights * (d_k + d_v));
}

TEST_F(CliGradients, TheHelpListsThem) {
  const std::string help = run({"attend", "--help"}).out;
  for (const char* option : {"--grad F", "--dq F", "--dk F", "--dv F", "--dbias F", "--dsinks F"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
  EXPECT_NE(help.find("Not so with --weights, --grad,"), std::string::npos);
}

}  // namespace
}  // namespace foveate::cli
