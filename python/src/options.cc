// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/options.h"

#include <string_view>

namespace foveate::python {
namespace {

/// The options that were given, by name; one that is None was not.
class Given {
 public:
  Given(const nb::dict& given, Views& views) : given_(given), views_(views) {}

  template <class T>
  void take(const char* name, T& field) const {
    if (const nb::handle value = find(name); value) field = nb::cast<T>(value);
  }
  template <class T>
  void take(const char* name, std::optional<T>& field) const {
    if (const nb::handle value = find(name); value) field = nb::cast<T>(value);
  }
  void take(const char* name, ConstTensor& field) const {
    if (const nb::handle value = find(name); value) field = views_.tensor(value);
  }
  void take(const char* name, ConstVector& field) const {
    if (const nb::handle value = find(name); value) field = views_.vector(value);
  }
  void take(const char* name, ConstMatrix& field) const {
    if (const nb::handle value = find(name); value) field = views_.matrix(value);
  }
  void take_align(Align& field) const {
    bool top_left = false;
    take("top_left", top_left);
    field = top_left ? Align::top_left : Align::bottom_right;
  }

 private:
  nb::handle find(const char* name) const {
    const nb::handle value = PyDict_GetItemString(given_.ptr(), name);
    return value && !value.is_none() ? value : nb::handle();
  }

  const nb::dict& given_;
  Views& views_;
};

}  // namespace

AttentionOptions attention_options(const nb::dict& dict, Views& views) {
  const Given given(dict, views);
  AttentionOptions options;
  given.take("scale", options.scale);
  given.take("causal", options.causal);
  given.take_align(options.align);
  given.take("window_left", options.window_left);
  given.take("window_right", options.window_right);
  given.take("mask", options.mask);
  given.take("bias", options.bias);
  given.take("softcap", options.softcap);
  given.take("alibi", options.alibi_slopes);
  given.take("sinks", options.sinks);
  given.take("q_lengths", options.q_lengths);
  given.take("kv_lengths", options.kv_lengths);
  given.take("q_offset", options.q_offset);
  given.take("kv_offset", options.kv_offset);
  given.take("dropout", options.dropout);
  given.take("seed", options.seed);
  given.take("k_scales", options.k_scales);
  given.take("v_scales", options.v_scales);
  given.take("q_starts", options.q_starts);
  given.take("kv_starts", options.kv_starts);
  given.take("block_table", options.block_table);
  given.take("tree_mask", options.tree_mask);
  given.take("tree_tokens", options.tree_tokens);
  given.take("blocks", options.blocks);
  given.take("block_size", options.block_size);
  given.take("native_products", options.native_products);
  return options;
}

LinearOptions linear_options(const nb::dict& dict, Views& views) {
  const Given given(dict, views);
  LinearOptions options;
  given.take("causal", options.causal);
  given.take_align(options.align);
  given.take("q_offset", options.q_offset);
  given.take("mask", options.mask);
  given.take("q_lengths", options.q_lengths);
  given.take("kv_lengths", options.kv_lengths);
  return options;
}

}  // namespace foveate::python
