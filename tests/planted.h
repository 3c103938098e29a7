// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Attention as somebody would write it, with a mistake planted: plain loops after the formulas of the contract, that share
// nothing with diagnosis/. A mistake is a step of the recipe put in another's place.
#ifndef FOVEATE_TESTS_PLANTED_H_
#define FOVEATE_TESTS_PLANTED_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "diagnosis/diagnose.h"
#include "foveate/attention.h"

namespace foveate::planted {

/// What is meant.
struct Spec {
  int64_t b = 1, h_q = 2, h_kv = 2, n_q = 9, n_kv = 9, d_k = 8, d_v = 8;
  DType dtype = DType::f32;
  Layout layout = Layout::bhnd;
  std::optional<double> scale = {};
  bool causal = false;
  Align align = Align::bottom_right;
  int64_t left = -1, right = -1;
  bool mask = false, blocks = false, bias = false, alibi = false, sinks = false, q_lengths = false, kv_lengths = false;
  double softcap = 0;
  double magnitude = 1;  ///< of q and k
  bool lse = false;
  uint64_t seed = 1;
};

inline double round_to(double x, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return static_cast<float>(Float16(x));
    case DType::bf16:
      return static_cast<float>(BFloat16(x));
    case DType::f32:
      return static_cast<float>(x);
    default:
      return x;
  }
}

/// Where [b, h, n, d] lies in memory.
inline size_t place(Layout layout, int64_t heads, int64_t rows, int64_t depth, int64_t b, int64_t h, int64_t n,
                    int64_t d) {
  const int64_t row = layout == Layout::bhnd ? (b * heads + h) * rows + n : (b * rows + n) * heads + h;
  return static_cast<size_t>(row * depth + d);
}

/// Arrays of the type meant, held as doubles, in the layout's order.
struct World {
  Spec s;
  std::vector<double> q, k, v, bias, slopes, sinks;
  std::vector<char> mask, blocks;  ///< blocks of 4
  std::vector<int64_t> q_lengths, kv_lengths;

  explicit World(const Spec& spec) : s(spec) {
    std::mt19937_64 random(s.seed);
    std::normal_distribution<double> normal;
    const auto draw = [&](std::vector<double>& to, int64_t n, double size, DType dtype) {
      to.resize(static_cast<size_t>(n));
      for (double& x : to) x = round_to(size * normal(random), dtype);
    };
    draw(q, s.b * s.h_q * s.n_q * s.d_k, s.magnitude, s.dtype);
    draw(k, s.b * s.h_kv * s.n_kv * s.d_k, s.magnitude, s.dtype);
    draw(v, s.b * s.h_kv * s.n_kv * s.d_v, 1, s.dtype);
    if (s.bias) draw(bias, s.h_q * s.n_q * s.n_kv, 2, DType::f32);
    if (s.alibi) draw(slopes, s.h_q, 0.3, DType::f32);
    for (double& slope : slopes) slope = std::abs(slope) + 0.0625;
    if (s.sinks) draw(sinks, s.h_q, 1, DType::f32);
    if (s.mask) {
      mask.resize(static_cast<size_t>(s.b * s.n_q * s.n_kv));
      for (char& bit : mask) bit = random() % 3 != 0;
    }
    if (s.blocks) blocks.resize(static_cast<size_t>(blocks_of(s.n_q) * blocks_of(s.n_kv)));
    for (char& kept : blocks) kept = random() % 2;
    for (int64_t n = 0; s.q_lengths && n < s.b; ++n) q_lengths.push_back(1 + static_cast<int64_t>(random() % s.n_q));
    for (int64_t n = 0; s.kv_lengths && n < s.b; ++n) kv_lengths.push_back(1 + static_cast<int64_t>(random() % s.n_kv));
  }

  static int64_t blocks_of(int64_t n) { return (n + 3) / 4; }
  bool in_kept_block(int64_t i, int64_t j) const {
    return blocks.empty() || blocks[static_cast<size_t>(i / 4 * blocks_of(s.n_kv) + j / 4)] != 0;
  }
  int64_t q_length(int64_t n) const { return q_lengths.empty() ? s.n_q : q_lengths[static_cast<size_t>(n)]; }
  int64_t kv_length(int64_t n) const { return kv_lengths.empty() ? s.n_kv : kv_lengths[static_cast<size_t>(n)]; }
  int64_t position(int64_t n, int64_t i) const {
    return s.align == Align::top_left ? i : i + kv_length(n) - q_length(n);
  }
  bool mask_at(int64_t n, int64_t i, int64_t j) const {
    return mask.empty() || mask[static_cast<size_t>((n * s.n_q + i) * s.n_kv + j)] != 0;
  }
  double bias_at(int64_t h, int64_t i, int64_t j) const {
    return bias.empty() ? 0 : bias[static_cast<size_t>((h * s.n_q + i) * s.n_kv + j)];
  }
};

/// Any options, any sizes up to 130 rows.
inline Spec random_spec(std::mt19937_64& random, DType dtype) {
  const auto below = [&random](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const auto sometimes = [&below] { return below(4) == 0; };
  Spec s;
  s.dtype = dtype;
  s.seed = random();
  s.b = 1 + below(2);
  s.h_kv = 1 + below(3);
  s.h_q = s.h_kv * (1 + below(3));
  s.n_q = 1 + below(sometimes() ? 130 : 40);
  s.n_kv = below(3) == 0 ? 1 + below(130) : s.n_q;
  s.d_k = 1 + below(64);
  s.d_v = 1 + below(40);
  s.layout = sometimes() ? Layout::bnhd : Layout::bhnd;
  if (sometimes()) s.scale = 0.5 * static_cast<double>(below(4)) - 0.5;
  s.causal = below(2) == 0;
  s.align = sometimes() ? Align::top_left : Align::bottom_right;
  if (sometimes()) s.left = below(9);
  if (sometimes()) s.right = below(9);
  s.mask = sometimes();
  s.blocks = sometimes();
  s.bias = sometimes();
  s.alibi = sometimes();
  s.sinks = sometimes();
  s.q_lengths = sometimes();
  s.kv_lengths = sometimes();
  s.softcap = sometimes() ? 2.5 : 0;
  s.magnitude = sometimes() ? 6 : 1;
  s.lse = below(2) == 0;
  return s;
}

inline std::string about(const Spec& s) {
  return std::string(name_of(s.dtype)) + " b " + std::to_string(s.b) + " h " + std::to_string(s.h_q) + "/" +
         std::to_string(s.h_kv) + " n " + std::to_string(s.n_q) + "/" + std::to_string(s.n_kv) + " d " +
         std::to_string(s.d_k) + "/" + std::to_string(s.d_v) + " seed " + std::to_string(s.seed) +
         (s.causal ? " causal" : "") + (s.align == Align::top_left ? " top-left" : "") +
         (s.left >= 0 || s.right >= 0 ? " window " + std::to_string(s.left) + "," + std::to_string(s.right) : "") +
         (s.mask ? " mask" : "") + (s.blocks ? " blocks" : "") + (s.bias ? " bias" : "") + (s.alibi ? " alibi" : "") +
         (s.sinks ? " sinks" : "") + (s.q_lengths ? " q_lengths" : "") + (s.kv_lengths ? " kv_lengths" : "") +
         (s.softcap > 0 ? " softcap" : "") + (s.lse ? " lse" : "") + " magnitude " + std::to_string(s.magnitude) +
         (s.scale ? " scale " + std::to_string(*s.scale) : "");
}

enum class Axis { keys, queries, heads, batch, none };
enum class Again { no, over_all, over_shown };

/// The steps, right until one is put in another's place.
struct Recipe {
  const World& w;
  double scale;
  bool causal, use_mask = true, use_blocks = true, use_q_lengths = true, use_kv_lengths = true;
  std::function<bool(int64_t ahead)> in_causal = [](int64_t ahead) { return ahead <= 0; };
  std::function<int64_t(int64_t b, int64_t i)> position;
  int64_t left, right;
  /// From products, biases and ALiBi's terms to scores.
  std::function<double(double dot, double bias, double alibi)> combine;
  std::function<double(double dot, int64_t b, int64_t h, int64_t i, int64_t j)> score;
  std::function<double(double score, bool shown)> after_score = [](double s, bool) { return s; };
  std::function<int64_t(int64_t h)> key_head, value_head;
  std::function<size_t(int64_t b, int64_t h, int64_t j, int64_t d)> k_place;
  std::function<bool(int64_t b, int64_t h, int64_t i, int64_t j)> keep = [](auto...) { return true; };  ///< of weights
  std::function<double(double a)> dropped = [](double a) { return a; };
  Axis axis = Axis::keys;
  Again again = Again::no;
  bool shifted = true, divided = true, weights_transposed = false, sink_in_maximum = true;
  std::function<double(double top)> added_to_sum = [](double) { return 0.0; };
  int64_t length_off = 0;
  std::function<double(double sink, double top)> sink_share = [](double sink, double top) {
    return std::exp(sink - top);
  };
  std::function<double(double lse, double top, double z, double z_keys)> lse = [](double l, double, double, double) {
    return l;
  };
  double empty = 0;
  bool empty_is_mean = false;
  Layout inputs, out;
  DType stored = DType::none;  ///< scores and weights are rounded to it
  DType powers = DType::none;  ///< what exp gives is rounded to it
  bool swap_kv = false, swap_qk = false;

  explicit Recipe(const World& world)
      : w(world),
        scale(world.s.scale.value_or(1 / std::sqrt(static_cast<double>(world.s.d_k)))),
        causal(world.s.causal),
        left(world.s.left),
        right(world.s.right),
        inputs(world.s.layout),
        out(world.s.layout) {
    position = [this](int64_t b, int64_t i) { return w.position(b, i); };
    key_head = [this](int64_t h) { return h / (w.s.h_q / w.s.h_kv); };
    value_head = [this](int64_t h) { return key_head(h); };
    k_place = [this](int64_t b, int64_t h, int64_t j, int64_t d) {
      return place(inputs, w.s.h_kv, w.s.n_kv, w.s.d_k, b, h, j, d);
    };
    combine = [this](double dot, double bias, double alibi) { return capped(scale * dot) + bias - alibi; };
    score = [this](double dot, int64_t b, int64_t h, int64_t i, int64_t j) {
      return combine(dot, w.bias_at(h, i, j), alibi(b, h, i, j));
    };
  }

  double capped(double s) const { return w.s.softcap > 0 ? w.s.softcap * std::tanh(s / w.s.softcap) : s; }
  double alibi(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return w.slopes.empty() ? 0 : w.slopes[static_cast<size_t>(h)] * static_cast<double>(std::abs(position(b, i) - j));
  }
  bool shown(int64_t b, int64_t i, int64_t j) const {
    const int64_t ahead = j - position(b, i);
    return (!use_kv_lengths || j < w.kv_length(b) + length_off) && (!causal || in_causal(ahead)) &&
           (left < 0 || -ahead <= left) && (right < 0 || ahead <= right) && (!use_mask || w.mask_at(b, i, j)) &&
           (!use_blocks || w.in_kept_block(i, j));
  }
};

struct Result {
  std::vector<double> out, lse;
};

/// In float or double throughout, one sum after the other.
template <class Real>
class Cook {
 public:
  explicit Cook(const Recipe& recipe) : r_(recipe), w_(recipe.w), s_(recipe.w.s) {}

  Result run() {
    constexpr Real inf = std::numeric_limits<Real>::infinity();
    scores_.assign(static_cast<size_t>(s_.b * s_.h_q * s_.n_q * s_.n_kv), -inf);
    each_row([&](int64_t b, int64_t h, int64_t i) {
      for (int64_t j = 0; j < s_.n_kv; ++j) {
        const bool shown = r_.shown(b, i, j);
        const double s = shown ? r_.score(product(b, h, i, j), b, h, i, j) : -std::numeric_limits<double>::infinity();
        at(b, h, i, j) = static_cast<Real>(round_to(r_.after_score(s, shown), r_.stored));
      }
    });
    Result result;
    result.out.assign(static_cast<size_t>(s_.b * s_.h_q * s_.n_q * s_.d_v), 0);
    result.lse.assign(static_cast<size_t>(s_.b * s_.h_q * s_.n_q), -std::numeric_limits<double>::infinity());
    each_row([&](int64_t b, int64_t h, int64_t i) { finish_row(b, h, i, result); });
    return result;
  }

 private:
  template <class Use>
  void each_row(const Use& use) {
    for (int64_t b = 0; b < s_.b; ++b)
      for (int64_t h = 0; h < s_.h_q; ++h)
        for (int64_t i = 0; i < s_.n_q; ++i) use(b, h, i);
  }
  Real& at(int64_t b, int64_t h, int64_t i, int64_t j) {
    return scores_[static_cast<size_t>(((b * s_.h_q + h) * s_.n_q + i) * s_.n_kv + j)];
  }
  Real q(int64_t b, int64_t h, int64_t i, int64_t d) const {
    return static_cast<Real>(w_.q[place(r_.inputs, s_.h_q, s_.n_q, s_.d_k, b, h, i, d)]);
  }
  Real k(int64_t b, int64_t h, int64_t j, int64_t d) const { return static_cast<Real>(w_.k[r_.k_place(b, h, j, d)]); }
  Real v(int64_t b, int64_t h, int64_t j, int64_t d) const {
    if (r_.swap_kv) return k(b, h, j, d);
    return static_cast<Real>(w_.v[place(r_.inputs, s_.h_kv, s_.n_kv, s_.d_v, b, h, j, d)]);
  }
  Real product(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t g = r_.key_head(h);
    Real sum = 0;
    for (int64_t d = 0; d < s_.d_k; ++d) {
      if (r_.swap_qk) {
        sum += k(b, h, i, d) * q(b, g, j, d);
      } else if (r_.swap_kv) {
        sum += q(b, h, i, d) * static_cast<Real>(w_.v[place(r_.inputs, s_.h_kv, s_.n_kv, s_.d_v, b, g, j, d)]);
      } else {
        sum += q(b, h, i, d) * k(b, g, j, d);
      }
    }
    return sum;
  }

  /// The scores along the axis on which pair [b, h, i, j] is.
  std::vector<Real> line(int64_t b, int64_t h, int64_t i, int64_t j) {
    std::vector<Real> all;
    for (int64_t n = 0; r_.axis == Axis::keys && n < s_.n_kv; ++n) all.push_back(at(b, h, i, n));
    for (int64_t n = 0; r_.axis == Axis::queries && n < s_.n_q; ++n) all.push_back(at(b, h, n, j));
    for (int64_t n = 0; r_.axis == Axis::heads && n < s_.h_q; ++n) all.push_back(at(b, n, i, j));
    for (int64_t n = 0; r_.axis == Axis::batch && n < s_.b; ++n) all.push_back(at(n, h, i, j));
    return all;
  }

  Real power(Real x) const { return static_cast<Real>(round_to(static_cast<double>(std::exp(x)), r_.powers)); }

  struct Sum {
    Real top = 0, z = 0, z_keys = 0;
  };
  Sum sum_of(const std::vector<Real>& line, int64_t h) {
    constexpr Real inf = std::numeric_limits<Real>::infinity();
    const Real sink = w_.sinks.empty() ? -inf : static_cast<Real>(w_.sinks[static_cast<size_t>(h)]);
    Sum sum;
    sum.top = -inf;
    for (Real s : line) sum.top = std::max(sum.top, s);
    if (sum.top == -inf) return sum;
    if (r_.sink_in_maximum) sum.top = std::max(sum.top, sink);
    if (!r_.shifted) sum.top = 0;
    for (Real s : line) sum.z_keys += power(s - sum.top);
    sum.z_keys += static_cast<Real>(r_.added_to_sum(static_cast<double>(sum.top)));
    sum.z = sum.z_keys + (w_.sinks.empty() ? 0 : static_cast<Real>(r_.sink_share(sink, sum.top)));
    sum.z = static_cast<Real>(round_to(static_cast<double>(sum.z), r_.powers));
    return sum;
  }

  void finish_row(int64_t b, int64_t h, int64_t i, Result& result) {
    constexpr Real inf = std::numeric_limits<Real>::infinity();
    if (r_.use_q_lengths && i >= w_.q_length(b)) return;
    const auto row = static_cast<size_t>((b * s_.h_q + h) * s_.n_q + i);
    Sum sum;
    if (r_.axis == Axis::keys) {
      sum = sum_of(line(b, h, i, 0), h);
      if (sum.top == -inf) return empty_row(b, h, i, result);
      const double lse = static_cast<double>(sum.top + std::log(sum.z));
      result.lse[row] =
          r_.lse(lse, static_cast<double>(sum.top), static_cast<double>(sum.z), static_cast<double>(sum.z_keys));
    }
    std::vector<Real> weights = r_.weights_transposed ? weights_to(b, h, i) : weights_of(b, h, i, sum);
    const bool all = r_.weights_transposed || r_.again == Again::over_all;
    for (int64_t d = 0; d < s_.d_v; ++d) {
      Real o = 0;
      for (int64_t j = 0; j < s_.n_kv; ++j) {
        if (all || at(b, h, i, j) != -inf) o += weights[static_cast<size_t>(j)] * v(b, r_.value_head(h), j, d);
      }
      put(b, h, i, d, static_cast<double>(o), result);
    }
  }

  std::vector<Real> weights_of(int64_t b, int64_t h, int64_t i, Sum sum) {
    constexpr Real inf = std::numeric_limits<Real>::infinity();
    std::vector<Real> weights(static_cast<size_t>(s_.n_kv), 0);
    for (int64_t j = 0; j < s_.n_kv; ++j) {
      const Real s = at(b, h, i, j);
      Real& a = weights[static_cast<size_t>(j)];
      if (r_.axis == Axis::none) {
        a = s == -inf ? 0 : s;
      } else {
        if (r_.axis != Axis::keys) sum = sum_of(line(b, h, i, j), h);
        a = s == -inf ? 0 : power(s - sum.top) / (r_.divided ? sum.z : 1);
      }
      if (!r_.keep(b, h, i, j)) a = 0;
      a = static_cast<Real>(round_to(r_.dropped(static_cast<double>(a)), r_.stored));
    }
    if (r_.again == Again::no) return weights;
    Real z = 0;
    for (int64_t j = 0; j < s_.n_kv; ++j) {
      Real& a = weights[static_cast<size_t>(j)];
      z += a = r_.again == Again::over_shown && at(b, h, i, j) == -inf ? 0 : std::exp(a);
    }
    for (Real& a : weights) a /= z;
    return weights;
  }

  /// The weight that key i has for each query.
  std::vector<Real> weights_to(int64_t b, int64_t h, int64_t i) {
    std::vector<Real> weights;
    for (int64_t j = 0; j < s_.n_q; ++j) {
      const Sum sum = sum_of(line(b, h, j, 0), h);
      const Real s = at(b, h, j, i);
      weights.push_back(std::isinf(s) ? 0 : power(s - sum.top) / sum.z);
    }
    return weights;
  }

  void empty_row(int64_t b, int64_t h, int64_t i, Result& result) {
    if (!w_.sinks.empty())
      result.lse[static_cast<size_t>((b * s_.h_q + h) * s_.n_q + i)] = w_.sinks[static_cast<size_t>(h)];
    for (int64_t d = 0; d < s_.d_v; ++d) {
      Real mean = 0;
      for (int64_t j = 0; j < s_.n_kv; ++j) mean += v(b, r_.value_head(h), j, d) / static_cast<Real>(s_.n_kv);
      put(b, h, i, d, r_.empty_is_mean ? static_cast<double>(mean) : r_.empty, result);
    }
  }

  void put(int64_t b, int64_t h, int64_t i, int64_t d, double o, Result& result) {
    result.out[place(r_.out, s_.h_q, s_.n_q, s_.d_v, b, h, i, d)] = o;
  }

  const Recipe& r_;
  const World& w_;
  const Spec& s_;
  std::vector<Real> scores_;
};

inline Result cook(const Recipe& recipe) {
  return recipe.w.s.dtype == DType::f64 ? Cook<double>(recipe).run() : Cook<float>(recipe).run();
}

/// Numbers in a type's own memory.
struct Typed {
  std::vector<double> f64;
  std::vector<float> f32;
  std::vector<Float16> f16;
  std::vector<BFloat16> bf16;
  const void* data = nullptr;

  Typed(const std::vector<double>& from, DType dtype) {
    if (dtype == DType::f64) data = (f64 = from).data();
    for (double x : from) {
      if (dtype == DType::f32) f32.push_back(static_cast<float>(x));
      if (dtype == DType::f16) f16.push_back(Float16(x));
      if (dtype == DType::bf16) bf16.push_back(BFloat16(x));
    }
    if (dtype == DType::f32) data = f32.data();
    if (dtype == DType::f16) data = f16.data();
    if (dtype == DType::bf16) data = bf16.data();
  }
  Typed(const Typed&) = delete;
  Typed& operator=(const Typed&) = delete;
};

inline ConstTensor view_of(const Typed& typed, DType dtype, Layout layout, int64_t b, int64_t h, int64_t n, int64_t d) {
  ConstTensor t = view(static_cast<const double*>(nullptr), b, h, n, d, layout);
  t.data = typed.data;
  t.dtype = dtype;
  return t;
}

/// The arrays of a world as the library takes them, with its options.
struct Call {
  Typed q, k, v;
  ConstTensor q_view, k_view, v_view;
  AttentionOptions options;

  explicit Call(const World& w) : q(w.q, w.s.dtype), k(w.k, w.s.dtype), v(w.v, w.s.dtype) {
    const Spec& s = w.s;
    q_view = view_of(q, s.dtype, s.layout, s.b, s.h_q, s.n_q, s.d_k);
    k_view = view_of(k, s.dtype, s.layout, s.b, s.h_kv, s.n_kv, s.d_k);
    v_view = view_of(v, s.dtype, s.layout, s.b, s.h_kv, s.n_kv, s.d_v);
    options.scale = s.scale;
    options.causal = s.causal;
    options.align = s.align;
    options.window_left = s.left;
    options.window_right = s.right;
    options.softcap = s.softcap;
    static_assert(sizeof(bool) == sizeof(char));
    if (s.mask) options.mask = view(reinterpret_cast<const bool*>(w.mask.data()), s.b, 1, s.n_q, s.n_kv);
    if (s.blocks) {
      options.block_size = 4;
      options.blocks =
          view(reinterpret_cast<const bool*>(w.blocks.data()), 1, 1, World::blocks_of(s.n_q), World::blocks_of(s.n_kv));
    }
    if (s.bias) options.bias = view(w.bias.data(), 1, s.h_q, s.n_q, s.n_kv);
    if (s.alibi) options.alibi_slopes = view(w.slopes.data(), s.h_q);
    if (s.sinks) options.sinks = view(w.sinks.data(), s.h_q);
    if (s.q_lengths) options.q_lengths = view(w.q_lengths.data(), s.b);
    if (s.kv_lengths) options.kv_lengths = view(w.kv_lengths.data(), s.b);
  }
};

/// `stored`: the type of out; lse has the computing type.
inline diagnosis::Diagnosis diagnose(const World& w, const Result& result, DType stored) {
  const Spec& s = w.s;
  const Call call(w);
  const Typed out(result.out, stored);
  const DType computing = s.dtype == DType::f64 ? DType::f64 : DType::f32;
  const Typed lse(result.lse, computing);
  const ConstTensor lse_view = s.lse ? view_of(lse, computing, Layout::bhnd, s.b, s.h_q, s.n_q, 1) : ConstTensor();
  diagnosis::Diagnosis found;
  const Status status = diagnosis::diagnose(call.q_view, call.k_view, call.v_view,
                                            view_of(out, stored, s.layout, s.b, s.h_q, s.n_q, s.d_v), lse_view,
                                            call.options, s.layout, {}, &found);
  if (!status.ok()) throw std::runtime_error(status.message());
  return found;
}

inline diagnosis::Diagnosis diagnose(const World& w, const Result& result) { return diagnose(w, result, w.s.dtype); }

/// "mistake: scale-none = scale-d-k", for messages and comparisons.
inline std::string told(const diagnosis::Diagnosis& found) {
  std::string text = diagnosis::name_of(found.verdict);
  for (const diagnosis::Explanation& one : found.explanations) {
    text += &one == &found.explanations.front() ? ": " : " = ";
    for (const diagnosis::Mistake* mistake : one.mistakes) {
      text += (mistake == one.mistakes.front() ? "" : " + ") + std::string(mistake->id);
    }
  }
  return text;
}

}  // namespace foveate::planted

#endif  // FOVEATE_TESTS_PLANTED_H_
