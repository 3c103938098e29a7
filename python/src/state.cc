// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What stands around attention: merged states, dropout written out, bitmaps of blocks, and what this build is.
#include "foveate/state.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "foveate/dropout.h"
#include "foveate/patterns.h"
#include "foveate/target.h"
#include "python/src/bindings.h"
#include "python/src/call.h"
#include "python/src/options.h"
#include "python/src/views.h"
#include "python/src/work.h"

namespace foveate::python {
namespace {

void merge_states(nb::handle o_a, nb::handle lse_a, nb::handle o_b, nb::handle lse_b, nb::handle o, nb::handle lse,
                  int threads) {
  Views views;
  const State a = {.o = views.tensor(o_a), .lse = views.tensor(lse_a)};
  const State b = {.o = views.tensor(o_b), .lse = views.tensor(lse_b)};
  const Tensor o_view = views.output(o), lse_view = views.output(lse);
  const double work = work_of_rows(a.o, 1, a.o.shape[3]);
  call_engine(threads, work, [&](const Execution& execution) { return merge(a, b, o_view, lse_view, execution); });
}

void write_dropout_mask(nb::handle keep, const nb::dict& given, int threads) {
  Views views;
  const Tensor keep_view = views.output(keep);
  const AttentionOptions options = attention_options(given, views);
  const double work = work_of_pairs(keep_view, keep_view.shape[3], 0, 0);
  call_engine(threads, work, [&](const Execution& execution) { return dropout_mask(keep_view, options, execution); });
}

void write_blocks(nb::handle blocks, int64_t n_q, int64_t n_kv, int64_t block_size, int64_t window_left,
                  int64_t window_right, int64_t global_tokens, int64_t random_blocks, uint64_t seed, bool causal) {
  Views views;
  const Tensor view = views.output(blocks);
  const BlockPattern pattern = {.n_q = n_q,
                                .n_kv = n_kv,
                                .block_size = block_size,
                                .window_left = window_left,
                                .window_right = window_right,
                                .global_tokens = global_tokens,
                                .random_blocks = random_blocks,
                                .seed = seed,
                                .causal = causal};
  Status status;
  {
    const nb::gil_scoped_release released;
    status = make_blocks(pattern, view);
  }
  raise_unless_ok(status);
}

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (int64_t i = 0; i < target_count(); ++i) names.emplace_back(target_name(i));
  return names;
}

void pin(const std::optional<std::string>& name) { raise_unless_ok(pin_target(name ? name->c_str() : nullptr)); }

}  // namespace

void bind_state(nb::module_& module) {
  using nb::arg;
  module.def("merge", merge_states, arg("o_a"), arg("lse_a"), arg("o_b"), arg("lse_b"), arg("o").none(),
             arg("lse").none(), arg("threads"));
  module.def("dropout_mask", write_dropout_mask, arg("keep"), arg("options"), arg("threads"));
  module.def("make_blocks", write_blocks, arg("blocks"), arg("n_q"), arg("n_kv"), arg("block_size"), arg("window_left"),
             arg("window_right"), arg("global_tokens"), arg("random_blocks"), arg("seed"), arg("causal"));
  module.def("targets", targets);
  module.def("active_target", active_target);
  module.def("pin_target", pin, arg("name").none());
  module.attr("version") = FOVEATE_VERSION;
}

}  // namespace foveate::python
