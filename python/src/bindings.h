// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What each file of the module adds to it. Python's side (python/foveate) brings arrays to the engine's axes and makes
// what is written to; this side views them and calls the engine.
#ifndef FOVEATE_PYTHON_BINDINGS_H_
#define FOVEATE_PYTHON_BINDINGS_H_

#include <nanobind/nanobind.h>

namespace foveate::python {

namespace nb = nanobind;

void bind_attention(nb::module_& module);
void bind_diagnose(nb::module_& module);
void bind_dlpack(nb::module_& module);
void bind_inspect(nb::module_& module);
void bind_kv_cache(nb::module_& module);
void bind_plain(nb::module_& module);
void bind_rivals(nb::module_& module);
void bind_state(nb::module_& module);

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_BINDINGS_H_
