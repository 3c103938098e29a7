// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#include "cli/piecewise_attention.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cli/axes.h"
#include "cli/held_state.h"
#include "foveate/state.h"

namespace foveate::cli {
namespace {

/// Past every position there can be; sums of two such numbers are in 64 bits.
constexpr int64_t kFar = int64_t{1} << 61;

/// Elements [first, last) along an axis; an axis of extent 1 is broadcast, and stays.
template <class View>
View slice(View view, int axis, int64_t first, int64_t last) {
  using Byte = std::conditional_t<std::is_same_v<View, Tensor>, char, const char>;
  if (!view.present() || view.shape[axis] == 1) return view;
  view.data = static_cast<Byte*>(view.data) + first * view.stride[axis] * size_of(view.dtype);
  view.shape[axis] = last - first;
  return view;
}

/// The entries of a vector of lengths, or `all` of each.
std::vector<int64_t> lengths_of(const ConstVector& vector, int64_t b, int64_t all) {
  std::vector<int64_t> lengths(static_cast<size_t>(b), all);
  for (int64_t i = 0; vector.present() && i < b; ++i) {
    lengths[static_cast<size_t>(i)] = vector.dtype == DType::i64
                                          ? static_cast<const int64_t*>(vector.data)[i * vector.stride]
                                          : static_cast<const int32_t*>(vector.data)[i * vector.stride];
  }
  return lengths;
}

template <class T>
void fill(const Tensor& view, T value) {
  for (int64_t b = 0; b < view.shape[0]; ++b)
    for (int64_t h = 0; h < view.shape[1]; ++h)
      for (int64_t i = 0; i < view.shape[2]; ++i)
        static_cast<T*>(view.data)[b * view.stride[0] + h * view.stride[1] + i * view.stride[2]] = value;
}

/// The state over no keys: a row counts for nothing where its lse is -inf.
void fill_empty(const Tensor& lse) {
  constexpr double kEmpty = -std::numeric_limits<double>::infinity();
  lse.dtype == DType::f64 ? fill(lse, kEmpty) : fill(lse, static_cast<float>(kEmpty));
}

}  // namespace

PiecewiseAttention::PiecewiseAttention(const AttentionShape& shape, Layout layout, const ConstTensor& q,
                                       const AttentionOptions& options, const KeyPieces& pieces)
    : shape_(shape),
      layout_(layout),
      q_(q),
      options_(options),
      pieces_(pieces),
      q_lengths_(lengths_of(options.q_lengths, shape.b, shape.n_q)),
      kv_lengths_(lengths_of(options.kv_lengths, shape.b, shape.n_kv)) {
  find_sequences();
  find_visible_keys();
}

/// All batch entries together where they stand alike, and one by one where not: a call has one q_offset.
void PiecewiseAttention::find_sequences() {
  const auto position = [this](int64_t b) {
    const auto i = static_cast<size_t>(b);
    return options_.align == Align::bottom_right ? kv_lengths_[i] - q_lengths_[i] : 0;
  };
  for (int64_t b = 0; b < shape_.b; ++b) sequences_.push_back({b, b + 1, position(b)});
  const bool alike = std::all_of(sequences_.begin(), sequences_.end(),
                                 [&](const Sequences& one) { return one.position == sequences_[0].position; });
  if (alike && shape_.b > 0) sequences_ = {{0, shape_.b, position(0)}};
}

/// The keys that some query's window reaches, from a multiple of a piece on.
void PiecewiseAttention::find_visible_keys() {
  const auto side = [](int64_t width) { return width == kUnlimited ? kFar : std::min(width, kFar); };
  const int64_t left = side(options_.window_left), right = options_.causal ? 0 : side(options_.window_right);
  int64_t first = kFar, last = 0;
  for (const Sequences& sequences : sequences_) {
    for (int64_t b = sequences.first; b < sequences.last; ++b) {
      const auto i = static_cast<size_t>(b);
      if (q_lengths_[i] == 0) continue;
      first = std::min(first, sequences.position - left);
      last = std::max(last, std::min(kv_lengths_[i], sequences.position + q_lengths_[i] + right));
    }
  }
  first = std::max<int64_t>(first, 0) / pieces_.keys() * pieces_.keys();
  visible_ = {std::min(first, last), last};
}

int64_t PiecewiseAttention::pieces() const {
  return std::max<int64_t>(1, (visible_.last - visible_.first + pieces_.keys() - 1) / pieces_.keys());
}

PiecewiseAttention::Keys PiecewiseAttention::keys_of(int64_t piece) const {
  const int64_t first = visible_.first + piece * pieces_.keys();
  return {first, std::min(first + pieces_.keys(), visible_.last)};
}

/// Dropout counts a batch entry by its place, so a call under it begins with the first.
int64_t PiecewiseAttention::first_of_call(const Sequences& sequences) const {
  return options_.dropout > 0 ? 0 : sequences.first;
}

int64_t PiecewiseAttention::tasks(int64_t workers) const {
  int64_t tasks = 0;
  for (int64_t piece = 0; piece < pieces(); ++piece) {
    const Keys keys = keys_of(piece);
    for (const Sequences& sequences : sequences_) {
      AttentionShape shape = shape_;
      shape.b = sequences.last - first_of_call(sequences);
      shape.n_kv = keys.last - keys.first;
      shape.kv_offset = keys.first;
      AttentionPlan plan;
      if (attention_plan(shape, workers, &plan).ok()) tasks += plan.tasks;
    }
  }
  return tasks;
}

Status PiecewiseAttention::attend(const Sequences& sequences, const Keys& keys, const KeyPieces::Piece& piece,
                                  const AttentionOutputs& outputs, const Execution& execution) const {
  const int64_t from = first_of_call(sequences), to = sequences.last;
  const auto batches = [&](auto view) { return slice(view, 0, from, to); };
  std::vector<int64_t> q_lengths, kv_lengths;
  for (int64_t b = from; b < to; ++b) {
    const auto i = static_cast<size_t>(b);
    q_lengths.push_back(b < sequences.first ? 0 : q_lengths_[i]);
    kv_lengths.push_back(std::clamp<int64_t>(kv_lengths_[i] - keys.first, 0, keys.last - keys.first));
  }
  AttentionOptions options = options_;
  options.q_offset = sequences.position;
  options.kv_offset = keys.first;
  options.mask = slice(batches(options.mask), 3, keys.first, keys.last);
  options.bias = slice(batches(options.bias), 3, keys.first, keys.last);
  options.q_lengths = view(q_lengths.data(), to - from);
  options.kv_lengths = view(kv_lengths.data(), to - from);
  if (keys.first > visible_.first) options.sinks = {};  // they belong to one piece
  return attention(batches(q_), batches(view_on_bhnd(piece.k, layout_)), batches(view_on_bhnd(piece.v, layout_)),
                   {.o = batches(outputs.o), .lse = batches(outputs.lse)}, options, execution);
}

Status PiecewiseAttention::run(const AttentionOutputs& outputs, const Execution& execution) const {
  const bool wants_o = outputs.o.present();
  const HeldState part = held_state(shape_, wants_o), other = held_state(shape_, wants_o);
  const HeldState unasked = held_state(shape_, false);  // no o: lse is merged without
  // What the pieces so far give goes to and fro between the outputs and other memory, the last time into the outputs.
  struct Sum {
    Tensor o, lse;
  };
  const Sum sums[2] = {{wants_o ? outputs.o : unasked.o, outputs.lse.present() ? outputs.lse : unasked.lse},
                       {other.o, other.lse}};
  const int64_t n = pieces();
  fill_empty(sums[n % 2].lse);
  for (int64_t piece = 0; piece < n; ++piece) {
    if (execution.stop != nullptr && execution.stop->load()) {
      return Status::error(StatusCode::cancelled, "cancelled by the stop flag");
    }
    const Keys keys = keys_of(piece);
    const KeyPieces::Piece read = pieces_.read(keys.first, keys.last);
    const Sum &before = sums[(n - piece) % 2], &after = sums[(n - piece - 1) % 2];
    for (const Sequences& sequences : sequences_) {
      const auto theirs = [&](const Tensor& view) { return slice(view, 0, sequences.first, sequences.last); };
      Status status = attend(sequences, keys, read, {.o = wants_o ? part.o : Tensor(), .lse = part.lse}, execution);
      if (!status.ok()) return status;
      status = merge({theirs(before.o), theirs(before.lse)}, {theirs(part.o), theirs(part.lse)},
                     wants_o ? theirs(after.o) : Tensor(), theirs(after.lse),
                     {.executor = execution.executor, .stop = execution.stop});
      if (!status.ok()) return status;
    }
  }
  return {};
}

}  // namespace foveate::cli
