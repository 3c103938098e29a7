// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// From files to what the library takes: arrays read, converted where need be, and viewed on the axes [b, h, n, d].
#ifndef FOVEATE_CLI_ATTEND_INPUTS_H_
#define FOVEATE_CLI_ATTEND_INPUTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cli/attend_arguments.h"
#include "cli/key_pieces.h"
#include "foveate/attention.h"
#include "io/array.h"

namespace foveate::cli {

struct AttendInputs {
  io::Array q, k, v, mask, blocks, bias, alibi, sinks, q_lengths, kv_lengths, grad;  ///< dtype none where left out
  io::Array wq, wk, w, b;                                                            ///< of additive attention
  size_t axes = 0;                                                                   ///< of q, k and v: 2, 3 or 4
  std::unique_ptr<KeyPieces>
      pieces;                 ///< where k and v are larger than memory: they are outlines then, never to be read
  AttentionShape shape;       ///< b, h_q, n_q and d_k as q has them, n_kv and d_v as v has, dtype as the library sees q
  DType dtype = DType::none;  ///< of the results; narrower than the library's where these are merged from pieces
};

/// Reads and converts (v may be left out); large keys and values in .npy files are only opened. Throws WrongUse for what the library would
/// never see: axes that do not match, elements that are no floats, a gradient of another shape than out's. All else is
/// left to the library.
AttendInputs load_inputs(const AttendArguments& arguments, const PieceLimits& limits = {});

/// One array of floats more that an option names, of any axes; none where it was left out.
io::Array load_floats(const ProblemArguments& arguments, std::string_view name, const std::string& value);

/// The options with their arrays, which `inputs` keeps.
AttentionOptions options_with_arrays(const AttentionOptions& options, const AttendInputs& inputs);

/// A message of the library with its argument named as it was on the command line: an option where the library has
/// another word for it, its axes and type as its file has them; and a question where the other layout would fit.
std::string in_words_of_the_command_line(std::string_view message, const AttendInputs& inputs, Layout layout);

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_ATTEND_INPUTS_H_
