// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A diagnosis in words.
#ifndef FOVEATE_DIAGNOSIS_WORDS_H_
#define FOVEATE_DIAGNOSIS_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "claims/text.h"
#include "diagnosis/diagnose.h"
#include "foveate/tensor.h"

namespace foveate::diagnosis {

/// The axes of the files of q, k, v and out: indices are told by them.
struct FileAxes {
  size_t count = 4;
  Layout layout = Layout::bhnd;
};

/// As the file counts: out by its layout, lse [b, h, n] in any.
std::vector<int64_t> index_of(const Difference& at, const FileAxes& axes);

/// A text, after a mark that its further lines are set under.
struct Paragraph {
  std::string mark, text;
};

/// `with_lse`: lse was judged too.
std::vector<Paragraph> words(const Diagnosis& diagnosis, const FileAxes& axes, bool with_lse,
                             claims::Language language);

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_WORDS_H_
