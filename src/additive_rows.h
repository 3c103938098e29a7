// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// The rows and parameters of additive attention: u = q W_q^T + b and t = k W_k^T, and what their gradients are to q, k and
// the parameters. All of it lies in one block, of which this tells the size.
#ifndef FOVEATE_SRC_ADDITIVE_ROWS_H_
#define FOVEATE_SRC_ADDITIVE_ROWS_H_

#include <cstdint>

#include "foveate/additive.h"
#include "kernels/projection.h"
#include "kernels/tanh_scores.h"
#include "saturating.h"
#include "sequences.h"
#include "validate_additive.h"

namespace foveate {

/// The sizes that the projections go by.
struct AdditiveSizes {
  Extents extents;  ///< of the call, d_k that of q and k
  int64_t d_a;
  int64_t q_rows, k_rows;  ///< that q and k have memory for, over all heads
};

AdditiveSizes sizes_of(const Inputs& inputs, const Extents& extents, int64_t d_a);

/// Rows of a task that projects: some tens of microseconds.
inline constexpr int64_t kAdditiveRowsPerTask = 512;

/// Features of a task that sums a gradient of W: the rows of a micro-kernel.
inline constexpr int64_t kAdditiveFeaturesPerTask = 8;

/// Tasks over the rows of so many heads, and over d_a features.
constexpr int64_t additive_row_tasks(int64_t b, int64_t heads, int64_t n) {
  return b * heads * ceil_div(n, kAdditiveRowsPerTask);
}
constexpr int64_t additive_feature_tasks(int64_t d_a) { return ceil_div(d_a, kAdditiveFeaturesPerTask); }

/// Where each part of the block begins, in bytes; each on a cache line.
struct AdditiveLayout {
  int64_t w_q, w_k;      ///< panels of d_k rows of d_a columns
  int64_t start, zeros;  ///< b and nothing, whole vectors of d_a or d_k
  int64_t w;             ///< [d_a]
  int64_t u, t;          ///< [rows][d_a]
  int64_t scratch;       ///< of the first worker
  int64_t of_worker;     ///< bytes

  // The backward pass alone:
  int64_t du, dt;          ///< [rows][d_a]
  int64_t dw;              ///< [unit][chunk of keys][whole vectors of d_a]
  int64_t back_q, back_k;  ///< panels of d_a rows of d_k columns: 4 w_a W
  int64_t sums_q, sums_k;  ///< of the gradients of W_q and W_k: panels of kFeatures rows, one group after the other
  int64_t bytes;
};

/// dw_parts: pairs of a unit and a chunk of keys; -1: a forward pass.
AdditiveLayout additive_layout(const AdditiveSizes& sizes, int64_t lanes, int64_t element_size, int64_t workers,
                               int64_t dw_parts);

/// Which rows: those of queries or those of keys.
enum class Side : uint8_t { queries, keys };

template <class T>
class AdditiveRows {
 public:
  AdditiveRows(const Inputs& inputs, const AdditiveParameters& parameters, const AdditiveSizes& sizes,
               const AdditiveLayout& layout, char* block, const kernels::TargetKernels& kernels, bool backward);

  /// The options of a pass over u and t.
  AttentionOptions options() const;
  const kernels::TanhScores<T>& scores() const { return scores_; }

  ConstTensor u() const { return rows(Side::queries, layout_.u); }
  ConstTensor t() const { return rows(Side::keys, layout_.t); }
  Tensor du() const { return writable(rows(Side::queries, layout_.du)); }
  Tensor dt() const { return writable(rows(Side::keys, layout_.dt)); }
  T* dw() const { return at(layout_.dw); }

  /// Computes u or t: tasks [0, row_tasks(side)).
  int64_t row_tasks(Side side) const;
  void project(Side side, int64_t task, int64_t worker) const;

  /// Gradients of q or k from those of u or t: the same tasks.
  void write_rows(Side side, const Tensor& to, int64_t task, int64_t worker) const;

  /// Gradients of W_q (and b) or W_k, a group of features each: tasks [0, feature_tasks()).
  int64_t feature_tasks() const;
  void write_projection(Side side, const Matrix& dw, const Vector& db, int64_t task, int64_t worker) const;

  /// The gradient of w, from the sums of a pass.
  void write_w(const Vector& to, int64_t dw_parts) const;

 private:
  /// Rows that lie behind each other: n rows of a head of a sequence from row i on.
  struct Run {
    int64_t b, head, i, n;
    Sequences::Place place;
  };

  T* at(int64_t offset) const { return reinterpret_cast<T*>(block_ + offset); }
  const ConstTensor& source(Side side) const { return side == Side::queries ? q_ : k_; }
  int64_t heads(Side side) const { return side == Side::queries ? e_.h_q : e_.h_kv; }
  int64_t longest(Side side) const { return side == Side::queries ? e_.n_q : e_.n_kv; }
  int64_t length(Side side, int64_t b) const {
    return side == Side::queries ? sequences_.q_length(b) : sequences_.kv_length(b);
  }
  int64_t there(Side side, int64_t b) const {
    return side == Side::queries ? sequences_.q_rows(b) : sequences_.kv_rows(b);
  }
  Run run_at(Side side, int64_t b, int64_t head, int64_t i, int64_t end) const;
  template <class Body>
  void for_each_run(Side side, int64_t task, bool all, const Body& body) const;

  ConstTensor rows(Side side, int64_t offset) const;
  static Tensor writable(const ConstTensor& view);
  T* rows_at(Side side, int64_t offset, const Run& run) const;
  struct Adjacent {
    const T* rows;
    int64_t stride;
  };
  Adjacent source_rows(Side side, const Run& run, T* scratch) const;
  /// Brings the parameters in. Not a task: they are few.
  void load_parameters(bool backward);
  void fill_panels(const ConstMatrix& from, bool transposed, T* to) const;
  void pack(Side side, const Run& run, const T* gradients, T* scratch, T* panels) const;
  T* scratch_of(int64_t worker) const { return at(layout_.scratch + worker * layout_.of_worker); }

  const ConstTensor &q_, &k_;
  const AttentionOptions& options_;
  const AdditiveParameters& p_;
  const Extents& e_;
  const int64_t d_a_, lanes_;
  const AdditiveLayout& layout_;
  char* const block_;
  const kernels::ProjectionKernel<T>& kernel_;
  const Sequences sequences_;
  kernels::TanhScores<T> scores_;
  double factor_ = 1;  ///< w is kept divided by it
};

}  // namespace foveate

#endif  // FOVEATE_SRC_ADDITIVE_ROWS_H_
