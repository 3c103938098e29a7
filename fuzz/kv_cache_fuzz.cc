// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Any calls of a cache of keys and values against a plain model of it: the bytes are the options, the calls and their
// arguments. Attention from the cache must have the bits of attention over the model's arrays.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "foveate/target.h"
#include "tests/kv_trial.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  using namespace foveate;
  trial::Choices choices(bytes, n);
  if (!pin_target(target_name(choices.below(target_count()))).ok()) std::abort();
  const std::string wrong = trial::KvTrial(choices).run(1 + static_cast<int64_t>(n) / 4);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "kv_cache_fuzz: %s: %s\n", active_target(), wrong.c_str());
  std::abort();
}
