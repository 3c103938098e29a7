// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate diagnose` says: in words, as JSON.
#ifndef FOVEATE_CLI_DIAGNOSE_REPORT_H_
#define FOVEATE_CLI_DIAGNOSE_REPORT_H_

#include <cstddef>
#include <string>

#include "cli/locale.h"
#include "diagnosis/diagnose.h"
#include "foveate/tensor.h"

namespace foveate::cli {

/// The axes of the files of q, k, v and out: indices are told by them.
struct FileAxes {
  size_t count = 4;
  Layout layout = Layout::bhnd;
};

/// 80 columns. `with_lse`: lse was judged too.
std::string diagnosis_text(const diagnosis::Diagnosis& diagnosis, const FileAxes& axes, bool with_lse,
                           Language language);

std::string diagnosis_json(const diagnosis::Diagnosis& diagnosis, const FileAxes& axes);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_DIAGNOSE_REPORT_H_
