// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate diagnose` says: in words, as JSON.
#ifndef FOVEATE_CLI_DIAGNOSE_REPORT_H_
#define FOVEATE_CLI_DIAGNOSE_REPORT_H_

#include <string>

#include "cli/locale.h"
#include "diagnosis/diagnose.h"
#include "diagnosis/words.h"

namespace foveate::cli {

/// 80 columns. `with_lse`: lse was judged too.
std::string diagnosis_text(const diagnosis::Diagnosis& diagnosis, const diagnosis::FileAxes& axes, bool with_lse,
                           Language language);

std::string diagnosis_json(const diagnosis::Diagnosis& diagnosis, const diagnosis::FileAxes& axes);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_DIAGNOSE_REPORT_H_
