// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Calls of linear attention made of a few numbers, by hand, at random or from a fuzzer's bytes: arrays that lie
// anywhere, with NaN in all that is never to be read, and the judge of what a call writes.
#ifndef FOVEATE_TESTS_LINEAR_CASE_H_
#define FOVEATE_TESTS_LINEAR_CASE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "foveate/linear.h"
#include "reference/arrays.h"
#include "reference/linear.h"
#include "tests/linear_bound.h"
#include "tests/placed.h"
#include "tests/random_spec.h"
#include "tests/stored.h"
#include "tests/thread_executor.h"

namespace foveate::trial {

struct LinearSpec {
  int64_t b = 1, h_q = 1, h_kv = 1, n_q = 1, n_kv = 1, d_k = 8, d_v = 8;
  bool causal = false;
  Align align = Align::bottom_right;
  std::optional<int64_t> q_offset = {};
  std::optional<Whole> mask = {};  ///< the axis of queries has extent 1 always
  int64_t masked = 4;              ///< one key in so many takes no part
  bool q_lengths = false, kv_lengths = false;

  /// What arrays are stored as; none: the computing type. float64 goes with itself alone, whatever these say.
  DType q_type = DType::none, k_type = DType::none, v_type = DType::none;
  DType dq_type = DType::none, dk_type = DType::none, dv_type = DType::none;
  Placement q_in = {}, k_in = {}, v_in = {}, mask_in = {}, o_in = {}, d_o_in = {}, dq_in = {}, dk_in = {}, dv_in = {};
  int64_t length_stride = 1;
  bool want_dq = true, want_dk = true, want_dv = true;

  double magnitude = 1;     ///< of q and k
  int64_t not_finite = 0;   ///< so many elements of q, k, v and d_o are
  bool infinities = false;  ///< some of these Inf; else all NaN
  int64_t workers = 0;      ///< of an executor; 0: none
  bool own_workspace = false;
  uint64_t seed = 1;
};

inline std::ostream& operator<<(std::ostream& out, const LinearSpec& s) {
  out << "b " << s.b << " h " << s.h_q << '/' << s.h_kv << " n_q " << s.n_q << " n_kv " << s.n_kv << " d " << s.d_k
      << '/' << s.d_v << " seed " << s.seed << (s.causal ? " causal" : "")
      << (s.align == Align::top_left ? " top-left" : "");
  if (s.q_offset) out << " q_offset " << *s.q_offset;
  if (s.mask) out << " mask " << *s.mask << " one in " << s.masked;
  out << (s.q_lengths ? " q_lengths" : "") << (s.kv_lengths ? " kv_lengths" : "");
  print_type(out, " q ", s.q_type);
  print_type(out, " k ", s.k_type);
  print_type(out, " v ", s.v_type);
  print_type(out, " dq ", s.dq_type);
  print_type(out, " dk ", s.dk_type);
  print_type(out, " dv ", s.dv_type);
  return out << " in " << s.q_in << ' ' << s.k_in << ' ' << s.v_in << ' ' << s.mask_in << ' ' << s.o_in << ' '
             << s.d_o_in << ' ' << s.dq_in << ' ' << s.dk_in << ' ' << s.dv_in << " length_stride " << s.length_stride
             << " wants " << s.want_dq << s.want_dk << s.want_dv << " magnitude " << s.magnitude << " not_finite "
             << s.not_finite << (s.infinities ? " Inf" : "") << " workers " << s.workers
             << (s.own_workspace ? " own_workspace" : "");
}

/// A spec at random, whose oracle takes so many multiply-adds at most.
inline LinearSpec random_linear_spec(Choices& c, int64_t multiply_adds) {
  LinearSpec s;
  s.b = c.one_of<int64_t>({1, 1, 1, 2, 3, 0});
  s.h_kv = 1 + c.below(3);
  s.h_q = s.h_kv * c.one_of<int64_t>({1, 1, 2, 3, 5, 0});
  s.n_q = random_extent(c, 2100, {1, 2, 7, 8, 9, 63, 64, 65, 129, 200, 1023, 1025, 2049});
  s.n_kv = random_extent(c, 2100, {1, 2, 7, 8, 9, 63, 64, 65, 129, 200, 1023, 1024, 1025, 2049});
  s.d_k = std::max<int64_t>(1, random_extent(c, 40, {1, 2, 3, 4, 7, 8, 9, 16, 17, 33}));
  s.d_v = random_extent(c, 40, {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33});
  const auto shrink = [&](int64_t& extent) {
    const int64_t all = s.b * s.h_q * s.n_q * s.n_kv * (s.d_k + s.d_v);
    if (all > multiply_adds) extent = std::max<int64_t>(1, extent * multiply_adds / all);
  };
  c.one_in(2) ? shrink(s.n_q) : shrink(s.n_kv);
  shrink(s.n_kv);
  shrink(s.n_q);

  s.causal = !c.one_in(3);
  s.align = c.one_in(3) ? Align::top_left : Align::bottom_right;
  if (c.one_in(3)) {
    s.q_offset =
        c.one_of<int64_t>({0, 1, -1, -70, 63, 64, 100, 1000, 1024, 3000, int64_t{1} << 60, -(int64_t{1} << 60)});
  }
  if (c.one_in(3)) s.mask = random_whole(c);
  s.masked = c.one_of<int64_t>({4, 2, 50, 1});
  s.q_lengths = c.one_in(4);
  s.kv_lengths = c.one_in(4);
  for (DType* type : {&s.q_type, &s.k_type, &s.v_type, &s.dq_type, &s.dk_type, &s.dv_type}) {
    if (c.one_in(3)) *type = c.one_of({DType::f32, DType::f16, DType::bf16});
  }
  for (Placement* place : {&s.q_in, &s.k_in, &s.v_in, &s.mask_in, &s.d_o_in}) *place = random_placement(c, true);
  for (Placement* place : {&s.o_in, &s.dq_in, &s.dk_in, &s.dv_in}) *place = random_placement(c, false);
  s.length_stride = c.one_of<int64_t>({1, 2, -1});
  s.want_dq = !c.one_in(6);
  s.want_dk = !c.one_in(6);
  s.want_dv = !c.one_in(6) || !(s.want_dq || s.want_dk);
  s.magnitude = c.one_of<double>({1, 0.1, 3});
  s.not_finite = c.one_in(3) ? 1 + c.below(4) : 0;
  s.infinities = c.one_in(2);
  s.workers = c.one_of<int64_t>({0, 0, 1, 2, 3});
  s.own_workspace = c.one_in(3);
  s.seed = static_cast<uint64_t>(c.below(1 << 16));
  return s;
}

/// The call of a spec, computed in T.
template <class T>
class LinearCase {
 public:
  using Real = std::conditional_t<std::is_same_v<T, double>, long double, double>;

  explicit LinearCase(const LinearSpec& s)
      : spec(s),
        q(type(s.q_type), {s.b, s.h_q, s.n_q, s.d_k}, s.q_in),
        k(type(s.k_type), {s.b, s.h_kv, s.n_kv, s.d_k}, s.k_in),
        v(type(s.v_type), {s.b, s.h_kv, s.n_kv, s.d_v}, s.v_in),
        d_o(type(s.q_type), {s.b, s.h_q, s.n_q, s.d_v}, s.d_o_in),
        o(type(s.q_type), {s.b, s.h_q, s.n_q, s.d_v}, s.o_in),
        dq(type(s.dq_type), q.shape(), s.dq_in),
        dk(type(s.dk_type), k.shape(), s.dk_in),
        dv(type(s.dv_type), v.shape(), s.dv_in),
        random_(s.seed) {
    options.causal = s.causal;
    options.align = s.align;
    options.q_offset = s.q_offset;
    if (s.q_lengths) options.q_lengths = draw_lengths(s.n_q, q_lengths_, stored_q_lengths_);
    if (s.kv_lengths) options.kv_lengths = draw_lengths(s.n_kv, kv_lengths_, stored_kv_lengths_);
    draw_mask();
    draw_numbers();
    if (s.workers > 0) executor_ = std::make_unique<ThreadExecutor>(static_cast<int>(s.workers));
  }
  LinearCase(const LinearCase&) = delete;
  LinearCase& operator=(const LinearCase&) = delete;

  LinearShape shape() const {
    return {spec.b, spec.h_q, spec.h_kv, spec.n_q, spec.n_kv, spec.d_k, spec.d_v, q.dtype()};
  }

  LinearGradients gradients() {
    LinearGradients all;
    if (spec.want_dq) all.dq = dq.writable();
    if (spec.want_dk) all.dk = dk.writable();
    if (spec.want_dv) all.dv = dv.writable();
    return all;
  }

  Status attend() {
    o.clear();
    return with_execution(false, [&](const Execution& execution) {
      return linear_attention(q.view(), k.view(), v.view(), o.writable(), options, execution);
    });
  }

  Status differentiate() {
    for (Stored* gradient : {&dq, &dk, &dv}) gradient->clear();
    return with_execution(true, [&](const Execution& execution) {
      return linear_attention_backward(q.view(), k.view(), v.view(), d_o.view(), gradients(), options, execution);
    });
  }

  /// The same for the oracle.
  reference::linear::Problem<Real> problem() const {
    const LinearSpec& s = spec;
    reference::linear::Problem<Real> p = {s.b, s.h_q, s.h_kv, s.n_q, s.n_kv, s.d_k, s.d_v};
    p.q = reference::widened<Real>(q.packed());
    p.k = reference::widened<Real>(k.packed());
    p.v = reference::widened<Real>(v.packed());
    p.causal = s.causal;
    p.top_left = s.align == Align::top_left;
    p.q_offset = s.q_offset;
    if (s.mask) p.mask = reference::broadcast(packed_mask(), mask_.shape(), {s.b, s.h_kv, 1, s.n_kv});
    p.q_lengths = q_lengths_;
    p.kv_lengths = kv_lengths_;
    return p;
  }

  reference::linear::Result<Real> expected_output() const { return reference::linear::attention(problem()); }
  reference::linear::Gradients<Real> expected_gradients() const {
    return reference::linear::attention_backward(problem(), reference::widened<Real>(d_o.packed()));
  }

  bool inputs_intact() const {
    return q.padding_intact() && k.padding_intact() && v.padding_intact() && d_o.padding_intact();
  }
  bool untouched() const { return o.untouched() && dq.untouched() && dk.untouched() && dv.untouched(); }

  LinearSpec spec;
  LinearOptions options;
  Stored q, k, v, d_o, o, dq, dk, dv;

 private:
  static DType type(DType wanted) {
    return std::is_same_v<T, double> ? DType::f64 : wanted == DType::none ? DType::f32 : wanted;
  }

  ConstVector draw_lengths(int64_t n, std::vector<int64_t>& lengths, Stored& stored) {
    for (int64_t b = 0; b < spec.b; ++b) {
      const auto any = static_cast<int64_t>(random_() % static_cast<uint64_t>(n + 1));
      lengths.push_back(random_() % 4 == 0 ? n : any);
    }
    stored = Stored(random_() % 2 == 0 ? DType::i64 : DType::i32, spec.b, spec.length_stride);
    size_t next = 0;
    stored.fill([&] { return static_cast<double>(lengths[next++]); });
    return stored.vector();
  }

  void draw_mask() {
    if (!spec.mask) return;
    const Whole& whole = *spec.mask;
    mask_ = Placed<unsigned char>({whole[0] ? spec.b : 1, whole[1] ? spec.h_kv : 1, 1, whole[3] ? spec.n_kv : 1},
                                  spec.mask_in);
    mask_.each([&](unsigned char& x) { x = random_() % static_cast<uint64_t>(spec.masked) != 0; });
    options.mask = mask_.view();
  }

  std::vector<char> packed_mask() const {
    std::vector<char> packed;
    for (const unsigned char x : mask_.packed()) packed.push_back(static_cast<char>(x));
    return packed;
  }

  /// Normal numbers, some not finite, and NaN wherever nothing takes part, unless that is some other element, too.
  void draw_numbers() {
    std::normal_distribution<double> normal;
    q.fill([&] { return spec.magnitude * normal(random_); });
    k.fill([&] { return spec.magnitude * normal(random_); });
    v.fill([&] { return normal(random_); });
    d_o.fill([&] { return normal(random_); });
    Stored* const arrays[] = {&q, &k, &v, &d_o};
    for (int64_t i = 0; i < spec.not_finite; ++i) spoil(*arrays[random_() % 4]);
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const reference::linear::Problem<Real> p = problem();
    const auto poison = [&](Stored& array, const Placement& in, const auto& is_there) {
      const Shape& n = array.shape();
      for (int64_t b = 0; !in.repeats() && b < n[0]; ++b)
        for (int64_t h = 0; h < n[1]; ++h)
          for (int64_t i = 0; i < n[2]; ++i)
            for (int64_t d = 0; d < n[3]; ++d)
              if (!is_there(b, h, i)) array.set(b, h, i, d, kNaN);
    };
    const auto row = [&](int64_t b, int64_t, int64_t i) { return i < reference::linear::q_length(p, b); };
    const auto key = [&](int64_t b, int64_t h, int64_t j) {
      return j < reference::linear::kv_length(p, b) &&
             (p.mask.empty() || p.mask[static_cast<size_t>((b * spec.h_kv + h) * spec.n_kv + j)] != 0);
    };
    poison(q, spec.q_in, row);
    poison(d_o, spec.d_o_in, row);
    poison(k, spec.k_in, key);
    poison(v, spec.v_in, key);
  }

  void spoil(Stored& array) {
    if (array.size() == 0) return;
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kValues[] = {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf};
    int64_t at[4];
    for (int axis = 0; axis < 4; ++axis) {
      at[axis] = static_cast<int64_t>(random_() % static_cast<uint64_t>(array.shape()[static_cast<size_t>(axis)]));
    }
    array.set(at[0], at[1], at[2], at[3], kValues[spec.infinities ? random_() % 3 : 0]);
  }

  template <class Body>
  Status with_execution(bool backward, const Body& body) {
    Execution execution{.executor = executor_.get()};
    std::vector<char> memory;
    if (spec.own_workspace) {
      LinearPlan plan;
      const Status status = linear_attention_plan(shape(), std::max<int64_t>(1, spec.workers), &plan);
      if (!status.ok()) return status;
      memory.assign(backward ? plan.backward_workspace_bytes : plan.workspace_bytes, static_cast<char>(0xff));  // NaN
      execution.workspace = memory.data();
      execution.workspace_bytes = memory.size();
    }
    return body(execution);
  }

  std::mt19937_64 random_;
  Placed<unsigned char> mask_;
  std::vector<int64_t> q_lengths_, kv_lengths_;
  Stored stored_q_lengths_, stored_kv_lengths_;
  std::unique_ptr<ThreadExecutor> executor_;
};

/// What is wrong with an array, in words; none if nothing is. Where the exact number is NaN or Inf, which of them comes
/// out may depend on the order of sums, unless all that was not finite was NaN.
template <class Real>
std::string judge_array(const char* name, const Stored& got, const std::vector<Real>& exact,
                        const std::vector<Real>& magnitude, long double factor, bool infinities) {
  std::ostringstream words;
  const std::vector<double> numbers = got.packed();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto x = static_cast<long double>(numbers[i]), y = static_cast<long double>(exact[i]);
    const long double error = factor * static_cast<long double>(magnitude[i]);
    const long double bound = error + storing_error(got.dtype(), std::abs(y) + error);
    const bool well = std::isfinite(y) ? std::abs(x - y) <= bound : infinities ? !std::isfinite(x) : std::isnan(x);
    if (well && !(x == 0 && std::signbit(x))) continue;
    words << name << '[' << i << "]: " << x << ", not " << y << " within " << bound << "; ";
    return words.str();
  }
  if (!got.padding_intact()) words << name << ": written to beside its elements; ";
  return words.str();
}

template <class T>
std::string judge_output(const LinearCase<T>& call,
                         const reference::linear::Result<typename LinearCase<T>::Real>& expected) {
  const LinearBound bound = linear_bound<T>(call.problem());
  return judge_array("o", call.o, expected.o, expected.abs_o, bound.o, call.spec.infinities);
}

template <class T>
std::string judge_gradients(const LinearCase<T>& call,
                            const reference::linear::Gradients<typename LinearCase<T>::Real>& expected) {
  const LinearBound bound = linear_bound<T>(call.problem());
  const LinearSpec& s = call.spec;
  const auto judge = [&](const char* name, bool wanted, const Stored& got, const auto& exact, const auto& magnitude,
                         long double factor) -> std::string {
    if (wanted) return judge_array(name, got, exact, magnitude, factor, s.infinities);
    return got.untouched() ? "" : std::string(name) + ": written to, though not asked for; ";
  };
  return judge("dq", s.want_dq, call.dq, expected.dq, expected.abs_dq, bound.dq) +
         judge("dk", s.want_dk, call.dk, expected.dk, expected.abs_dk, bound.dk) +
         judge("dv", s.want_dv, call.dv, expected.dv, expected.abs_dv, bound.dv);
}

}  // namespace foveate::trial

#endif  // FOVEATE_TESTS_LINEAR_CASE_H_
