// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What `foveate bench` tells.
#ifndef FOVEATE_CLI_BENCH_REPORT_H_
#define FOVEATE_CLI_BENCH_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/bench_measure.h"

namespace foveate::cli {

/// Tables of 80 columns, one a target and number of threads: what multiplies, then what reads.
std::string bench_text(const std::vector<BenchRow>& rows);

/// Everything measured, in units without prefixes but for those that names tell.
nlohmann::ordered_json bench_json(const std::vector<BenchRow>& rows);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_BENCH_REPORT_H_
