// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/serve.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/option_value.h"
#include "cli/page_server.h"
#include "io/output_file.h"

namespace foveate::cli {
namespace {

constexpr int kFirstPort = 7373, kPorts = 20;

// The options as they are typed.
struct ServeArguments {
  std::optional<std::string> port;
  std::string lang;
};

std::optional<int> parse_port(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const int64_t port = whole_number("--port", *text, 1);
  if (port > 65535) throw WrongUse(fmt::format("--port: {} is past 65535, the last port there is", port));
  return static_cast<int>(port);
}

int bind_named(PageServer& server, int port) {
  if (server.bind(port)) return port;
  const int why = errno;
  throw WrongUse(fmt::format("--port: {}: {}; name another, or leave --port out for one that is free", port,
                             why == EADDRINUSE ? "taken by another program" : std::strerror(why)));
}

int bind_free(PageServer& server) {
  for (int port = kFirstPort; port < kFirstPort + kPorts; ++port) {
    if (server.bind(port)) return port;
  }
  throw std::runtime_error(fmt::format("none of the ports {} to {} can be had ({}); name one that is free with --port",
                                       kFirstPort, kFirstPort + kPorts - 1, std::strerror(errno)));
}

void print(const std::string& text) {
  io::OutputFile out("-");
  out.write(text.data(), text.size());
  out.commit();
}

Manual manual() {
  return {.synopsis = "[OPTION]...",
          .paragraphs =
              {"The page computes with the engine as WebAssembly, in the browser; nothing is sent anywhere. Only this "
               "machine is answered."},
          .examples = {{"On a port of your own", "serve --port 8080"}},
          .exit_status = {{"0", "ended by Ctrl-C, the ordinary way"},
                          {"1", "something failed, such as a port that is taken"},
                          {"2", "a wrong call: one line on standard error"}},
          .see_also = {"demo"}};
}

}  // namespace

void serve(Page page, std::optional<int> port, Language language) {
  if (page.empty()) {
    throw std::runtime_error("this build holds no page; make it with `make page-build`, then build again");
  }
  PageServer server(page);
  const int taken = port ? bind_named(server, *port) : bind_free(server);
  end_well_on_signals();
  print(fmt::format(fmt::runtime(say(language, "The page is at http://127.0.0.1:{}/\nCtrl-C ends it.\n",
                                     "页面在 http://127.0.0.1:{}/\n按 Ctrl-C 结束。\n")),
                    taken));
  server.run();
}

void add_serve(CLI::App& app) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command = add_command(app, "serve", "Show the interactive page to a browser on this machine", manual());
  command->add_option("--port", arguments->port, "port of 127.0.0.1 (default: the first free one from 7373 on)")
      ->option_text("N");
  command->add_option("--lang", arguments->lang, "language of the messages (default: the locale's)")
      ->option_text("en|zh");
  command->callback([arguments] {
    const std::optional<int> port = parse_port(arguments->port);
    serve(embedded_page(), port, parse_language(arguments->lang));
  });
}

}  // namespace foveate::cli
