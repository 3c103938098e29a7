// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The consoles of docs/debugging-a-head.md, run as they stand: each "$ " line in a folder of the page's own, its output held
// against what the page shows. "..." stands for any lines; numbers may differ in their last digits, as they do between
// instruction sets.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace foveate {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Console {
  std::string command;
  Lines shown;
};

std::vector<Console> consoles_of(const fs::path& page) {
  std::vector<Console> all;
  std::ifstream file(page);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      all.push_back({line.substr(2), {}});
    } else if (inside && !all.empty()) {
      all.back().shown.push_back(line);
    }
  }
  return all;
}

/// What a shell prints, standard error included.
Lines output_of(const std::string& command, const fs::path& folder) {
  const std::string binaries = fs::path(FOVEATE_BINARY).parent_path();
  const std::string all = "cd '" + folder.string() + "' && PATH='" + binaries +
                          "':\"$PATH\" LC_ALL=C && export PATH LC_ALL && { " + command + "; } 2>&1";
  std::FILE* const pipe = popen(all.c_str(), "r");
  std::string text;
  char bytes[4096];
  for (size_t n = 0; (n = std::fread(bytes, 1, sizeof(bytes), pipe)) > 0;) text.append(bytes, n);
  const int status = pclose(pipe);
  // 1: diagnose found a mistake.
  EXPECT_LE(WEXITSTATUS(status), 1) << command << "\n" << text;
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Words, and numbers apart from what stands around them.
Lines tokens_of(const std::string& line) {
  Lines tokens;
  const auto is_number = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  bool number = false;
  for (const char c : line) {
    if (c == ' ') {
      number = false;
      tokens.emplace_back();
      continue;
    }
    const bool goes_on = number && (c == 'e' || c == '-' || c == '+');
    const bool now = is_number(c) || goes_on;
    if (tokens.empty() || now != number) tokens.emplace_back();
    tokens.back() += c;
    number = now;
  }
  std::erase(tokens, "");
  return tokens;
}

bool alike(const std::string& shown, const std::string& printed) {
  const Lines a = tokens_of(shown), b = tokens_of(printed);
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    char *end_a = nullptr, *end_b = nullptr;
    const double x = std::strtod(a[i].c_str(), &end_a), y = std::strtod(b[i].c_str(), &end_b);
    const bool numbers = end_a != a[i].c_str() && end_b != b[i].c_str();
    // Residuals are roundings, which no two instruction sets share.
    const bool residuals = std::abs(x) < 1e-4 && std::abs(y) < 1e-4;
    if (numbers ? !residuals && std::abs(x - y) > 0.02 * std::abs(x) : a[i] != b[i]) return false;
  }
  return true;
}

/// The first line shown that is not printed where it should be; "" where all are.
std::string differs(const Lines& shown, const Lines& printed) {
  size_t at = 0;
  bool any = false;
  for (const std::string& line : shown) {
    if (line == "...") {
      any = true;
      continue;
    }
    while (any && at < printed.size() && !alike(line, printed[at])) ++at;
    if (at == printed.size() || !alike(line, printed[at])) return line;
    ++at;
    any = false;
  }
  return any || at == printed.size() ? "" : "(nothing more) but " + printed[at];
}

TEST(Docs, ConsolesShowWhatIsPrinted) {
  std::string name = (fs::temp_directory_path() / "foveate-docs-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const std::vector<Console> all = consoles_of(fs::path(FOVEATE_SOURCE_DIR) / "docs/debugging-a-head.md");
  EXPECT_GT(all.size(), 5U);
  for (const Console& console : all) {
    const Lines printed = output_of(console.command, folder);
    std::string whole;
    for (const std::string& line : printed) whole += line + "\n";
    EXPECT_EQ(differs(console.shown, printed), "") << "$ " << console.command << "\n" << whole;
  }
  fs::remove_all(folder);
}

TEST(Docs, TheComparisonCanFail) {
  EXPECT_TRUE(alike("head 3 puts 73 % (0.311),", "head 3 puts 73.2 % (0.312),"));
  EXPECT_FALSE(alike("head 3 puts 73 %", "head 3 puts 79 %"));
  EXPECT_FALSE(alike("head 3 puts 73 %", "head 4 puts 73 %"));
  EXPECT_FALSE(alike("head 3 puts", "head 3 put"));
  EXPECT_EQ(differs({"a", "...", "c"}, {"a", "b", "b", "c"}), "");
  EXPECT_EQ(differs({"a", "...", "d"}, {"a", "b", "b", "c"}), "d");
  EXPECT_EQ(differs({"a"}, {"a", "b"}), "(nothing more) but b");
}

}  // namespace
}  // namespace foveate
