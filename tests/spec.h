// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// A call written out as a few numbers that can be printed. Tests write specs by hand or draw them at random, the fuzzer
// reads them from bytes; attention_case.h makes calls of them.
#ifndef FOVEATE_TESTS_SPEC_H_
#define FOVEATE_TESTS_SPEC_H_

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>

#include "foveate/attention.h"
#include "tests/placed.h"

namespace foveate::trial {

/// Whether a mask, a bias or scales have an axis' whole extent; where not, they have 1 and are broadcast.
using Whole = std::array<bool, 4>;

struct Spec {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 8, d_v = 8;

  std::optional<double> scale = {};
  bool causal = false;
  Align align = Align::bottom_right;
  int64_t window_left = kUnlimited, window_right = kUnlimited;
  std::optional<Whole> mask = {};
  std::optional<Whole> bias = {};
  std::optional<Whole> blocks = {};
  int64_t block_size = 0;
  int64_t blocks_kept = 2;    ///< one in so many
  bool bias_forbids = false;  ///< one entry in four is -inf
  bool bias_huge = false;     ///< one entry in four is near the largest number of its type, or its negative
  double softcap = 0;
  bool alibi = false, sinks = false;
  bool q_lengths = false, kv_lengths = false;
  double dropout = 0;
  std::optional<int64_t> q_offset = {}, kv_offset = {};

  /// What arrays are stored as; none: the computing type. float64 computes with itself alone, whatever q, k and v say.
  DType q_type = DType::none, k_type = DType::none, v_type = DType::none;
  DType bias_type = DType::none, vector_type = DType::none;  ///< vectors: slopes and sinks
  Whole k_scales = {true, true, true, false}, v_scales = k_scales;
  bool v_of_k = false;  ///< v is the first d_v columns of k
  bool int32 = false;   ///< lengths, starts and tables; else int64

  /// n_q and n_kv are the lengths of the longest sequence.
  bool packed_queries = false, packed_keys = false;
  int64_t page_size = 0;  ///< 0: no pages. n_kv is rounded up to whole ones.
  int64_t tree_tokens = 0;
  Whole tree = {true, true, true, true};

  int64_t vector_stride = 1;
  Placement q_in = {}, k_in = {}, v_in = {}, mask_in = {}, bias_in = {}, o_in = {}, lse_in = {}, weights_in = {};
  Placement scales_in = {}, table_in = {}, tree_in = {}, blocks_in = {};

  double magnitude = 1;    ///< of q and k
  int64_t non_finite = 0;  ///< so many elements of q, k and v are NaN or Inf
  bool poison = true;      ///< NaN in all that is never to be read
  bool want_o = true, want_lse = true, want_weights = true;
  int64_t workers = 0;  ///< of an executor; 0: none
  bool own_workspace = false;
  uint64_t seed = 1;
};

/// What is asked of the gradients of a call, beside its Spec: o, lse and d_o have the type of q.
struct GradientSpec {
  bool want_dq = true, want_dk = true, want_dv = true;
  bool want_dbias = true, want_dsinks = true;  ///< where there is a bias, where there are sinks

  /// What gradients are stored as; none: the computing type. float64 is rounded to itself alone.
  DType dq_type = DType::none, dk_type = DType::none, dv_type = DType::none, dbias_type = DType::none;
  Placement d_o_in = {}, dq_in = {}, dk_in = {}, dv_in = {}, dbias_in = {};

  double magnitude = 1;    ///< of d_o
  int64_t non_finite = 0;  ///< so many elements of d_o are NaN or Inf
};

inline std::ostream& operator<<(std::ostream& out, const Whole& axes) {
  return out << axes[0] << axes[1] << axes[2] << axes[3];
}

inline void print_type(std::ostream& out, const char* name, DType dtype) {
  if (dtype != DType::none) out << name << name_of(dtype);
}

inline void print_storage(std::ostream& out, const Spec& s) {
  print_type(out, " q ", s.q_type);
  print_type(out, " k ", s.k_type);
  if (s.k_type == DType::i8) out << " scales " << s.k_scales;
  print_type(out, " v ", s.v_type);
  if (s.v_type == DType::i8) out << " scales " << s.v_scales;
  print_type(out, " bias ", s.bias_type);
  print_type(out, " vectors ", s.vector_type);
  if (s.v_of_k) out << " v_of_k";
  if (s.int32) out << " int32";
  if (s.packed_queries) out << " packed_queries";
  if (s.packed_keys) out << " packed_keys";
  if (s.page_size > 0) out << " page_size " << s.page_size;
  if (s.tree_tokens > 0) out << " tree " << s.tree_tokens << ' ' << s.tree;
}

inline std::ostream& operator<<(std::ostream& out, const Spec& s) {
  out << "b " << s.b << " h " << s.h_q << '/' << s.h_kv << " n_q " << s.n_q << " n_kv " << s.n_kv << " d " << s.d_k
      << '/' << s.d_v << " seed " << s.seed;
  if (s.scale) out << " scale " << *s.scale;
  if (s.causal) out << " causal";
  if (s.align == Align::top_left) out << " top-left";
  if (s.window_left >= 0 || s.window_right >= 0) out << " window " << s.window_left << ',' << s.window_right;
  if (s.mask) out << " mask " << *s.mask;
  if (s.bias) out << " bias " << *s.bias;
  if (s.blocks) out << " blocks " << *s.blocks << " of " << s.block_size << " one in " << s.blocks_kept;
  if (s.bias_forbids) out << " bias_forbids";
  if (s.bias_huge) out << " bias_huge";
  if (s.softcap > 0) out << " softcap " << s.softcap;
  if (s.dropout > 0) out << " dropout " << s.dropout;
  if (s.alibi) out << " alibi";
  if (s.sinks) out << " sinks";
  if (s.q_lengths) out << " q_lengths";
  if (s.kv_lengths) out << " kv_lengths";
  if (s.q_offset) out << " q_offset " << *s.q_offset;
  if (s.kv_offset) out << " kv_offset " << *s.kv_offset;
  print_storage(out, s);
  out << " vector_stride " << s.vector_stride << " q " << s.q_in << " k " << s.k_in << " v " << s.v_in << " mask "
      << s.mask_in << " bias " << s.bias_in << " o " << s.o_in << " lse " << s.lse_in << " weights " << s.weights_in
      << " scales " << s.scales_in << " table " << s.table_in << " tree " << s.tree_in << " magnitude " << s.magnitude
      << " non_finite " << s.non_finite << " poison " << s.poison << " wants " << s.want_o << s.want_lse
      << s.want_weights << " workers " << s.workers;
  return out << (s.own_workspace ? " own_workspace" : "");
}

inline std::ostream& operator<<(std::ostream& out, const GradientSpec& g) {
  out << "gradients " << g.want_dq << g.want_dk << g.want_dv << g.want_dbias << g.want_dsinks;
  print_type(out, " dq ", g.dq_type);
  print_type(out, " dk ", g.dk_type);
  print_type(out, " dv ", g.dv_type);
  print_type(out, " dbias ", g.dbias_type);
  return out << " d_o " << g.d_o_in << " dq " << g.dq_in << " dk " << g.dk_in << " dv " << g.dv_in << " dbias "
             << g.dbias_in << " magnitude " << g.magnitude << " non_finite " << g.non_finite;
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_SPEC_H_
