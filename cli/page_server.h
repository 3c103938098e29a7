// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// An HTTP server for the page, on 127.0.0.1 alone. It knows GET and HEAD of the page's own files, and only for those who
// address it as this machine: a site that has its own name point here (DNS rebinding) is refused.
#ifndef FOVEATE_CLI_PAGE_SERVER_H_
#define FOVEATE_CLI_PAGE_SERVER_H_

#include <memory>

#include "cli/page.h"

namespace foveate::cli {

class PageServer {
 public:
  /// The page must outlive the server.
  explicit PageServer(Page page);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// Takes a port, from when on browsers may call: they wait until run(). False, and errno, where it cannot be had.
  bool bind(int port);

  /// Serves until the process ends. Throws if calls can no longer be taken.
  [[noreturn]] void run();

 private:
  class Http;
  std::unique_ptr<Http> http_;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_PAGE_SERVER_H_
