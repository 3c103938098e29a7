// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "diagnosis/randomness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace foveate::diagnosis {
namespace {

constexpr double kMost = 4.5;  ///< standard deviations
constexpr size_t kLeastZeros = 20, kLeastKept = 10;

struct Counts {
  double n = 0, zeros = 0;
};

using Group = std::array<int64_t, 4>;
using Groups = std::map<Group, Counts>;

/// The sum over groups of squared deviations from np, each in units of its variance; then how unlikely it is, as a gamma
/// distribution of its mean and variance has it (Wilson and Hilferty's cube root).
bool even_among(const Groups& groups, double p) {
  const double q = 1 - p;
  double sum = 0, mean = 0, variance = 0;
  for (const auto& [group, counts] : groups) {
    if (counts.n < 2) continue;  // tells nothing
    const double off = counts.zeros - counts.n * p, expected = counts.n * p * q;
    sum += off * off / expected;
    mean += 1;
    variance += 2 + (1 - 6 * p * q) / expected;
  }
  if (mean == 0 || variance < 1e-9) return true;
  const double width = variance / (9 * mean * mean);  // 2 / (9 k) of k degrees of freedom
  const double apart = (std::cbrt(sum / mean) - (1 - width)) / std::sqrt(width);
  return std::abs(apart) <= kMost;
}

template <class GroupOf>
bool even(const std::vector<Drawn>& all, double p, const GroupOf& group_of) {
  Groups groups;
  for (const Drawn& one : all) {
    Counts& counts = groups[group_of(one)];
    ++counts.n;
    counts.zeros += one.zero;
  }
  return even_among(groups, p);
}

/// By heads, keys, queries, distances, blocks: what a rule could go by.
bool tied_to_places(const std::vector<Drawn>& all, double p) {
  using Rule = Group (*)(const Drawn&);
  constexpr Rule kRules[] = {
      [](const Drawn& w) {
        return Group{w.b, w.h};
      },
      [](const Drawn& w) { return Group{w.j}; },
      [](const Drawn& w) {
        return Group{w.b, w.h, w.j};
      },
      [](const Drawn& w) { return Group{w.i}; },
      [](const Drawn& w) {
        return Group{w.b, w.h, w.i};
      },
      [](const Drawn& w) { return Group{w.i - w.j}; },
      [](const Drawn& w) {
        return Group{w.b, w.h, w.i - w.j};
      },
      [](const Drawn& w) { return Group{w.i + w.j}; },
      [](const Drawn& w) {
        return Group{w.i, w.j};
      },
      [](const Drawn& w) {
        return Group{w.b, w.i, w.j};
      },
      [](const Drawn& w) {
        return Group{w.h, w.i, w.j};
      },
      [](const Drawn& w) {
        return Group{w.b, w.h, w.i / 4, w.j / 4};
      },
      [](const Drawn& w) { return Group{w.rank}; },
  };
  return !std::ranges::all_of(kRules, [&](Rule rule) { return even(all, p, rule); });
}

/// By their sizes: the sum of the ranks of those left out, and how many there are among the smallest tenth, the next, ...
bool tied_to_sizes(std::vector<Drawn> all, double p) {
  std::ranges::sort(all, {}, &Drawn::weight);
  const auto n = static_cast<double>(all.size());
  double ranks = 0, zeros = 0;
  Groups tenths;
  for (size_t at = 0; at < all.size(); ++at) {
    Counts& counts = tenths[{static_cast<int64_t>(10 * at / all.size())}];
    ++counts.n;
    if (!all[at].zero) continue;
    ++counts.zeros;
    ++zeros;
    ranks += static_cast<double>(at) + 1;
  }
  const double deviation = std::sqrt(zeros * (n - zeros) * (n + 1) / 12);
  return std::abs(ranks - zeros * (n + 1) / 2) > kMost * deviation || !even_among(tenths, p);
}

/// How many rows have zeros at all.
bool as_many_rows(const std::vector<Drawn>& all, double p) {
  Groups rows;
  for (const Drawn& one : all) {
    Counts& counts = rows[{one.b, one.h, one.i}];
    ++counts.n;
    counts.zeros += one.zero;
  }
  double seen = 0, expected = 0, variance = 0;
  for (const auto& [row, counts] : rows) {
    const double some = 1 - std::pow(1 - p, counts.n);
    seen += counts.zeros > 0;
    expected += some;
    variance += some * (1 - some);
  }
  return std::abs(seen - expected) <= kMost * std::sqrt(variance) + 0.5;
}

}  // namespace

bool drawn_at_random(const std::vector<Drawn>& all, double probability) {
  const auto zeros = static_cast<size_t>(std::ranges::count_if(all, &Drawn::zero));
  if (zeros < kLeastZeros || all.size() - zeros < kLeastKept) return false;
  const auto n = static_cast<double>(all.size());
  const double expected = n * probability, deviation = std::sqrt(expected * (1 - probability));
  if (std::abs(static_cast<double>(zeros) - expected) > 4 * deviation) return false;
  return as_many_rows(all, probability) && !tied_to_places(all, probability) && !tied_to_sizes(all, probability);
}

}  // namespace foveate::diagnosis
