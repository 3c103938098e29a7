// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// AttentionOptions out of a dict: the names of python/foveate/_options.py, of which those left out keep their defaults.
#ifndef FOVEATE_PYTHON_OPTIONS_H_
#define FOVEATE_PYTHON_OPTIONS_H_

#include <nanobind/nanobind.h>

#include "foveate/attention.h"
#include "foveate/linear.h"
#include "python/src/views.h"

namespace foveate::python {

AttentionOptions attention_options(const nb::dict& given, Views& views);
LinearOptions linear_options(const nb::dict& given, Views& views);

}  // namespace foveate::python

#endif  // FOVEATE_PYTHON_OPTIONS_H_
