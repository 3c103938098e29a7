// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Each mistake that diagnosis/ knows, as it is planted: what must be meant for it to have a meaning, and how it is made.
#ifndef FOVEATE_TESTS_PLANTED_MISTAKES_H_
#define FOVEATE_TESTS_PLANTED_MISTAKES_H_

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tests/planted.h"

namespace foveate::planted {

/// A mistake: what must be meant for it to have a meaning, and how it is made.
struct Plant {
  const char* id;
  void (*mean)(Spec& spec);
  void (*make)(Recipe& recipe);
};

inline double root(int64_t n) { return std::sqrt(static_cast<double>(n)); }
inline void nothing(Spec&) {}
inline void causal(Spec& s) { s.causal = true; }
/// No row is without keys, so that all that are come of the mistake.
inline void causal_alone(Spec& s) {
  s.causal = true;
  s.mask = s.blocks = s.q_lengths = s.kv_lengths = false;
  s.n_kv = s.n_q;
}
inline void unequal(Spec& s) {
  s.causal = true;
  s.n_kv += 3;
}
inline void windowed(Spec& s) {
  s.left = s.n_kv / 3;
  s.right = 1;
}
inline void masked(Spec& s) { s.mask = true; }
inline void biased(Spec& s) { s.bias = true; }
inline void with_alibi(Spec& s) { s.alibi = true; }
inline void capped(Spec& s) { s.softcap = 1.5; }
inline void capped_and_biased(Spec& s) {
  capped(s);
  biased(s);
}
inline void many_heads(Spec& s) {
  if (s.h_q == 1) s.h_q = 2;
}
/// What a sink is along another axis, nobody has said.
inline void no_sinks(Spec& s) { s.sinks = false; }
inline void with_sinks(Spec& s) { s.sinks = true; }
inline void with_lse(Spec& s) { s.lse = true; }
inline void grouped(Spec& s) {
  s.h_kv = 2;
  s.h_q = 6;
}
inline void square(Spec& s) {
  s.n_q = s.n_kv;
  s.d_v = s.d_k;
  s.h_kv = s.h_q;
}
inline void two_sequences(Spec& s) {
  s.b = 2;
  s.sinks = false;
}
inline void padded(Spec& s) {
  s.b = 2;
  s.kv_lengths = true;
}
inline void padded_causal(Spec& s) {
  padded(s);
  s.causal = true;
  s.align = Align::bottom_right;
}
inline void square_alone(Spec& s) {
  square(s);
  s.sinks = s.q_lengths = false;
}
inline void windowed_alone(Spec& s) {
  windowed(s);
  s.causal = false;
}
inline void capped_and_biased_without_sinks(Spec& s) {
  capped_and_biased(s);
  s.sinks = false;
}
inline void biased_square(Spec& s) {
  s.bias = true;
  s.n_q = s.n_kv;
}
inline void biased_heads(Spec& s) {
  s.bias = true;
  many_heads(s);
}
inline void alibi_heads(Spec& s) {
  s.alibi = true;
  many_heads(s);
}
inline void large(Spec& s) { s.magnitude = s.dtype == DType::f64 ? 40 : 15; }
inline void with_empty_rows(Spec& s) {
  s.causal = true;
  s.n_q = s.n_kv + 3;
}

using Index = int64_t;

inline const std::vector<Plant> kScorePlants = {
    {"scale-none", nothing, [](Recipe& r) { r.scale = 1; }},
    {"scale-d-k", nothing, [](Recipe& r) { r.scale = 1 / static_cast<double>(r.w.s.d_k); }},
    {"scale-root-d-model", many_heads, [](Recipe& r) { r.scale = 1 / root(r.w.s.h_q * r.w.s.d_k); }},
    {"scale-d-model", many_heads, [](Recipe& r) { r.scale = 1 / static_cast<double>(r.w.s.h_q * r.w.s.d_k); }},
    {"scale-twice", nothing, [](Recipe& r) { r.scale *= r.scale; }},
    {"scale-twice", [](Spec& s) { s.scale = 0.3; }, [](Recipe& r) { r.scale = 0.09; }},
    {"scale-default", [](Spec& s) { s.scale = 0.3; }, [](Recipe& r) { r.scale = 1 / root(r.w.s.d_k); }},
    {"scale-multiplied", nothing, [](Recipe& r) { r.scale = root(r.w.s.d_k); }},
    {"softmax-over-queries", no_sinks, [](Recipe& r) { r.axis = Axis::queries; }},
    {"softmax-over-heads", no_sinks, [](Recipe& r) { r.axis = Axis::heads; }},
    {"softmax-over-batch", two_sequences, [](Recipe& r) { r.axis = Axis::batch; }},
    {"softmax-none", nothing, [](Recipe& r) { r.axis = Axis::none; }},
    {"no-maximum-shift", large, [](Recipe& r) { r.shifted = false; }},
    {"bias-forgotten", biased,
     [](Recipe& r) { r.combine = [&r](double dot, double, double alibi) { return r.capped(r.scale * dot) - alibi; }; }},
    {"bias-subtracted", biased,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.capped(r.scale * dot) - bias - alibi; };
     }},
    {"bias-before-scale", biased,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.capped(r.scale * (dot + bias)) - alibi; };
     }},
    {"alibi-forgotten", with_alibi,
     [](Recipe& r) { r.combine = [&r](double dot, double bias, double) { return r.capped(r.scale * dot) + bias; }; }},
    {"alibi-sign", with_alibi,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.capped(r.scale * dot) + bias + alibi; };
     }},
    {"alibi-before-scale", with_alibi,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.capped(r.scale * (dot - alibi)) + bias; };
     }},
    {"softcap-forgotten", capped,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.scale * dot + bias - alibi; };
     }},
    {"softcap-after-bias", capped_and_biased,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.capped(r.scale * dot + bias - alibi); };
     }},
    {"softcap-after-mask",
     [](Spec& s) {
       capped(s);
       masked(s);
       s.bias = s.alibi = false;
     },
     [](Recipe& r) { r.after_score = [&r](double s, bool shown) { return shown ? s : -r.w.s.softcap; }; }},
    {"sink-forgotten", with_sinks,
     [](Recipe& r) {
       r.sink_in_maximum = false;
       r.sink_share = [](double, double) { return 0.0; };
     }},
    {"sink-not-shifted", with_sinks,
     [](Recipe& r) {
       r.sink_in_maximum = false;
       r.sink_share = [](double sink, double) { return std::exp(sink); };
     }},
    {"lse-base-2", with_lse,
     [](Recipe& r) { r.lse = [](double l, double, double, double) { return l / std::log(2.0); }; }},
    {"lse-without-maximum", with_lse,
     [](Recipe& r) { r.lse = [](double, double, double z, double) { return std::log(z); }; }},
    {"lse-without-sink",
     [](Spec& s) {
       with_lse(s);
       with_sinks(s);
     },
     [](Recipe& r) { r.lse = [](double, double top, double, double keys) { return top + std::log(keys); }; }},
    {"weights-transposed", square_alone, [](Recipe& r) { r.weights_transposed = true; }},
    {"softmax-twice", nothing, [](Recipe& r) { r.again = Again::over_all; }},
    {"softmax-twice", causal, [](Recipe& r) { r.again = Again::over_shown; }},
    {"softmax-twice", causal, [](Recipe& r) { r.again = Again::over_all; }},
    {"sum-not-divided", no_sinks, [](Recipe& r) { r.divided = false; }},
    {"sum-not-divided-unshifted", no_sinks, [](Recipe& r) { r.divided = r.shifted = false; }},
    {"base-2", capped_and_biased_without_sinks,
     [](Recipe& r) { r.after_score = [](double s, bool) { return s * std::log(2.0); }; }},
    {"base-2", no_sinks, [](Recipe& r) { r.after_score = [](double s, bool) { return s * std::log(2.0); }; }},
    {"one-added",
     [](Spec& s) {
       no_sinks(s);
       s.magnitude = 1;  // where exp(-max) is finite
     },
     [](Recipe& r) { r.added_to_sum = [](double top) { return std::exp(-top); }; }},
    {"one-added", no_sinks, [](Recipe& r) { r.added_to_sum = [](double) { return 1.0; }; }},
    {"bias-transposed", biased_square,
     [](Recipe& r) {
       r.score = [&r](double dot, Index b, Index h, Index i, Index j) {
         return r.combine(dot, r.w.bias_at(h, j, i), r.alibi(b, h, i, j));
       };
     }},
    {"bias-of-head-0", biased_heads,
     [](Recipe& r) {
       r.score = [&r](double dot, Index b, Index h, Index i, Index j) {
         return r.combine(dot, r.w.bias_at(0, i, j), r.alibi(b, h, i, j));
       };
     }},
    {"alibi-slopes-reversed", alibi_heads,
     [](Recipe& r) {
       r.score = [&r](double dot, Index b, Index h, Index i, Index j) {
         return r.combine(dot, r.w.bias_at(h, i, j), r.alibi(b, r.w.s.h_q - 1 - h, i, j));
       };
     }},
    {"softcap-not-multiplied", capped,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) {
         return r.capped(r.scale * dot) / r.w.s.softcap + bias - alibi;
       };
     }},
    {"softcap-before-scale", capped,
     [](Recipe& r) {
       r.combine = [&r](double dot, double bias, double alibi) { return r.scale * r.capped(dot) + bias - alibi; };
     }},
    {"lse-sum", with_lse, [](Recipe& r) { r.lse = [](double l, double, double, double) { return std::exp(l); }; }},
};

/// Hides by a rule in place of the mask or the causal rule.
template <class Rule>
void add_to_scores(Recipe& r, const Rule& addend) {
  const auto before = r.score;
  r.score = [before, addend](double dot, Index b, Index h, Index i, Index j) {
    return before(dot, b, h, i, j) + addend(b, i, j);
  };
}
template <class Rule>
void multiply_scores(Recipe& r, const Rule& factor) {
  const auto before = r.score;
  r.score = [before, factor](double dot, Index b, Index h, Index i, Index j) {
    return before(dot, b, h, i, j) * factor(b, i, j);
  };
}
template <class Rule>
void hide_unless(Recipe& r, const Rule& shown) {
  const auto before = r.score;
  r.score = [before, shown](double dot, Index b, Index h, Index i, Index j) {
    return shown(b, i, j) ? before(dot, b, h, i, j) : -std::numeric_limits<double>::infinity();
  };
}
inline auto lower_triangle(Recipe& r) {
  return [&r](Index b, Index i, Index j) { return j <= r.w.position(b, i) ? 1.0 : 0.0; };
}
inline auto mask_bits(Recipe& r) {
  return [&r](Index b, Index i, Index j) { return r.w.mask_at(b, i, j) ? 1.0 : 0.0; };
}

inline const std::vector<Plant> kMaskingPlants = {
    {"causal-forgotten", causal, [](Recipe& r) { r.causal = false; }},
    {"alignment-other", unequal, [](Recipe& r) { r.position = [](Index, Index i) { return i; }; }},
    {"alignment-other",
     [](Spec& s) {
       unequal(s);
       s.align = Align::top_left;
     },
     [](Recipe& r) { r.position = [&r](Index, Index i) { return i + r.w.s.n_kv - r.w.s.n_q; }; }},
    {"positions-by-padding",
     [](Spec& s) {
       padded(s);
       causal(s);
       s.align = Align::bottom_right;
     },
     [](Recipe& r) { r.position = [&r](Index, Index i) { return i + r.w.s.n_kv - r.w.s.n_q; }; }},
    {"causal-strict", causal, [](Recipe& r) { r.in_causal = [](Index ahead) { return ahead < 0; }; }},
    {"causal-strict", causal_alone,
     [](Recipe& r) {
       r.in_causal = [](Index ahead) { return ahead < 0; };
       r.empty = std::numeric_limits<double>::quiet_NaN();
     }},
    {"causal-reversed", causal, [](Recipe& r) { r.in_causal = [](Index ahead) { return ahead >= 0; }; }},
    {"causal-inverted", causal_alone,
     [](Recipe& r) {
       r.in_causal = [](Index ahead) { return ahead > 0; };
       r.empty_is_mean = true;
     }},
    {"causal-added", causal,
     [](Recipe& r) {
       r.causal = false;
       add_to_scores(r, lower_triangle(r));
     }},
    {"causal-multiplied", causal,
     [](Recipe& r) {
       r.causal = false;
       multiply_scores(r, lower_triangle(r));
     }},
    {"causal-after-softmax", causal,
     [](Recipe& r) {
       r.causal = false;
       r.keep = [&r](Index b, Index, Index i, Index j) { return j <= r.w.position(b, i); };
     }},
    {"window-forgotten", windowed, [](Recipe& r) { r.left = r.right = -1; }},
    {"window-left-short", windowed, [](Recipe& r) { --r.left; }},
    {"window-left-long", windowed, [](Recipe& r) { ++r.left; }},
    {"window-right-short", windowed, [](Recipe& r) { --r.right; }},
    {"window-right-long", windowed, [](Recipe& r) { ++r.right; }},
    {"mask-forgotten", masked, [](Recipe& r) { r.use_mask = false; }},
    {"mask-inverted", masked,
     [](Recipe& r) {
       r.use_mask = false;
       hide_unless(r, [&r](Index b, Index i, Index j) { return !r.w.mask_at(b, i, j); });
     }},
    {"mask-added", masked,
     [](Recipe& r) {
       r.use_mask = false;
       add_to_scores(r, mask_bits(r));
     }},
    {"mask-multiplied", masked,
     [](Recipe& r) {
       r.use_mask = false;
       multiply_scores(r, mask_bits(r));
     }},
    {"mask-after-softmax", masked,
     [](Recipe& r) {
       r.use_mask = false;
       r.keep = [&r](Index b, Index, Index i, Index j) { return r.w.mask_at(b, i, j); };
     }},
    {"causal-unmeant", [](Spec& s) { s.causal = false; }, [](Recipe& r) { r.causal = true; }},
    {"causal-unmeant",
     [](Spec& s) {
       s.causal = s.alibi = s.q_lengths = s.kv_lengths = false;
       s.align = Align::bottom_right;
       s.left = s.right = -1;
       s.n_kv = s.n_q + 3;
     },
     [](Recipe& r) {
       r.causal = true;
       r.position = [](Index, Index i) { return i; };
     }},
    {"window-left-forgotten", windowed_alone, [](Recipe& r) { r.left = -1; }},
    {"window-right-forgotten", windowed_alone, [](Recipe& r) { r.right = -1; }},
    {"mask-transposed",
     [](Spec& s) {
       masked(s);
       s.n_q = s.n_kv;
     },
     [](Recipe& r) {
       r.use_mask = false;
       hide_unless(r, [&r](Index b, Index i, Index j) { return r.w.mask_at(b, j, i); });
     }},
    {"mask-or-causal",
     [](Spec& s) {
       masked(s);
       causal(s);
     },
     [](Recipe& r) {
       r.use_mask = r.causal = false;
       hide_unless(r, [&r](Index b, Index i, Index j) { return r.w.mask_at(b, i, j) || j <= r.w.position(b, i); });
     }},
    {"kv-lengths-long", padded, [](Recipe& r) { r.length_off = 1; }},
    {"kv-lengths-short", padded, [](Recipe& r) { r.length_off = -1; }},
    {"kv-lengths-short", padded_causal,
     [](Recipe& r) {
       r.length_off = -1;
       r.position = [&r](Index b, Index i) { return r.w.position(b, i) - 1; };
     }},
    {"blocks-forgotten", [](Spec& s) { s.blocks = true; }, [](Recipe& r) { r.use_blocks = false; }},
    {"kv-lengths-ignored", padded, [](Recipe& r) { r.use_kv_lengths = false; }},
    {"kv-lengths-ignored",
     [](Spec& s) {
       padded(s);
       causal(s);
       s.align = Align::bottom_right;
     },
     [](Recipe& r) {
       r.use_kv_lengths = false;
       r.position = [&r](Index, Index i) { return i + r.w.s.n_kv - r.w.s.n_q; };
     }},
    {"q-lengths-ignored",
     [](Spec& s) {
       s.b = 2;
       s.q_lengths = true;
     },
     [](Recipe& r) { r.use_q_lengths = false; }},
    {"empty-row-nan", with_empty_rows, [](Recipe& r) { r.empty = std::numeric_limits<double>::quiet_NaN(); }},
    {"empty-row-mean", with_empty_rows, [](Recipe& r) { r.empty_is_mean = true; }},
};

inline Layout other(Layout layout) { return layout == Layout::bhnd ? Layout::bnhd : Layout::bhnd; }

inline const std::vector<Plant> kArrayPlants = {
    {"layout-all", nothing, [](Recipe& r) { r.inputs = r.out = other(r.inputs); }},
    {"layout-all", [](Spec& s) { s.layout = Layout::bnhd; }, [](Recipe& r) { r.inputs = r.out = other(r.inputs); }},
    {"layout-inputs", nothing, [](Recipe& r) { r.inputs = other(r.inputs); }},
    {"layout-out", nothing, [](Recipe& r) { r.out = other(r.out); }},
    {"layout-out", [](Spec& s) { s.layout = Layout::bnhd; }, [](Recipe& r) { r.out = other(r.out); }},
    {"heads-tiled", grouped, [](Recipe& r) { r.key_head = [&r](Index h) { return h % r.w.s.h_kv; }; }},
    {"k-heads-tiled", grouped,
     [](Recipe& r) {
       r.key_head = [&r](Index h) { return h % r.w.s.h_kv; };
       r.value_head = [&r](Index h) { return h / (r.w.s.h_q / r.w.s.h_kv); };
     }},
    {"v-heads-tiled", grouped, [](Recipe& r) { r.value_head = [&r](Index h) { return h % r.w.s.h_kv; }; }},
    {"heads-first", grouped, [](Recipe& r) { r.key_head = [](Index) { return 0; }; }},
    {"k-reshaped", [](Spec& s) { s.layout = Layout::bhnd; },
     [](Recipe& r) {
       r.k_place = [&r](Index b, Index h, Index j, Index d) {
         const Spec& s = r.w.s;
         return static_cast<size_t>((b * s.h_kv + h) * s.n_kv * s.d_k + d * s.n_kv + j);
       };
     }},
    {"k-not-transposed", [](Spec& s) { s.d_k = s.n_kv; },
     [](Recipe& r) {
       r.k_place = [&r](Index b, Index h, Index j, Index d) {
         return place(r.inputs, r.w.s.h_kv, r.w.s.n_kv, r.w.s.d_k, b, h, d, j);
       };
     }},
    {"k-v-swapped", square, [](Recipe& r) { r.swap_kv = true; }},
    {"q-k-swapped", square, [](Recipe& r) { r.swap_qk = true; }},
};

}  // namespace foveate::planted

#endif  // FOVEATE_TESTS_PLANTED_MISTAKES_H_
