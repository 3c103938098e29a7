// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The interactive page, as this binary holds it: the files of web/dist when it was built, put in by cmake/embed.cmake.
#ifndef FOVEATE_CLI_PAGE_H_
#define FOVEATE_CLI_PAGE_H_

#include <span>
#include <string_view>

namespace foveate::cli {

struct PageFile {
  std::string_view path;  ///< in the address: "/index.html", "/assets/page.js"
  std::string_view content;
};

/// A page is its files, one of which is /index.html.
using Page = std::span<const PageFile>;

/// The page in this binary; empty where web/dist held none when it was built.
Page embedded_page();

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_PAGE_H_
