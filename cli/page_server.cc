// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/page_server.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace foveate::cli {
namespace {

constexpr size_t kThreads = 64;               // each may wait for a slow caller
constexpr std::chrono::seconds kPatience{5};  // with one caller
constexpr size_t kLongestRequest = 16384;     // bytes, headers included
constexpr const char* kPlainText = "text/plain; charset=utf-8";

constexpr std::pair<std::string_view, const char*> kContentTypes[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".wasm", "application/wasm"},
    {".json", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", kPlainText},
};

const char* content_type(std::string_view path) {
  for (const auto& [extension, type] : kContentTypes) {
    if (path.ends_with(extension)) return type;
  }
  return "application/octet-stream";
}

// The page runs its own scripts and WebAssembly and reaches for nothing outside. Pages of this machine may frame it
// (slides, notebooks), other sites may not.
constexpr const char* kContentSecurityPolicy =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* file:";

const httplib::Headers kHeaders = {
    {"Accept-Ranges", "none"},
    {"Cache-Control", "no-cache"},
    {"Content-Security-Policy", kContentSecurityPolicy},
    {"Cross-Origin-Embedder-Policy", "require-corp"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

/// Whether a Host header means this machine, on whatever port.
bool is_own_name(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view port = host.substr(name.size());
    if (port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == port.npos)) return true;
  }
  return false;
}

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(why + "\n", kPlainText);
}

void answer(Page page, const httplib::Request& request, httplib::Response& response) {
  if (request.get_header_value_count("Host") != 1 || !is_own_name(request.get_header_value("Host"))) {
    return refuse(response, 403, "this server is for this machine: address it as localhost or 127.0.0.1");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    return refuse(response, 405, "only GET and HEAD");
  }
  const std::string_view path = request.path == "/" ? "/index.html" : std::string_view(request.path);
  const auto file = std::find_if(page.begin(), page.end(), [&](const PageFile& f) { return f.path == path; });
  if (file == page.end()) return refuse(response, 404, "no such file");
  response.status = 200;
  response.set_content(file->content.data(), file->content.size(), content_type(path));
}

/// A caller's connection. A request has to fit into the buffer, and all has to be over by the deadline, so that no
/// caller can hold memory or a thread for long.
class Connection final : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}
  ~Connection() override {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_readable() const override { return wait_for(POLLIN); }
  bool is_writable() const override { return wait_for(POLLOUT); }

  ssize_t read(char* bytes, size_t size) override {
    if (used_ == filled_) {
      if (filled_ == buffer_.size() || !wait_for(POLLIN)) return -1;
      const ssize_t received = recv(socket_, &buffer_[filled_], buffer_.size() - filled_, MSG_DONTWAIT);
      if (received <= 0) return received;
      filled_ += static_cast<size_t>(received);
    }
    const size_t count = std::min(size, filled_ - used_);
    std::copy_n(&buffer_[used_], count, bytes);
    used_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    for (size_t sent = 0; sent < size;) {
      if (!wait_for(POLLOUT)) return -1;
      const ssize_t count = send(socket_, bytes + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count < 0) return -1;
      sent += static_cast<size_t>(count);
    }
    return static_cast<ssize_t>(size);
  }

  // Who calls makes no difference.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool wait_for(short event) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    pollfd poll = {.fd = socket_, .events = event, .revents = 0};
    return left.count() > 0 && ::poll(&poll, 1, static_cast<int>(left.count())) == 1;
  }

  const socket_t socket_;
  const Clock::time_point deadline_ = Clock::now() + kPatience;
  std::array<char, kLongestRequest> buffer_;
  size_t used_ = 0, filled_ = 0;
};

}  // namespace

class PageServer::Http final : public httplib::Server {
 public:
  /// The library itself lets five callers wait; any more would have to call again a second later.
  bool bind(int port) { return bind_to_port("127.0.0.1", port) && ::listen(svr_sock_, SOMAXCONN) == 0; }

 private:
  /// One request a connection: browsers keep connections open that they do not use.
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket);
    bool closed = false;
    // Whole files as they are: within one machine compression costs more than it saves, and many parts asked for in one
    // request would take much memory.
    return process_request(connection, true, closed, [](httplib::Request& request) {
      request.ranges.clear();
      request.headers.erase("Accept-Encoding");
    });
  }
};

PageServer::PageServer(Page page) : http_(std::make_unique<Http>()) {
  http_->set_default_headers(kHeaders);
  http_->set_pre_routing_handler([page](const httplib::Request& request, httplib::Response& response) {
    answer(page, request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  http_->set_error_handler([](const httplib::Request&, httplib::Response& response) {
    // The library's own refusals come without a word.
    if (response.body.empty()) refuse(response, response.status, "not a request that this server understands");
  });
  http_->set_socket_options([](socket_t socket) {
    // Without the library's own SO_REUSEPORT, by which two servers would share one port.
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  http_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
}

PageServer::~PageServer() = default;

bool PageServer::bind(int port) {
  errno = 0;
  return http_->bind(port);
}

void PageServer::run() {
  http_->listen_after_bind();
  throw std::runtime_error("the server cannot take calls any more");
}

}  // namespace foveate::cli
