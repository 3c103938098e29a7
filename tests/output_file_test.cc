// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace foveate::io {
namespace {

namespace fs = std::filesystem;

template <class Do>
std::string error_of(const Do& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string pattern = testing::TempDir() + "output_file_test_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    signal(SIGPIPE, SIG_IGN);
  }
  ~OutputFileTest() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// How many files there are, temporaries included.
  int64_t count() const { return std::distance(fs::directory_iterator(folder_), {}); }

  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  }

  static void write(OutputFile& file, const std::string& text) { file.write(text.data(), text.size()); }

  std::string folder_;
};

TEST_F(OutputFileTest, AppearsWhole) {
  OutputFile file(path("a"));
  EXPECT_FALSE(fs::exists(path("a")));
  EXPECT_EQ(count(), 1);  // the temporary is beside the target
  write(file, "hello ");
  write(file, "world");
  file.close();
  EXPECT_FALSE(fs::exists(path("a")));
  file.commit();
  EXPECT_EQ(contents(path("a")), "hello world");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, DropsWhatIsNotCommitted) {
  put("a", "old");
  {
    OutputFile file(path("a"));
    write(file, std::string(1 << 20, 'x'));
    EXPECT_EQ(count(), 2);
  }
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, EveryByteInOrder) {
  std::string expected;
  OutputFile file(path("a"));
  for (const size_t n : {0, 1, 1000, 262143, 1, 262144, 5, 262145, 1 << 20, 3, 262140, 3, 1, 7}) {
    std::string piece(n, '\0');
    for (size_t i = 0; i < n; ++i) piece[i] = static_cast<char>(expected.size() + i * 7);
    write(file, piece);
    expected += piece;
  }
  file.commit();
  EXPECT_TRUE(contents(path("a")) == expected);
}

TEST_F(OutputFileTest, EmptyFile) {
  OutputFile(path("a")).commit();
  EXPECT_TRUE(fs::exists(path("a")));
  EXPECT_EQ(contents(path("a")), "");
}

TEST_F(OutputFileTest, Moves) {
  std::vector<OutputFile> files;
  for (const char* name : {"a", "b", "c"}) files.emplace_back(path(name));
  for (OutputFile& file : files) write(file, "of " + fs::path(file.name()).filename().string());
  commit_together(files);
  files.clear();
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(contents(path(name)), std::string("of ") + name);
  EXPECT_EQ(count(), 3);
}

TEST_F(OutputFileTest, NewFilesFollowTheUmask) {
  for (const mode_t mask : {022, 027, 077, 0}) {
    const mode_t before = umask(mask);
    OutputFile(path("a")).commit();
    umask(before);
    EXPECT_EQ(mode_of(path("a")), 0666 & ~mask);
    fs::remove(path("a"));
  }
}

TEST_F(OutputFileTest, ReplacedFilesKeepTheirMode) {
  for (const mode_t mode : {0600, 0640, 0664, 0755}) {
    put("a", "old");
    ASSERT_EQ(chmod(path("a").c_str(), mode), 0);
    OutputFile file(path("a"));
    write(file, "new");
    file.commit();
    EXPECT_EQ(mode_of(path("a")), mode);
    EXPECT_EQ(contents(path("a")), "new");
  }
}

TEST_F(OutputFileTest, LinksStay) {
  fs::create_directory(path("elsewhere"));
  put("elsewhere/real", "old");
  fs::create_symlink("elsewhere/real", path("link"));
  fs::create_symlink("link", path("link to link"));
  OutputFile file(path("link to link"));
  write(file, "new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("link to link")));
  EXPECT_EQ(contents(path("elsewhere/real")), "new");
  EXPECT_EQ(file.name(), path("link to link"));
}

TEST_F(OutputFileTest, BrokenLinksLeadToNewFiles) {
  fs::create_directory(path("elsewhere"));
  fs::create_symlink("elsewhere/new", path("link"));
  OutputFile file(path("link"));
  write(file, "new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("elsewhere/new")), "new");

  fs::create_symlink("round", path("round"));
  EXPECT_EQ(error_of([&] { OutputFile{path("round")}; }), path("round") + ": Too many levels of symbolic links");
}

TEST_F(OutputFileTest, HardLinksAreLeftBehind) {  // a rename replaces the name, not the file
  put("a", "old");
  fs::create_hard_link(path("a"), path("b"));
  OutputFile file(path("a"));
  write(file, "new");
  file.commit();
  EXPECT_EQ(contents(path("a")), "new");
  EXPECT_EQ(contents(path("b")), "old");
}

TEST_F(OutputFileTest, RelativePath) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  OutputFile file("a");
  write(file, "here");
  file.commit();
  fs::current_path(before);
  EXPECT_EQ(contents(path("a")), "here");
}

TEST_F(OutputFileTest, LongName) {  // the temporary's name does not grow with the target's
  const std::string name(255, 'n');
  OutputFile(path(name)).commit();
  EXPECT_TRUE(fs::exists(path(name)));
  const std::string longer = path(std::string(256, 'n'));
  EXPECT_EQ(error_of([&] { OutputFile{longer}; }), longer + ": File name too long");
}

TEST_F(OutputFileTest, RefusedAtOnce) {
  EXPECT_EQ(error_of([&] { OutputFile{path("none/a")}; }),
            path("none/a") + ": no folder " + path("none") + "; create it first");
  EXPECT_EQ(error_of([&] { OutputFile{folder_}; }), folder_ + ": is a folder, not a file");
  EXPECT_EQ(error_of([&] { OutputFile{folder_ + "/"}; }), folder_ + "/: is a folder, not a file");
  EXPECT_EQ(error_of([&] { OutputFile{path("none/")}; }),
            path("none/") + ": no folder " + path("none") + "; create it first");
  EXPECT_EQ(error_of([] { OutputFile{""}; }), "'': expected a file name, got none");
  put("a", "");
  EXPECT_EQ(error_of([&] { OutputFile{path("a/b")}; }), path("a/b") + ": Not a directory");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, ReadOnly) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  put("a", "old");
  ASSERT_EQ(chmod(path("a").c_str(), 0444), 0);
  EXPECT_EQ(error_of([&] { OutputFile{path("a")}; }), path("a") + ": Permission denied");
  ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
  EXPECT_EQ(error_of([&] { OutputFile{path("b")}; }),
            path("b") + ": cannot write in " + folder_ + ": Permission denied");
}

TEST_F(OutputFileTest, DevicesAreWrittenTo) {
  OutputFile file("/dev/null");
  write(file, std::string(1 << 20, 'x'));
  file.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputFileTest, FullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  OutputFile little("/dev/full");
  write(little, "x");
  EXPECT_EQ(error_of([&] { little.commit(); }), "/dev/full: No space left on device");
  OutputFile much("/dev/full");
  EXPECT_EQ(error_of([&] { write(much, std::string(1 << 20, 'x')); }), "/dev/full: No space left on device");
  fs::create_symlink("/dev/full", path("link"));
  OutputFile link(path("link"));
  write(link, "x");
  EXPECT_EQ(error_of([&] { link.commit(); }), path("link") + ": No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, NoRoomForTheTemporary) {
  put("a", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  std::string problem;
  {
    OutputFile file(path("a"));
    write(file, std::string(5000, 'x'));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
    problem = error_of([&] { file.commit(); });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  }
  EXPECT_EQ(problem, path("a") + ": File too large");
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, FullDiskReplacesNothing) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  put("a", "old");
  std::vector<OutputFile> files;
  files.emplace_back(path("a"));
  files.emplace_back("/dev/full");
  for (OutputFile& file : files) write(file, "new");
  EXPECT_EQ(error_of([&] { commit_together(files); }), "/dev/full: No space left on device");
  files.clear();
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, PipesAreWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = contents(path("pipe")); });
  OutputFile file(path("pipe"));
  const std::string text(1 << 20, 'x');
  write(file, text);
  file.commit();
  reader.join();
  EXPECT_TRUE(got == text);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, UnusedPipesAreNotWaitedFor) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const OutputFile file(path("pipe"));  // no reader ever comes
  EXPECT_EQ(file.name(), path("pipe"));
}

TEST_F(OutputFileTest, PipeClosedByItsReader) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread reader([&] { close(open(path("pipe").c_str(), O_RDONLY)); });
  OutputFile file(path("pipe"));
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(error_of([&] {
              write(file, text);
              write(file, text);
            }),
            path("pipe") + ": Broken pipe");
  reader.join();
}

/// Puts a descriptor in the place of standard output as long as it lives.
class StandardOutput {
 public:
  explicit StandardOutput(int fd) : saved_(dup(STDOUT_FILENO)) {
    dup2(fd, STDOUT_FILENO);
    close(fd);
  }
  ~StandardOutput() {
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }

 private:
  int saved_;
};

TEST_F(OutputFileTest, StandardOutput) {
  std::string name;
  {
    const class StandardOutput redirected(open(path("a").c_str(), O_WRONLY | O_CREAT, 0600));
    OutputFile file("-");
    write(file, "hello");
    file.commit();
    OutputFile("/dev/stdout").commit();  // not replaced either
    name = file.name();
    ASSERT_EQ(::write(STDOUT_FILENO, "!", 1), 1);  // still open
  }
  EXPECT_EQ(name, "standard output");
  EXPECT_EQ(contents(path("a")), "hello!");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, StandardOutputFails) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::string broken;
  {
    const class StandardOutput redirected(ends[1]);
    OutputFile file("-");
    write(file, "hello");
    broken = error_of([&] { file.commit(); });
  }
  EXPECT_EQ(broken, "standard output: Broken pipe");
}

TEST_F(OutputFileTest, RenamesThatFail) {
  std::vector<OutputFile> files;
  for (const char* name : {"a", "b", "c"}) files.emplace_back(path(name));
  for (OutputFile& file : files) write(file, "new");
  fs::create_directory(path("b"));  // someone takes the name in the meantime
  EXPECT_EQ(error_of([&] { commit_together(files); }),
            path("b") + ": Is a directory (already written: " + path("a") + ")");
  files.clear();
  EXPECT_EQ(contents(path("a")), "new");
  EXPECT_FALSE(fs::exists(path("c")));
  EXPECT_EQ(count(), 2);

  OutputFile alone(path("d"));
  fs::create_directory(path("d"));
  EXPECT_EQ(error_of([&] { alone.commit(); }), path("d") + ": Is a directory");
}

/// In a process of its own, as it is meant to be: the way it exits.
int exit_status_of(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    act();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void remove_temporaries_and_exit(int) {
  remove_temporaries();
  _exit(130);
}

TEST_F(OutputFileTest, RemovesTemporaries) {
  EXPECT_EQ(exit_status_of([&] {
              OutputFile committed(path("a"));
              committed.commit();
              std::vector<OutputFile> files;
              for (const char* name : {"b", "c"}) files.emplace_back(path(name));
              remove_temporaries();
              _exit(count() == 1 ? 7 : 8);
            }),
            7);
  EXPECT_TRUE(fs::exists(path("a")));
}

// Whichever thread the signal comes to.
TEST_F(OutputFileTest, ASignalFindsAllInPlaceOrNone) {
  constexpr int kFiles = 60;
  for (int round = 0; round < 60; ++round) {
    const bool to_the_one_that_renames = round % 2 == 0;
    const int status = exit_status_of([&] {
      signal(SIGINT, remove_temporaries_and_exit);
      std::vector<OutputFile> files;
      for (int i = 0; i < kFiles; ++i) files.emplace_back(path(std::to_string(i)));
      const pthread_t renames = pthread_self();
      std::thread sends([&] {
        while (access(path("0").c_str(), F_OK) != 0) continue;  // the first is in place
        pthread_kill(to_the_one_that_renames ? renames : pthread_self(), SIGINT);
      });
      commit_together(files);
      sends.join();
    });
    EXPECT_EQ(status, 130);
    EXPECT_EQ(count(), kFiles);
    for (int i = 0; i < kFiles; ++i) EXPECT_TRUE(fs::remove(path(std::to_string(i)))) << i;
  }
}

TEST_F(OutputFileTest, IdentityIsTheSameForEveryName) {
  const auto identity = [&](const std::string& name) { return OutputFile(path(name)).identity(); };
  fs::create_directory(path("folder"));
  fs::create_symlink("second", path("first"));
  fs::create_symlink("folder/../new", path("second"));
  EXPECT_EQ(identity("first"), identity("new"));
  EXPECT_EQ(identity("folder/../new"), identity("new"));
  EXPECT_NE(identity("folder/new"), identity("new"));
  put("old", "");
  fs::create_hard_link(path("old"), path("other"));
  EXPECT_EQ(identity("old"), identity("other"));
  EXPECT_NE(identity("old"), identity("new"));
  EXPECT_EQ(OutputFile("/dev/null").identity(), "");
}

TEST_F(OutputFileTest, RemovesTemporariesInASignalHandler) {
  put("a", "old");
  EXPECT_EQ(exit_status_of([&] {
              signal(SIGINT, remove_temporaries_and_exit);
              OutputFile first(path("a"));
              OutputFile second(path("b"));
              first.write("x", 1);
              raise(SIGINT);
            }),
            130);
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFileTest, SlotsOfTemporariesAreUsedAgain) {
  for (int i = 0; i < 200; ++i) {
    OutputFile dropped(path("a"));
    OutputFile(path("b")).commit();
  }
  std::vector<OutputFile> files;
  const std::string problem = error_of([&] {
    for (int i = 0; i < 1000; ++i) files.emplace_back(path("c"));
  });
  EXPECT_EQ(problem, path("c") + ": Too many open files");
  EXPECT_GE(files.size(), 32u);
}

}  // namespace
}  // namespace foveate::io
