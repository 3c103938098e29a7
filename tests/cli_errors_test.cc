// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The errors of the command line, word by word: one line, status 2, and no file touched.
#include <sys/resource.h>

#include <climits>
#include <tuple>
#include <utility>

#include "tests/cli_fixture.h"
#include "tests/npy_bytes.h"

namespace foveate {
namespace {

struct Mistake {
  Words arguments;
  std::string message;
};

class CliErrors : public CliTest {
 protected:
  /// Each, after q, k, v and the arguments of `call`, is told in one line, and no file is touched, o.npy least of all.
  void expect_refused(const Words& call, const std::vector<Mistake>& mistakes) const {
    std::ofstream(path("o.npy")) << "kept";
    const std::set<std::string> before = files();
    for (const Mistake& mistake : mistakes) {
      Words arguments = call;
      arguments.insert(arguments.end(), mistake.arguments.begin(), mistake.arguments.end());
      const Outcome outcome = attend(arguments);
      EXPECT_EQ(outcome.status, 2) << mistake.message;
      EXPECT_EQ(outcome.err, "foveate attend: " + mistake.message + "\n");
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(files(), before) << mistake.message;
      EXPECT_EQ(bytes_of("o.npy"), "kept") << mistake.message;
    }
  }
};

const std::string kOwnFile = " file too; an output needs a file of its own";
const std::string kHelp = " (see foveate attend --help)";

TEST_F(CliErrors, ErrorsWordByWord) {
  save<float>("q.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("k.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<float>("v.npy", {1, 2, 3, 4}, Floats(24, 1.0f));
  save<int64_t>("int.npy", {3, 3}, std::vector<int64_t>(9, 1));
  save<float>("two.npy", {2, 1}, Floats(2));
  save<uint8_t>("five.npy", {1, 1, 1, 3, 3}, std::vector<uint8_t>(9, 1), DType::boolean);
  fs::create_hard_link(path("k.npy"), path("hard.npy"));
  fs::create_symlink("q.npy", path("soft.npy"));
  fs::create_symlink("round", path("round"));
  fs::create_symlink("astray too", path("astray"));
  fs::create_symlink("nowhere/else", path("astray too"));
  fs::create_symlink("to new too", path("to new"));
  fs::create_symlink("new", path("to new too"));
  save<uint8_t>("wide.npy", {2, 5}, std::vector<uint8_t>(10, 1), DType::boolean);
  save<uint16_t>("halves.npy", {1}, {0}, DType::f16);
  std::ofstream(path("bytes.npy")) << io::file(io::dict("|u1", "(1, 3)"), std::string(3, '\1'));
  std::ofstream(path("unsigned.npy")) << io::file(io::dict("<u8", "(0,)"), "");
  const std::string long_name(256, 'n');
  fs::create_directory(path("folder"));
  std::ofstream(path("text.npy")) << "hello";
  const std::string no_broadcast = "; give at most 4, broadcast to [b, h_q, n_q, n_kv]";
  const std::string two_numbers = "two whole numbers with a comma between them, such as 128,0";
  const std::vector<Mistake> mistakes = {
      {{"--scale", "nan"}, "--scale: 'nan' is not a finite number, such as 0.125"},
      {{"--scale", "inf"}, "--scale: 'inf' is not a finite number, such as 0.125"},
      {{"--scale", "1e999"}, "--scale: '1e999' is not a finite number, such as 0.125"},
      {{"--scale", "+-5"}, "--scale: '+-5' is not a finite number, such as 0.125"},
      {{"--softcap", "2x"}, "--softcap: '2x' is not a finite number, such as 0.125"},
      {{"--window", "3"}, "--window: '3' is not L,R: " + two_numbers},
      {{"--window", "3,x"}, "--window: '3,x' is not L,R: " + two_numbers},
      {{"--window", "128", "0"}, "--window: '128' is not L,R: " + two_numbers},
      {{"--threads", "0"}, "--threads: '0' is not a whole number of at least 1"},
      {{"--threads", "99999999999999999999"}, "--threads: 99999999999999999999 is too large"},
      {{"--window", "99999999999999999999,0"}, "--window: 99999999999999999999 is too large"},
      {{"--window", "0,-99999999999999999999"}, "--window: -99999999999999999999 is too small"},
      {{"--causal=false"}, "--causal: takes no value" + kHelp},
      {{"--causal=maybe"}, "--causal: takes no value" + kHelp},
      {{"--causal", "--causal"}, "--causal: given more than once" + kHelp},
      {{"--json", "--json"}, "--json: given more than once" + kHelp},
      {{"--", "--causal"}, "unexpected '--causal' after --" + kHelp},
      {{"--align", "left"}, "--align: 'left' is none of bottom-right, top-left"},
      {{"--layout", "bnh"}, "--layout: 'bnh' is none of bhnd, bnhd"},
      {{"--dtype", "half"}, "--dtype: 'half' is none of f32, f16, bf16, f64"},
      {{"--dropout"}, "--dropout: no value given" + kHelp},
      {{"--dropout", "0", "--dropout", "0"}, "--dropout: given more than once" + kHelp},
      {{"--dropout", "half"}, "--dropout: 'half' is not a finite number, such as 0.125"},
      {{"--dropout", "1"}, "dropout: 1; expected a probability, at least 0 and below 1"},
      {{"--dropout", "-0.1"}, "dropout: -0.1; expected a probability, at least 0 and below 1"},
      {{"--dropout", "10%"}, "--dropout: '10%' is not a finite number, such as 0.125"},
      {{"--seed", "-1"}, "--seed: '-1' is not a whole number from 0 to 2^64 - 1"},
      {{"--seed", "18446744073709551616"}, "--seed: '18446744073709551616' is not a whole number from 0 to 2^64 - 1"},
      {{"--seed", "1.0"}, "--seed: '1.0' is not a whole number from 0 to 2^64 - 1"},
      {{"--dropout-mask", "o.npy"}, "--dropout-mask: o.npy: is --out's" + kOwnFile},
      {{"--stats", "s.safetensors"}, "--stats: s.safetensors: figures are written as JSON; name it so"},
      {{"--stats", "o.npy"}, "--stats: o.npy: is --out's" + kOwnFile},
      {{"--caussal"}, "unexpected '--caussal'; did you mean --causal?" + kHelp},
      {{"--is-causal"}, "unexpected '--is-causal'; did you mean --causal?" + kHelp},
      {{"--attention-bias"}, "unexpected '--attention-bias'; did you mean --bias?" + kHelp},
      {{"extra"}, "unexpected 'extra'" + kHelp},
      {{"--lse"}, "--lse: no value given" + kHelp},
      {{"--out", "p.npy"}, "--out: given more than once" + kHelp},
      {{"--lse", "--causal"}, "--lse: no file named before --causal"},
      {{"--lse", "nowhere/l.npy"}, "--lse: nowhere/l.npy: no folder nowhere; create it first"},
      {{"--lse", "folder"}, "--lse: folder: is a folder, not a file"},
      {{"--lse", "round"}, "--lse: round: Too many levels of symbolic links"},
      {{"--lse", "astray"}, "--lse: astray: no folder nowhere; create it first"},
      {{"--lse", "q.npy/l.npy"}, "--lse: q.npy/l.npy: Not a directory"},
      {{"--lse", "/proc/l.npy"}, "--lse: /proc/l.npy: cannot write in /proc: No such file or directory"},
      {{"--lse", long_name}, "--lse: " + long_name + ": File name too long"},
      {{"--lse", "to new", "--weights", "new"}, "--weights: new: is --lse's" + kOwnFile},
      {{"--lse", "q.npy"}, "--lse: q.npy: is --q's" + kOwnFile},
      {{"--lse", "soft.npy"}, "--lse: soft.npy: is --q's" + kOwnFile},
      {{"--lse", "hard.npy"}, "--lse: hard.npy: is --k's" + kOwnFile},
      {{"--lse", "./folder/../o.npy"}, "--lse: ./folder/../o.npy: is --out's" + kOwnFile},
      {{"--lse", "new.npy", "--weights", "folder/../new.npy"}, "--weights: folder/../new.npy: is --lse's" + kOwnFile},
      {{"--lse", "-", "--weights", "-"}, "--weights: standard output is --lse's already; name a file"},
      {{"--lse", "-", "--json"}, "--lse: standard output is --json's already; name a file"},
      {{"--lse", "/dev/stdout", "--json"}, "--lse: standard output is --json's already; name a file"},
      {{"--lse", "/dev/fd/1", "--weights", "-"}, "--weights: standard output is --lse's already; name a file"},
      {{"--mask", "/dev/stdin", "--bias", "-"}, "--bias: - is --mask's already; standard input holds one array"},
      {{"--mask", "-", "--bias", "-"}, "--bias: - is --mask's already; standard input holds one array"},
      {{"--mask", "none.npy"}, "--mask: none.npy: No such file or directory"},
      {{"--mask", "folder"}, "--mask: folder: is a folder, not a file"},
      {{"--mask", "bad\nname"}, "--mask: bad?name: No such file or directory"},
      {{"--mask", "five.npy"}, "mask: 5 axes, shape [1, 1, 1, 3, 3]" + no_broadcast},
      {{"--bias", "int.npy"}, "bias: int64 elements, not floats; save it with astype('float32')"},
      {{"--sinks", "two.npy"}, "sinks: 2 axes, shape [2, 1]; give [h_q], one number a query head"},
      {{"--mask", "wide.npy"},
       "mask: shape [2, 5] does not broadcast to [b, h_q, n_q, n_kv] = [1, 2, 3, 3]; each extent must equal it or be "
       "1"},
      {{"--mask", "bytes.npy"},
       "mask: dtype uint8 is not bool; convert it by astype(bool) (true = takes part), or pass it as bias"},
      {{"--kv-lengths", "halves.npy"}, "--kv-lengths: dtype float16 is not an integer type; expected int32 or int64"},
      {{"--bias", "unsigned.npy"}, "bias: uint64 elements, not floats; save it with astype('float32')"},
      {{"--kv-lengths", "int.npy"}, "--kv-lengths: 2 axes, shape [3, 3]; give [b], one length a sequence"},
  };
  expect_refused({"--out", "o.npy"}, mistakes);
}

TEST_F(CliErrors, ErrorsOfGradientsWordByWord) {
  save<float>("q.npy", {1, 4, 3, 2}, Floats(24, 1.0f));
  save<float>("k.npy", {1, 2, 5, 2}, Floats(20, 1.0f));
  save<float>("v.npy", {1, 2, 5, 6}, Floats(60, 1.0f));
  save<float>("grad.npy", {1, 4, 3, 6}, Floats(72, 1.0f));
  save<float>("flat.npy", {4, 3, 6}, Floats(72));
  save<int64_t>("int.npy", {1, 4, 3, 6}, std::vector<int64_t>(72));
  save<float>("bias.npy", {4, 1, 5}, Floats(20));
  save<float>("sinks.npy", {4}, Floats(4));
  fs::create_hard_link(path("grad.npy"), path("hard.npy"));
  fs::create_directory(path("folder"));
  std::ofstream(path("text.npy")) << "hello";
  expect_refused(
      {},
      {{{"--dq", "o.npy"}, "--dq: no --grad; give the loss's gradient by out"},
       {{"--out", "o.npy", "--sinks", "sinks.npy", "--dsinks", "s.npy"},
        "--dsinks: no --grad; give the loss's gradient by out"},
       {{"--grad", "--dq", "o.npy"}, "--grad: no file named before --dq"},
       {{"--dq", "o.npy", "--grad"}, "--grad: no value given" + kHelp},
       {{"--dq", "o.npy", "--gradient", "grad.npy"}, "unexpected '--gradient'; did you mean --grad?" + kHelp},
       {{"--dq", "o.npy", "--grad", "none.npy"}, "--grad: none.npy: No such file or directory"},
       {{"--dq", "o.npy", "--grad", "folder"}, "--grad: folder: is a folder, not a file"},
       {{"--dq", "o.npy", "--grad", "-", "--bias", "-"},
        "--grad: - is --bias's already; standard input holds one array"},
       {{"--dq", "o.npy", "--grad", "flat.npy"}, "grad: shape [4, 3, 6] does not equal out's [1, 4, 3, 6]"},
       {{"--dq", "o.npy", "--grad", "q.npy"}, "grad: shape [1, 4, 3, 2] does not equal out's [1, 4, 3, 6]"},
       {{"--dq", "o.npy", "--grad", "int.npy"}, "grad: int64 elements, not floats; save it with astype('float32')"}});
  expect_refused({"--grad", "grad.npy"},
                 {{{}, "--grad: no gradient to write; give --dq or another that --help lists"},
                  {{"--out", "o.npy"}, "--grad: no gradient to write; give --dq or another that --help lists"},
                  {{"--dbias", "o.npy"}, "--dbias: no --bias; give the bias whose gradient it is"},
                  {{"--dsinks", "o.npy"}, "--dsinks: no --sinks; give the sinks whose gradient it is"},
                  {{"--dq", "-", "--dk", "-"}, "--dk: standard output is --dq's already; name a file"},
                  {{"--dq", "-", "--json"}, "--dq: standard output is --json's already; name a file"},
                  {{"--dk", "--causal"}, "--dk: no file named before --causal"}});
  expect_refused(
      {"--grad", "grad.npy", "--dq", "o.npy"},
      {{{"--grad", "grad.npy"}, "--grad: given more than once" + kHelp},
       {{"--dq", "o.npy"}, "--dq: given more than once" + kHelp},
       {{"--dk", ""}, "--dk: empty; name a file"},
       {{"--dv", "nowhere/dv.npy"}, "--dv: nowhere/dv.npy: no folder nowhere; create it first"},
       {{"--dv", "folder"}, "--dv: folder: is a folder, not a file"},
       {{"--dv", "o.npy"}, "--dv: o.npy: is --dq's" + kOwnFile},
       {{"--out", "folder/../o.npy"}, "--dq: o.npy: is --out's" + kOwnFile},
       {{"--dv", "v.npy"}, "--dv: v.npy: is --v's" + kOwnFile},
       {{"--dk", "hard.npy"}, "--dk: hard.npy: is --grad's" + kOwnFile},
       {{"--layout", "bnhd"}, "q: 3 heads are not a multiple of k's 5; is this --layout bhnd?"},
       {{"--window", "-2,0"}, "--window: -2 is below -1; expected a width, or -1 for no bound"},
       {{"--sinks", "bias.npy", "--dsinks", "ds.npy"},
        "sinks: 3 axes, shape [4, 1, 5]; give [h_q], one number a query head"},
       {{"--bias", "sinks.npy", "--dbias", "db.npy"},
        "bias: shape [4] does not broadcast to [b, h_q, n_q, n_kv] = [1, 4, 3, 5]; each extent must equal it "
        "or be 1"}});
  EXPECT_EQ(attend({"--grad", "text.npy", "--dq", "o.npy"}).err.rfind("foveate attend: grad: text.npy: ", 0), 0u);
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
      {{"--k", "narrow.npy"}, "k: "},
      {{"--mask", "int.npy"}, "mask: "},
      {{"--window", "-2,0"}, "--window: "},
      {{"--softcap", "-1"}, "softcap: "},
      {{"--sinks", "three.npy"}, "sinks: "},
      {{"--alibi", "three.npy"}, "--alibi: "},
      {{"--kv-lengths", "lengths.npy"}, "--kv-lengths: "},
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
            "foveate attend: --k: missing; give --q, --k and --v, each a .npy or .safetensors file, or --in\n");
  EXPECT_EQ(
      attend({}).err,
      "foveate attend: nothing to write: give --out, --lse, --weights, --dropout-mask or --stats, or --grad and a "
      "gradient\n");
  EXPECT_EQ(
      attend({"--out", "o.npy"}).err,
      "foveate attend: k: 4 axes, shape [1, 2, 3, 4], where q has 3, shape [2, 3, 4]; give q, k and v equally many\n");
  save<float>("q.npy", {4}, Floats(4));
  EXPECT_EQ(attend({"--out", "o.npy"}).err,
            "foveate attend: q: 1 axis, shape [4]; give [n, d], [h, n, d] or [b, h, n, d]\n");
  save<int32_t>("q.npy", {1, 2, 3, 4}, std::vector<int32_t>(24));
  EXPECT_EQ(attend({"--out", "o.npy"}).err,
            "foveate attend: q: int32 elements, not floats; save it with astype('float32')\n");
  EXPECT_EQ(attend({"--dtype", "f32", "--out", "o.npy"}).err,
            "foveate attend: q: int32 elements, not floats; save it with astype('float32')\n");
  std::ofstream(path("q.npy")) << "hello";
  const Outcome outcome = attend({"--out", "o.npy"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err.rfind("foveate attend: q: q.npy: ", 0), 0u) << outcome.err;
  EXPECT_FALSE(fs::exists(path("o.npy")));
}

TEST_F(CliErrors, TheOtherLayoutIsAskedForWhereItWouldFit) {
  save<float>("q.npy", {1, 9, 2, 4}, Floats(72));
  save<float>("k.npy", {1, 11, 2, 4}, Floats(88));
  save<float>("v.npy", {1, 11, 2, 4}, Floats(88));
  const std::string heads = "foveate attend: q: 9 heads are not a multiple of k's 11";
  EXPECT_EQ(attend({"--out", "o.npy"}).err, heads + "; is this --layout bnhd?\n");
  expect_success({"--layout", "bnhd", "--out", "o.npy"});
  save<float>("k.npy", {1, 11, 3, 4}, Floats(132));
  save<float>("v.npy", {1, 11, 3, 4}, Floats(132));
  EXPECT_EQ(attend({"--out", "o.npy"}).err, heads + "\n");  // nor do 2 heads go into 3
  save<float>("q.npy", {2, 9, 4}, Floats(72));
  save<float>("k.npy", {2, 11, 4}, Floats(88));
  save<float>("v.npy", {2, 11, 4}, Floats(88));
  EXPECT_EQ(attend({"--layout", "bnhd", "--out", "o.npy"}).err, heads + "; is this --layout bhnd?\n");
}

// A file of that number would be written over.
TEST_F(CliErrors, ClosedStreamsAreNoPlaceForFiles) {
  save_two_keys();
  ASSERT_EQ(attend({"--out", "right.npy"}).status, 0);
  const auto closed = [](const std::vector<int>& streams) {
    return Process::Setup{.prepare = [streams] {
      for (const int stream : streams) close(stream);
    }};
  };
  for (const std::vector<int>& streams : {std::vector{1}, {0}, {2}, {0, 1, 2}}) {
    EXPECT_EQ(attend({"--out", "o.npy"}, closed(streams)).status, 0);
    EXPECT_EQ(bytes_of("o.npy"), bytes_of("right.npy"));
    EXPECT_EQ(attend({"--out", "o.npy", "--scale", "x"}, closed(streams)).status, 2);
    EXPECT_EQ(bytes_of("o.npy"), bytes_of("right.npy"));
    fs::remove(path("o.npy"));
  }
  const std::set<std::string> before = files();
  const std::tuple<Words, int, std::string> cases[] = {
      {{"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "-"},
       2,
       "attend: --out: standard output: not open for writing"},
      {{"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy", "--json"},
       2,
       "attend: --json: standard output: not open for writing"},
      {{"attend", "--q", "-", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy"},
       2,
       "attend: --q: standard input: not open for reading"},
      {{"demo"}, 2, "demo: the report: standard output: not open for writing"},
      {{"info"}, 1, "info: standard output: Bad file descriptor"},
  };
  for (const auto& [arguments, status, message] : cases) {
    const Outcome outcome = run(arguments, closed({0, 1}));
    EXPECT_EQ(outcome.status, status);
    EXPECT_EQ(outcome.err, "foveate " + message + "\n");
    EXPECT_EQ(files(), before);
  }
}

TEST_F(CliErrors, TooLittleMemoryIsStatusOne) {
#ifdef FOVEATE_SANITIZED_MEMORY
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const Process::Setup one_gigabyte = {.prepare = [] {
    const rlimit limit = {1 << 30, 1 << 30};
    setrlimit(RLIMIT_AS, &limit);
  }};
  save<float>("k.npy", {65536, 1}, Floats(65536));
  save<float>("v.npy", {65536, 1}, Floats(65536));
  save<float>("q.npy", {65536, 1}, Floats(65536));
  Outcome outcome = attend({"--weights", "w.npy"}, one_gigabyte);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate attend: weights: not enough memory for shape [65536, 65536], 17.2 GB\n");

  const std::string header = io::file(io::dict("<f4", "(2147483648, 1)"), "");
  std::ofstream(path("q.npy"), std::ios::binary) << header;
  fs::resize_file(path("q.npy"), header.size() + (uintmax_t{4} << 31));  // sparse
  outcome = attend({"--out", "o.npy"}, one_gigabyte);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate attend: q: q.npy: not enough memory for its 8589934592 bytes\n");
  EXPECT_FALSE(fs::exists(path("o.npy")));

  outcome = run({"bench", "--threads", "1", "--shape", "1,8,8,1000000,1000000,64,64"}, one_gigabyte);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate bench: --shape: not enough memory for such arrays; make the extents smaller\n");
}

TEST_F(CliErrors, FilesPastTheirLimitAreStatusOne) {
  save<float>("q.npy", {4096, 1}, Floats(4096));
  save<float>("k.npy", {1, 1}, Floats(1));
  save<float>("v.npy", {1, 1}, Floats(1));
  const std::set<std::string> before = files();
  const Outcome outcome = attend({"--out", "o.npy"}, {.prepare = [] {
                                   const rlimit limit = {4096, 4096};
                                   setrlimit(RLIMIT_FSIZE, &limit);
                                 }});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "foveate attend: o.npy: File too large\n");
  EXPECT_EQ(files(), before);
}

TEST_F(CliErrors, ReadersThatLeaveAreStatusOne) {
  save_two_keys();
  for (const Words& arguments : {Words{"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "-"},
                                 Words{"demo", "--no-svg"}, Words{"info"}}) {
    const Outcome outcome = run(arguments, {.prepare = [] {
                                  int ends[2];
                                  if (pipe(ends) != 0) _exit(126);
                                  dup2(ends[1], STDOUT_FILENO);
                                  close(ends[0]);
                                }});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "foveate " + arguments[0] + ": standard output: Broken pipe\n");
  }
}

TEST_F(CliErrors, PathsNearlyTooLongAreWrittenTo) {
  save_two_keys();
  std::string target = path("");
  while (target.size() < PATH_MAX - 260) target += std::string(200, 'd') + "/";
  target += std::string(PATH_MAX - 5 - target.size(), 'd') + "/";
  fs::create_directories(target);
  target += "o";
  EXPECT_EQ(attend({"--out", target}).err, "");
  EXPECT_TRUE(fs::exists(target));
}

TEST_F(CliErrors, UnknownTargetIsRefusedByEveryCommandThatComputes) {
  save_two_keys();
  for (const Words& arguments : {Words{"attend", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy"},
                                 Words{"info"}, Words{"demo"}, Words{"info", "--plan", "1,1,1,1,1,1,1"}}) {
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
