// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The layers, one direction only: reads the #include lines of the whole tree and fails where a layer looks up. With them
// the rules of the house that no compiler knows: the engine never prints nor ends the process, no file is longer than 500
// lines, and none is named "utils".
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace foveate {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string_view>;

/// A layer owns the files whose path starts with one of its prefixes (the first layer that matches does) and includes
/// files of its own and of the layers that it may see; "*" sees everything.
struct Layer {
  std::string_view name;
  Names prefixes;
  Names sees;
};

// Lowest first: each row sees only rows above it.
const std::vector<Layer> kLayers = {
    {"tensor", {"include/foveate/tensor.h", "include/foveate/float16.h", "include/foveate/export.h"}, {}},
    {"status", {"include/foveate/status.h"}, {"tensor"}},
    {"api", {"include/foveate/"}, {"tensor", "status"}},
    {"kernels", {"src/kernels/"}, {"tensor"}},
    {"target", {"src/target."}, {"tensor", "status", "api", "kernels"}},
    {"plan",
     {"src/plan.", "src/backward_plan.", "src/linear_plan.", "src/saturating.", "src/carve."},
     {"tensor", "kernels"}},
    {"validate",
     {"src/validate.", "src/validate_", "src/check.", "src/overlap.", "src/sequences.", "src/vector_at."},
     {"tensor", "status", "api", "kernels", "plan"}},
    {"run",
     {"src/run.", "src/backward_run.", "src/additive_run.", "src/additive_rows.", "src/linear_run.", "src/tile_tasks.",
      "src/stored_rows.", "src/tasks.", "src/rounds.", "src/fp_mode."},
     {"tensor", "status", "api", "kernels", "target", "plan", "validate"}},
    {"operators", {"src/"}, {"tensor", "status", "api", "kernels", "target", "plan", "validate", "run"}},
    {"c", {"c/"}, {"tensor", "status", "api"}},
    {"reference", {"reference/"}, {}},
    {"io", {"io/"}, {"tensor", "status", "api"}},
    {"text", {"claims/text.h", "text/"}, {}},
    {"claims", {"claims/"}, {"tensor", "status", "api", "text"}},
    {"insight", {"insight/"}, {"tensor", "status", "api", "text"}},
    {"diagnosis", {"diagnosis/"}, {"tensor", "status", "api", "text"}},
    {"limits", {"limits/"}, {"tensor", "status", "api", "kernels"}},
    {"cli", {"cli/"}, {"tensor", "status", "api", "text", "io", "limits", "claims", "insight", "diagnosis"}},
    {"python", {"python/"}, {"tensor", "status", "api", "text", "insight", "diagnosis"}},
    {"web", {"web/"}, {"tensor", "status", "api", "text", "claims"}},
    {"examples", {"examples/"}, {"tensor", "status", "api", "io"}},
    {"checks", {"tests/", "fuzz/", "benchmarks/"}, {"*"}},
};

// All that a kernel may take from the standard library: no threads, no allocation, no options, no errors; and the
// processor's own instructions.
const Names kKernelHeaders = {"algorithm",   "array",      "bit",        "cassert",     "cfloat",        "cmath",
                              "cstddef",     "cstdint",    "cstring",    "limits",      "type_traits",   "utility",
                              "immintrin.h", "arm_neon.h", "sys/auxv.h", "asm/hwcap.h", "sys/syscall.h", "unistd.h"};

// Folders that hold no source of ours.
const Names kSkipped = {".git", "build", "cases", "corpus", "dist", "node_modules"};

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Layer* layer_of(std::string_view path) {
  for (const Layer& layer : kLayers) {
    for (std::string_view prefix : layer.prefixes) {
      if (path.starts_with(prefix)) return &layer;
    }
  }
  return nullptr;
}

bool is_cpp(const fs::path& path) {
  return path.extension() == ".cc" || path.extension() == ".c" || path.extension() == ".h";
}

bool is_source(const fs::path& path) {
  static const Names kExtensions = {".cc", ".c", ".h", ".rs", ".cmake", ".py", ".ts", ".tsx", ".css", ".html"};
  return contains(kExtensions, path.extension().native()) || path.filename() == "CMakeLists.txt";
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The text without comments and without what string literals hold. Newlines stay, so that lines can be counted.
std::string code_of(const std::string& text) {
  enum class In { code, line_comment, block_comment, string, character } in = In::code;
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool after_digit = i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0;
    if (c == '\n') {
      code += c;
      if (in != In::block_comment) in = In::code;
    } else if (in == In::code && c == '/' && next == '/') {
      in = In::line_comment;
    } else if (in == In::code && c == '/' && next == '*') {
      in = In::block_comment;
      ++i;
    } else if (in == In::block_comment && c == '*' && next == '/') {
      in = In::code;
      ++i;
    } else if ((in == In::string || in == In::character) && c == '\\') {
      ++i;
    } else if ((in == In::string && c == '"') || (in == In::character && c == '\'')) {
      in = In::code;
    } else if (in == In::code && c == '"') {
      in = In::string;
    } else if (in == In::code && c == '\'' && !after_digit) {  // a ' after a digit groups digits: 1'000
      in = In::character;
    } else if (in == In::code) {
      code += c;
    }
  }
  return code;
}

/// Collects what breaks the rules, as "path:line: why".
class Inspection {
 public:
  explicit Inspection(fs::path root) : root_(std::move(root)) {}

  std::vector<std::string> run() {
    for (auto it = fs::recursive_directory_iterator(root_); it != fs::recursive_directory_iterator(); ++it) {
      if (it->is_directory() && contains(kSkipped, it->path().filename().native())) {
        it.disable_recursion_pending();
        continue;
      }
      path_ = it->path().lexically_relative(root_).generic_string();
      if (it->path().filename().native().find("utils") != std::string::npos) report(0, "'utils' names no concept");
      if (it->is_regular_file() && is_source(it->path())) check_file(it->path());
    }
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  void report(int line, const std::string& why) {
    found_.push_back(path_ + (line > 0 ? ":" + std::to_string(line) : "") + ": " + why);
  }

  void check_file(const fs::path& file) {
    const std::string text = read(file);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    if (lines > 500) report(0, std::to_string(lines) + " lines, more than 500");
    if (!is_cpp(file)) return;

    const Layer* layer = layer_of(path_);
    if (layer == nullptr) return report(0, "belongs to no layer of tests/layers_test.cc");
    check_includes(text, *layer);
    if (path_.starts_with("src/") || path_.starts_with("c/") || path_.starts_with("include/"))
      check_manners(code_of(text));
  }

  void check_includes(const std::string& text, const Layer& layer) {
    static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
    std::istringstream stream(text);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      std::smatch match;
      if (std::regex_match(line, match, kInclude)) check_include(number, match[1], layer);
    }
  }

  void check_include(int line, const std::string& header, const Layer& layer) {
    const std::string target = resolve(header);
    if (target.empty()) {
      if (layer.name == "kernels" && !header.starts_with("hwy/") && !contains(kKernelHeaders, header)) {
        report(line, "a kernel may not include <" + header + ">");
      }
      if ((path_.starts_with("src/") || path_.starts_with("c/")) && header == "iostream")
        report(line, "the engine never prints: <iostream>");
      return;
    }
    const Layer* below = layer_of(target);
    const bool allowed = below != nullptr &&
                         (below->name == layer.name || contains(layer.sees, below->name) || contains(layer.sees, "*"));
    if (!allowed) report(line, std::string(layer.name) + " may not include " + target);
  }

  /// The path in the tree of an included header, empty when it is not one of ours.
  std::string resolve(const std::string& header) const {
    for (const fs::path& base : {fs::path(path_).parent_path(), fs::path("include"), fs::path("src"), fs::path()}) {
      const fs::path candidate = (base / header).lexically_normal();
      if (fs::is_regular_file(root_ / candidate)) return candidate.generic_string();
    }
    return {};
  }

  void check_manners(const std::string& code) {
    static const std::regex kPrints(R"(\bstd::(cout|cerr|clog)\b|\b(printf|fprintf|vfprintf|puts|fputs|putchar)\s*\()");
    static const std::regex kEnds(R"(\b(abort|exit|_exit|quick_exit|terminate)\s*\()");
    std::istringstream stream(code);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      if (std::regex_search(line, kPrints)) report(number, "the engine never prints: " + line);
      if (std::regex_search(line, kEnds)) report(number, "the engine never ends the process: " + line);
    }
  }

  fs::path root_;
  std::string path_;
  std::vector<std::string> found_;
};

TEST(Layers, NoLayerLooksUp) {
  const fs::path root = FOVEATE_SOURCE_DIR;
  ASSERT_TRUE(fs::is_regular_file(root / "include/foveate/attention.h")) << "not the source tree: " << root;
  for (const std::string& violation : Inspection(root).run()) ADD_FAILURE() << violation;
}

TEST(Layers, EachSeesOnlyTheOnesAboveIt) {
  Names above;
  for (const Layer& layer : kLayers) {
    for (std::string_view seen : layer.sees)
      EXPECT_TRUE(seen == "*" || contains(above, seen)) << layer.name << ' ' << seen;
    above.push_back(layer.name);
  }
}

/// A small tree that can be given flaws.
class LayersPlanted : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "foveate-layers-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    plant("include/foveate/tensor.h", "#include <cstdint>\n");
    plant("include/foveate/status.h", "#include <cstdint>\n");
    plant("include/foveate/attention.h", "#include \"foveate/status.h\"\n#include \"foveate/tensor.h\"\n");
    plant("src/kernels/tile.h", "#include <cstddef>\n#include \"foveate/tensor.h\"\n");
    plant("src/plan.h", "#include <cstdint>\n#include \"kernels/tile.h\"\n");
    plant("src/attention.cc", "#include \"foveate/attention.h\"\n#include \"plan.h\"\n// abort() is not for us\n");
    plant("reference/attention.h", "#include <cmath>\n");
    plant("cli/main.cc", "#include <foveate/attention.h>\n#include <iostream>\n");
  }

  void TearDown() override { fs::remove_all(root_); }

  void plant(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::vector<std::string> found() { return Inspection(root_).run(); }

  static std::vector<std::string> only(std::string violation) { return {std::move(violation)}; }

 private:
  fs::path root_;
};

TEST_F(LayersPlanted, ACleanTreePasses) { EXPECT_EQ(found(), std::vector<std::string>()); }

TEST_F(LayersPlanted, AKernelThatKnowsThePlanIsFound) {
  plant("src/kernels/exp.h", "#include \"plan.h\"\n");
  EXPECT_EQ(found(), only("src/kernels/exp.h:1: kernels may not include src/plan.h"));
}

TEST_F(LayersPlanted, AKernelThatKnowsErrorsIsFound) {
  plant("src/kernels/exp.h", "\n# include <foveate/status.h>\n");
  EXPECT_EQ(found(), only("src/kernels/exp.h:2: kernels may not include include/foveate/status.h"));
}

TEST_F(LayersPlanted, AKernelThatAllocatesIsFound) {
  plant("src/kernels/exp.cc", "#include <vector>\n");
  EXPECT_EQ(found(), only("src/kernels/exp.cc:1: a kernel may not include <vector>"));
}

TEST_F(LayersPlanted, AnOracleThatBorrowsFromTheEngineIsFound) {
  plant("reference/dot.h", "#include \"../src/plan.h\"\n");
  EXPECT_EQ(found(), only("reference/dot.h:1: reference may not include src/plan.h"));
}

TEST_F(LayersPlanted, AFaceThatReachesIntoTheEngineIsFound) {
  plant("cli/info.cc", "#include \"src/plan.h\"\n");
  EXPECT_EQ(found(), only("cli/info.cc:1: cli may not include src/plan.h"));
}

TEST_F(LayersPlanted, ACInterfaceThatReachesIntoTheEngineIsFound) {
  plant("c/attention.cc", "#include \"plan.h\"\n");
  EXPECT_EQ(found(), only("c/attention.cc:1: c may not include src/plan.h"));
}

TEST_F(LayersPlanted, AnEngineThatPrintsOrEndsTheProcessIsFound) {
  plant("src/run.cc", "const char* s = \"printf(\";\nvoid f() { std::abort(); }\nvoid g() { std::printf(s); }\n");
  EXPECT_EQ(found(),
            (std::vector<std::string>{"src/run.cc:2: the engine never ends the process: void f() { std::abort(); }",
                                      "src/run.cc:3: the engine never prints: void g() { std::printf(s); }"}));
}

TEST_F(LayersPlanted, AFileOfNoLayerIsFound) {
  plant("extra/thing.cc", "");
  EXPECT_EQ(found(), only("extra/thing.cc: belongs to no layer of tests/layers_test.cc"));
}

TEST_F(LayersPlanted, AFilePast500LinesIsFound) {
  plant("io/long.cc", std::string(501, '\n'));
  EXPECT_EQ(found(), only("io/long.cc: 501 lines, more than 500"));
}

TEST_F(LayersPlanted, UtilsAreFound) {
  plant("io/string_utils/trim.h", "");
  EXPECT_EQ(found(), only("io/string_utils: 'utils' names no concept"));
}

}  // namespace
}  // namespace foveate
