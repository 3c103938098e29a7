// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "python/src/bindings.h"

NB_MODULE(_engine, module) {
  using namespace foveate::python;
  module.doc() = "The engine, on NumPy arrays of its own axes. Not for use: foveate is.";
  bind_attention(module);
  bind_diagnose(module);
  bind_dlpack(module);
  bind_inspect(module);
  bind_kv_cache(module);
  bind_plain(module);
  bind_rivals(module);
  bind_state(module);
}
