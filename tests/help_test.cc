// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The manual of the command line in its forms: --help, man pages, and completions as the shells themselves answer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/completions.h"
#include "cli/help.h"
#include "cli/man_page.h"
#include "cli/program.h"
#include "text/width.h"

namespace foveate::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;

class Help : public ::testing::Test {
 protected:
  Help() {
    std::string name = (fs::temp_directory_path() / "foveate-help-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    all_ = commands_of(*program_);
    all_.insert(all_.begin(), program_.get());
  }
  ~Help() override { fs::remove_all(folder_); }

  std::string save(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  /// What a shell command prints on both streams, run in the folder.
  std::string output_of(const std::string& command) const {
    std::FILE* pipe = popen(("cd '" + folder_.string() + "' && " + command + " 2>&1").c_str(), "r");
    std::string text;
    char bytes[4096];
    while (const size_t n = std::fread(bytes, 1, sizeof(bytes), pipe)) text.append(bytes, n);
    pclose(pipe);
    return text;
  }
  bool has(const std::string& tool) const { return !output_of("command -v " + tool).empty(); }

  int exit_status_ = 0;
  std::unique_ptr<Command> program_ = make_program(exit_status_);
  std::vector<const Command*> all_;
  fs::path folder_;
};

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

TEST_F(Help, FitsIntoEightyColumns) {
  ASSERT_EQ(all_.size(), 11u);
  for (const Command* command : all_) {
    for (const std::string& line : lines_of(help_text(*command))) EXPECT_LE(text::display_width(line), 80) << line;
  }
}

TEST_F(Help, TellsOfEverything) {
  for (const Command* command : all_) {
    const std::string help = help_text(*command), page = man_page(*command, "2026-11-30");
    EXPECT_TRUE(help.starts_with("Usage: " + full_name(*command) + " ")) << help;
    for (const char* part : {"\nExamples:\n", "\nExit status:\n", "\n  0 "})
      EXPECT_NE(help.find(part), help.npos) << part;
    size_t options = 0;
    for (const OptionGroup& group : groups_of(*command)) {
      for (const CLI::Option* option : group.options) {
        EXPECT_NE(help.find("\n  " + names_of(*option)), help.npos) << names_of(*option);
        EXPECT_FALSE(option->get_description().empty()) << names_of(*option);
        // A man page has a hyphen that can be copied.
        const std::string name = option->get_lnames()[0];
        EXPECT_NE(page.find("\\-\\-" + name.substr(0, name.find('-'))), page.npos) << name;
        ++options;
      }
    }
    EXPECT_EQ(options, command->get_options().size());
    for (const std::string& name : command->manual().see_also) EXPECT_NO_THROW(program_->get_subcommand(name)) << name;
  }
}

/// Each example is a call that the program takes: its words are options and commands that there are.
TEST_F(Help, ExamplesUseWhatThereIs) {
  for (const Command* command : all_) {
    for (const Example& example : command->manual().examples) {
      std::istringstream words(example.call);
      std::string word;
      words >> word;
      const CLI::App* called = nullptr;
      ASSERT_NO_THROW(called = program_->get_subcommand(word)) << example.call;
      while (words >> word) {
        if (!word.starts_with("--")) continue;
        EXPECT_NE(called->get_option_no_throw(word), nullptr) << example.call;
      }
    }
  }
}

TEST_F(Help, BreaksLongCallsSoThatTheyCanBeCopied) {
  EXPECT_EQ(call_lines("demo --dk 256", 40), std::vector<std::string>{"foveate demo --dk 256"});
  EXPECT_EQ(call_lines("demo --dk 256 --svg heads.svg", 30),
            (std::vector<std::string>{"foveate demo --dk 256 \\", "    --svg heads.svg"}));
}

TEST_F(Help, ManPagesPassTheirCheckers) {
  std::vector<std::string> checkers;
  if (has("mandoc")) checkers.emplace_back("mandoc -T lint -W all ");
  if (has("groff")) checkers.emplace_back("groff -ww -man -T utf8 -z ");
  if (checkers.empty()) GTEST_SKIP() << "skipped: man pages are not checked (mandoc and groff missing)";
  for (const Command* command : all_) {
    const std::string page = save(man_page_name(*command) + ".1", man_page(*command, "2026-11-30"));
    for (const std::string& checker : checkers) EXPECT_EQ(output_of(checker + page), "");
  }
}

/// What each shell must offer, asked in its own way.
struct Asked {
  const char* line;
  Words offered;
};
const std::vector<Asked> kAsked = {{"foveate verify", {"verify", "verify-bits"}},
                                   {"foveate ins", {"inspect"}},
                                   {"foveate attend --ali", {"--alibi", "--align"}},
                                   {"foveate attend --score ", {"additive", "dot", "linear"}},
                                   {"foveate attend --align t", {"top-left"}},
                                   {"foveate attend --causal --q qu", {"queries.npy"}},
                                   {"foveate verify-bits --target ", {"all"}},
                                   {"foveate bench --dtype b", {"bf16"}},
                                   {"foveate verify --figures ", {"folder/"}},
                                   {"foveate verify --claim large-", {"large-d_k-needs-scaling"}},
                                   {"foveate demo --lang ", {"en", "zh"}}};

class Completions : public Help {
 protected:
  Completions() {
    save("queries.npy", "");
    save("other.txt", "");
    fs::create_directory(folder_ / "folder");
    fs::create_directory(folder_ / "home");
  }
};

TEST_F(Completions, Bash) {
  if (!has("bash")) GTEST_SKIP() << "skipped: completions of bash (bash missing)";
  save("foveate", bash_completion(*program_));
  save("ask", R"(source ./foveate
line=$1
read -r -a COMP_WORDS <<< "$line"
[[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_foveate
for word in "${COMPREPLY[@]}"; do
  if [[ -d $word ]]; then echo "$word/"; else echo "$word"; fi  # readline adds the slash
done
)");
  for (const auto& [line, offered] : kAsked) {
    Words expected = offered;
    if (std::string(line).find("--figures") != std::string::npos) expected.insert("home/");
    EXPECT_EQ(lines_of(output_of("bash ./ask '" + std::string(line) + "'")), expected) << line;
  }
}

TEST_F(Completions, Fish) {
  if (!has("fish")) GTEST_SKIP() << "skipped: completions of fish (fish missing)";
  save("foveate.fish", fish_completion(*program_));
  for (const auto& [line, offered] : kAsked) {
    Words expected = offered;
    if (std::string(line).find("--figures") != std::string::npos) expected.insert("home/");
    const std::string asked =
        "HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home XDG_DATA_HOME=$PWD/home fish --no-config -c "
        "'source foveate.fish; complete -C \"" +
        std::string(line) + "\"'";
    Words words;
    for (const std::string& answer : lines_of(output_of(asked))) words.insert(answer.substr(0, answer.find('\t')));
    EXPECT_EQ(words, expected) << line;
  }
}

/// zsh completes only on a terminal: one is made for it, and what it lists is read.
TEST_F(Completions, Zsh) {
  if (!has("zsh")) GTEST_SKIP() << "skipped: completions of zsh (zsh missing)";
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "skipped: completions of zsh (no pseudo-terminals here)";
  close(terminal);
  save("_foveate", zsh_completion(*program_));
  save("ask", R"(zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PROMPT= RPROMPT= fpath=($PWD $fpath); autoload -U compinit; compinit -u -d $PWD/home/dump'
zpty -w shell 'compadd() {
  builtin compadd -O found "$@"
  (( ${#found} )) && printf "<%s>\n" ${found}
  builtin compadd "$@"
}; stty -echo; zstyle ":completion:*" list-prompt ""; LISTMAX=10000; print re""ady'
zpty -r shell answer '*ready*'
zpty -n -w shell "$1"$'\t'
sleep 1
zpty -n -w shell $'\C-u\nprint do\"\"ne\n'
zpty -r shell answer '*done*'
zpty -d shell
print -r -- $answer | tr -d '\r' | sed -n 's/^.*<\([^<>]*\)>$/\1/p'
)");
  for (const auto& [line, offered] : kAsked) {
    const Words words = lines_of(output_of("HOME=$PWD/home zsh -f ./ask '" + std::string(line) + "'"));
    Words expected;
    for (const std::string& word : offered)
      expected.insert(word.ends_with('/') ? word.substr(0, word.size() - 1) : word);
    if (std::string(line).find("--figures") != std::string::npos) expected.insert("home");
    EXPECT_EQ(words, expected) << line;
  }
}

}  // namespace
}  // namespace foveate::cli
