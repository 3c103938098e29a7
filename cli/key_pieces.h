// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Keys and values in files larger than memory: opened and checked at once, read some keys at a time.
#ifndef FOVEATE_CLI_KEY_PIECES_H_
#define FOVEATE_CLI_KEY_PIECES_H_

#include <cstdint>
#include <string>

#include "foveate/tensor.h"
#include "io/array.h"
#include "io/npy_pieces.h"

namespace foveate::cli {

/// How much of keys and values is in memory at a time. Tests lower it.
struct PieceLimits {
  int64_t whole = int64_t{256} << 20;  ///< bytes; files of no more than that together are read whole
  int64_t piece = int64_t{64} << 20;   ///< bytes of a piece
  int64_t keys = 1024;                 ///< a piece is a multiple of it, where one fits; or else some keys, at least one
};

class KeyPieces {
 public:
  struct Piece {
    io::Array k, v;
  };

  /// Whether files of keys and values are to be read in pieces: regular .npy files, past the limit together.
  static bool wanted(const std::string& k, const std::string& v, const PieceLimits& limits);

  /// Opens them. Throws WrongUse where one is no .npy file, or is shorter than it says.
  KeyPieces(const std::string& k, const std::string& v);

  /// An array that has the file's shape and type and, whatever the index, one element: to be checked, not to be read.
  io::Array outline_of_k() const { return outline(k_); }
  io::Array outline_of_v() const { return outline(v_); }

  /// Sets on which axis keys are counted, the type that is computed in, and the size of pieces. Both files have as many
  /// axes, of floats.
  void cut(size_t axis, DType dtype, const PieceLimits& limits);

  /// How many keys a piece has, at most.
  int64_t keys() const { return keys_; }

  /// Keys and values [first, last), in the type that is computed in. Throws WrongUse where a file has become shorter.
  Piece read(int64_t first, int64_t last) const;

 private:
  static io::Array outline(const io::NpyPieces& file);

  io::NpyPieces k_, v_;
  size_t axis_ = 0;
  DType dtype_ = DType::none;
  int64_t keys_ = 0;
};

}  // namespace foveate::cli

#endif  // FOVEATE_CLI_KEY_PIECES_H_
