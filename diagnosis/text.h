// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A text in each language that mistakes are told in. Each is written, not translated.
#ifndef FOVEATE_DIAGNOSIS_TEXT_H_
#define FOVEATE_DIAGNOSIS_TEXT_H_

namespace foveate::diagnosis {

struct Text {
  const char* en;
  const char* zh;
};

}  // namespace foveate::diagnosis

#endif  // FOVEATE_DIAGNOSIS_TEXT_H_
