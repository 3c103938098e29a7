// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate verify-bits`: shows on this machine that a row has one result. One random sequence is computed in every way of
// row_ways.h, and each way's bits are held against those of the first.
#ifndef FOVEATE_CLI_VERIFY_BITS_H_
#define FOVEATE_CLI_VERIFY_BITS_H_

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/row_bits.h"
#include "cli/row_ways.h"

namespace foveate::cli {

/// What the ways of one stored type came to, on one target.
class TypeVerdict {
 public:
  TypeVerdict(std::string target, const StoredType& type) : target_(std::move(target)), type_(&type) {}

  /// The first rows told of are those that later ones are held against.
  void add(const Way& way, const RowBits& rows);

  bool same() const { return different_.empty(); }
  const std::string& target() const { return target_; }

  /// A line of the table; and below it the ways that differ, each in two more lines.
  std::string table_row() const;
  std::string differences_text() const;
  nlohmann::ordered_json json() const;

 private:
  struct Different {
    Way way;
    uint64_t hash;
    BitDifference first;
  };

  std::string target_;
  const StoredType* type_;
  std::vector<RowBits> expected_;  ///< none, or one
  Way plainest_;
  uint64_t hash_ = 0;
  size_t ways_ = 0;
  std::vector<Different> different_;
};

/// Adds `foveate verify-bits`. Its callback runs it and sets exit_status, which must outlive the parse: 0 where all ways
/// agree, 1 where some differ.
void add_verify_bits(CLI::App& app, int& exit_status);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_VERIFY_BITS_H_
