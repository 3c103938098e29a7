// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate serve`: what a browser gets, what others are refused, and how it ends. Most tests serve a page of their own;
// the last ask for the one that the binary holds, if it does.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <optional>

#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/serve.h"
#include "tests/cli_fixture.h"

namespace foveate {
namespace {

using cli::Language;
using cli::PageFile;
using Clock = std::chrono::steady_clock;

const std::string kBinary("\0asm\1\0\r\n\xff", 9);
const std::string kLarge(1 << 20, 'x');  // more than a socket takes at once
const std::array<PageFile, 6> kPage = {PageFile{"/index.html", "<!doctype html>看见"},
                                       {"/assets/page.js", "let x = 1;"},
                                       {"/assets/page.css", "p {}"},
                                       {"/assets/engine.wasm", kBinary},
                                       {"/figure.svg", "<svg/>"},
                                       {"/large.bin", kLarge}};

/// A TCP connection to a port of this machine.
class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = own_address(port);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << port;
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static sockaddr_in own_address(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  /// False where the other side has hung up.
  bool send(const std::string& bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  std::string receive_all() const {
    std::string all;
    char buffer[65536];
    for (ssize_t n; (n = recv(fd_, buffer, sizeof buffer, 0)) > 0;) all.append(buffer, static_cast<size_t>(n));
    return all;
  }

 private:
  int fd_;
};

struct Answer {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string body;

  explicit Answer(const std::string& text) {
    const size_t end = text.find("\r\n\r\n");
    if (end == text.npos) return;
    body = text.substr(end + 4);
    std::istringstream lines(text.substr(0, end));
    std::string line, version;
    lines >> version >> status;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      if (line.ends_with('\r')) line.pop_back();
      const size_t colon = line.find(": ");
      headers[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
};

/// A server in a process of its own, which is killed with this if it has not ended.
class Server {
 public:
  /// `serve` is called in the new process, with standard output on a pipe.
  explicit Server(const std::function<void()>& serve) {
    std::array<int, 2> pipe_ends = {};
    EXPECT_EQ(pipe(pipe_ends.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(pipe_ends[1], STDOUT_FILENO);
      close(STDIN_FILENO);
      for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
      serve();
      _exit(126);
    }
    close(pipe_ends[1]);
    out_ = fdopen(pipe_ends[0], "r");
    first_line_ = line();
    second_line_ = line();
    const std::string address = "http://127.0.0.1:";
    if (const size_t at = first_line_.find(address); at != first_line_.npos) {
      port_ = std::stoi(first_line_.substr(at + address.size()));
    }
  }
  ~Server() {
    if (pid_ > 0) end(SIGKILL);
    std::fclose(out_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& first_line() const { return first_line_; }
  const std::string& second_line() const { return second_line_; }
  int port() const { return port_; }

  Answer ask(const std::string& request) const {
    const Connection connection(port_);
    connection.send(request);
    return Answer(connection.receive_all());
  }

  Answer get(const std::string& path) const { return ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"); }

  /// Sends a signal and gives the exit status, or minus the signal that killed it.
  int end(int signal) {
    kill(pid_, signal);
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  std::string line() const {
    std::string text;
    for (int c; (c = std::fgetc(out_)) != EOF && c != '\n';) text += static_cast<char>(c);
    return text;
  }

  pid_t pid_ = -1;
  std::FILE* out_ = nullptr;
  std::string first_line_, second_line_;
  int port_ = 0;
};

/// Serves the page above; what is thrown becomes the first line.
Server serve_own(std::optional<int> port = {}, Language language = Language::en) {
  return Server([=] {
    cli::handle_signals();
    try {
      cli::serve(kPage, port, language);
    } catch (const std::exception& error) {
      dprintf(STDOUT_FILENO, "%s\n", error.what());
    }
  });
}

/// A port that is in use for as long as this lives: the one asked for (by another, if not by us), or any.
class TakenPort {
 public:
  explicit TakenPort(int port = 0) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = Connection::own_address(port);
    socklen_t size = sizeof address;
    const int yes = 1;
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0) listen(fd_, 1);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~TakenPort() { close(fd_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  int port() const { return port_; }

 private:
  int fd_, port_ = 0;
};

void expect_safe_headers(Answer answer) {
  EXPECT_EQ(answer.headers["X-Content-Type-Options"], "nosniff");
  EXPECT_EQ(answer.headers["Cross-Origin-Opener-Policy"], "same-origin");
  EXPECT_EQ(answer.headers["Cross-Origin-Embedder-Policy"], "require-corp");
  EXPECT_EQ(answer.headers["Cross-Origin-Resource-Policy"], "same-origin");
  EXPECT_EQ(answer.headers["Cache-Control"], "no-cache");
  EXPECT_EQ(answer.headers["Connection"], "close");
  const std::string policy = answer.headers["Content-Security-Policy"];
  for (const char* part : {"default-src 'self';", "script-src 'self' 'wasm-unsafe-eval';", "frame-ancestors 'self' "}) {
    EXPECT_NE(policy.find(part), policy.npos) << policy;
  }
}

TEST(CliServe, EveryFileIsThereWithItsType) {
  const Server server = serve_own();
  const std::map<std::string, std::string> types = {{"/index.html", "text/html; charset=utf-8"},
                                                    {"/assets/page.js", "text/javascript; charset=utf-8"},
                                                    {"/assets/page.css", "text/css; charset=utf-8"},
                                                    {"/assets/engine.wasm", "application/wasm"},
                                                    {"/figure.svg", "image/svg+xml"},
                                                    {"/large.bin", "application/octet-stream"}};
  for (const PageFile& file : kPage) {
    Answer answer = server.get(std::string(file.path));
    EXPECT_EQ(answer.status, 200) << file.path;
    EXPECT_TRUE(answer.body == file.content) << file.path << ": " << answer.body.size() << " bytes";
    EXPECT_EQ(answer.headers["Content-Type"], types.at(std::string(file.path)));
    EXPECT_EQ(answer.headers["Content-Length"], std::to_string(file.content.size()));
    expect_safe_headers(answer);
  }
  EXPECT_EQ(server.get("/").body, kPage[0].content);
  EXPECT_EQ(server.get("/?state=1").body, kPage[0].content);
}

TEST(CliServe, HeadIsGetWithoutTheBody) {
  const Server server = serve_own();
  Answer head = server.ask("HEAD /assets/page.js HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers["Content-Length"], "10");
  EXPECT_EQ(head.headers["Content-Type"], "text/javascript; charset=utf-8");
  EXPECT_EQ(head.body, "");
  expect_safe_headers(head);
}

TEST(CliServe, WholeFilesAsTheyAre) {
  const Server server = serve_own();
  for (const char* header : {"Range: bytes=2-3", "Range: bytes=0-,0-,0-", "Accept-Encoding: gzip, br"}) {
    Answer answer =
        server.ask(std::string("GET /assets/page.js HTTP/1.1\r\nHost: localhost\r\n") + header + "\r\n\r\n");
    EXPECT_EQ(answer.status, 200) << header;
    EXPECT_EQ(answer.body, "let x = 1;") << header;
    EXPECT_EQ(answer.headers.count("Content-Range") + answer.headers.count("Content-Encoding"), 0u) << header;
  }
}

TEST(CliServe, NothingElseIsThere) {
  const Server server = serve_own();
  for (const char* path : {"/nope", "/assets", "/assets/", "/assets/../index.html", "/../../etc/passwd", "/%2e%2e/x",
                           "//index.html", "/index.html/", "/Index.html", "/index.html%00", "http://elsewhere/"}) {
    Answer answer = server.get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_EQ(answer.body, "no such file\n") << path;
    EXPECT_EQ(answer.headers["Content-Type"], "text/plain; charset=utf-8") << path;
    expect_safe_headers(answer);
  }
}

TEST(CliServe, OtherMethodsAreRefused) {
  const Server server = serve_own();
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"}) {
    Answer answer = server.ask(method + " / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nx=1");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.headers["Allow"], "GET, HEAD") << method;
    EXPECT_EQ(answer.headers["Content-Type"], "text/plain; charset=utf-8") << method;
    expect_safe_headers(answer);
  }
}

TEST(CliServe, OnlyThoseWhoAddressThisMachineAreAnswered) {
  const Server server = serve_own();
  const auto status = [&](const std::string& headers) {
    return server.ask("GET / HTTP/1.1\r\n" + headers + "\r\n").status;
  };
  for (const char* host : {"localhost", "localhost:7373", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:9999"}) {
    EXPECT_EQ(status(std::string("Host: ") + host + "\r\n"), 200) << host;
  }
  for (const char* host : {"elsewhere.example", "elsewhere.example:7373", "localhost.elsewhere.example",
                           "127.0.0.1.elsewhere.example", "localhost:x", "127.0.0.2", "[::1]x", ""}) {
    EXPECT_EQ(status(std::string("Host: ") + host + "\r\n"), 403) << host;
  }
  EXPECT_EQ(status(""), 403);
  EXPECT_EQ(status("Host: localhost\r\nHost: elsewhere.example\r\n"), 403);
}

TEST(CliServe, NonsenseIsRefusedAndHarmsNobody) {
  const Server server = serve_own();
  for (const std::string& nonsense :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("GRAB / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\n"),
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    const Answer answer = server.ask(nonsense);
    EXPECT_TRUE(answer.status == 400 || answer.status == 414) << answer.status << " " << nonsense.substr(0, 20);
    expect_safe_headers(answer);
  }
  unsigned seed = 1;
  for (int i = 0; i < 200; ++i) {
    std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-\r\nContent-Length: 3\r\n\r\n";
    for (int change = 0; change < 6; ++change) {
      seed = seed * 1664525u + 1013904223u;
      request[(seed >> 8) % (request.size() - 4)] = static_cast<char>(seed >> 24);
    }
    Connection(server.port()).send(request);
  }
  EXPECT_EQ(server.get("/").status, 200);
}

TEST(CliServe, ARequestWithoutEndIsCutOff) {
  const Server server = serve_own();
  const Connection endless(server.port());
  endless.send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  const std::string lines = [] {
    std::string all;
    for (int i = 0; i < 1000; ++i) all += "X: y\r\n";
    return all;
  }();
  size_t sent = 0;
  while (sent < 1'000'000'000 && endless.send(lines)) sent += lines.size();
  EXPECT_LT(sent, 1'000'000'000u);
  EXPECT_EQ(server.get("/").status, 200);
}

TEST(CliServe, ManyAtOnceBesideSlowOnes) {
  const Server server = serve_own();
  std::vector<std::unique_ptr<Connection>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Connection>(server.port()));
    // Half of them never end their request, half never take their answer.
    slow.back()->send(i % 2 == 0 ? "GET /" : "GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  std::array<bool, 40> right = {};
  {
    std::vector<std::jthread> callers;
    for (bool& good : right) {
      callers.emplace_back([&] {
        good = true;
        for (int i = 0; i < 5; ++i) good = good && server.get("/large.bin").body == kLarge;
      });
    }
  }
  for (const bool good : right) EXPECT_TRUE(good);
  // Those who are too slow are let go.
  const Clock::time_point start = Clock::now();
  slow[0]->receive_all();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(30));
}

TEST(CliServe, AnySignalEndsItAtOnceAndWell) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Server server = serve_own();
    const Connection idle(server.port()), slow(server.port());
    slow.send("GET /");
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(server.end(signal), 0);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
  }
}

TEST(CliServe, SaysWhereItIsInEitherLanguage) {
  const Server english = serve_own(), chinese = serve_own({}, Language::zh);
  EXPECT_EQ(english.first_line(), "The page is at http://127.0.0.1:" + std::to_string(english.port()) + "/");
  EXPECT_EQ(english.second_line(), "Ctrl-C ends it.");
  EXPECT_EQ(chinese.first_line(), "页面在 http://127.0.0.1:" + std::to_string(chinese.port()) + "/");
  EXPECT_EQ(chinese.second_line(), "按 Ctrl-C 结束。");
}

TEST(CliServe, WithoutAPortTheNextFreeOneIsTaken) {
  const TakenPort first(7373);
  const Server one = serve_own(), two = serve_own();
  EXPECT_GT(one.port(), 7373);
  EXPECT_GT(two.port(), one.port());
  EXPECT_LT(two.port(), 7393);
}

TEST(CliServe, ANamedPortIsTheOneOrAnError) {
  const int port = TakenPort().port();  // free again
  {
    const Server server = serve_own(port);
    EXPECT_EQ(server.port(), port) << server.first_line();
    EXPECT_EQ(serve_own(port).first_line(),
              "--port: " + std::to_string(port) +
                  ": taken by another program; name another, or leave --port out for one that is free");
  }
  // At once again, whatever connections of before the system still remembers.
  EXPECT_EQ(serve_own(port).port(), port);
}

using CliServeBinary = CliTest;

TEST_F(CliServeBinary, BadArgumentsAreOneLine) {
  const std::string help = " (see foveate serve --help)\n";
  const std::pair<Words, std::string> mistakes[] = {
      {{"--port", "x"}, "--port: 'x' is not a whole number of at least 1\n"},
      {{"--port", ""}, "--port: '' is not a whole number of at least 1\n"},
      {{"--port", "0"}, "--port: '0' is not a whole number of at least 1\n"},
      {{"--port", "-1"}, "--port: '-1' is not a whole number of at least 1\n"},
      {{"--port", "80a"}, "--port: '80a' is not a whole number of at least 1\n"},
      {{"--port", "65536"}, "--port: 65536 is past 65535, the last port there is\n"},
      {{"--port"}, "--port: no value given" + help},
      {{"--lang", "fr"}, "--lang: 'fr' is none of en, zh\n"},
      {{"--prot", "80"}, "unexpected '--prot'; did you mean --port?" + help},
  };
  for (const auto& [arguments, message] : mistakes) {
    Words all = {"serve"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_EQ(outcome.err, "foveate serve: " + message);
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(CliServeBinary, ServesThePageThatItHoldsOrSaysThatItHoldsNone) {
  if (cli::embedded_page().empty()) {
    const Outcome outcome = run({"serve"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "foveate serve: this build holds no page; make it with `make page-build`, then build again\n");
    return;
  }
  Server server([] { execl(FOVEATE_BINARY, FOVEATE_BINARY, "serve", nullptr); });
  ASSERT_GT(server.port(), 0) << server.first_line();
  for (const PageFile& file : cli::embedded_page()) {
    const Answer answer = server.get(std::string(file.path));
    EXPECT_EQ(answer.status, 200) << file.path;
    EXPECT_TRUE(answer.body == file.content) << file.path;
    std::ifstream source(fs::path(FOVEATE_SOURCE_DIR "/web/dist" + std::string(file.path)), std::ios::binary);
    std::ostringstream bytes;
    bytes << source.rdbuf();
    EXPECT_TRUE(answer.body == bytes.str()) << file.path << " is another in web/dist";
  }
  EXPECT_EQ(server.get("/").status, 200);
  const TakenPort taken;
  const Outcome refused = run({"serve", "--port", std::to_string(taken.port())});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  EXPECT_EQ(server.end(SIGINT), 0);
}

}  // namespace
}  // namespace foveate
