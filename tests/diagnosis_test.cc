// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Each mistake that diagnosis/ knows, planted: is it found, and nothing else?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/planted.h"

namespace foveate {
namespace {

using diagnosis::Diagnosis;
using diagnosis::Verdict;
using planted::Axis;
using planted::Recipe;
using planted::Result;
using planted::Spec;
using planted::World;

/// A mistake: what must be meant for it to have a meaning, and how it is made.
struct Plant {
  const char* id;
  void (*mean)(Spec& spec);
  void (*make)(Recipe& recipe);
};

double root(int64_t n) { return std::sqrt(static_cast<double>(n)); }
void nothing(Spec&) {}
void causal(Spec& s) { s.causal = true; }
/// No row is without keys, so that all that are come of the mistake.
void causal_alone(Spec& s) {
  s.causal = true;
  s.mask = s.blocks = s.q_lengths = s.kv_lengths = false;
  s.n_kv = s.n_q;
}
void unequal(Spec& s) {
  s.causal = true;
  s.n_kv += 3;
}
void windowed(Spec& s) {
  s.left = s.n_kv / 3;
  s.right = 1;
}
void masked(Spec& s) { s.mask = true; }
void biased(Spec& s) { s.bias = true; }
void with_alibi(Spec& s) { s.alibi = true; }
void capped(Spec& s) { s.softcap = 1.5; }
void capped_and_biased(Spec& s) {
  capped(s);
  biased(s);
}
void many_heads(Spec& s) {
  if (s.h_q == 1) s.h_q = 2;
}
/// What a sink is along another axis, nobody has said.
void no_sinks(Spec& s) { s.sinks = false; }
void with_sinks(Spec& s) { s.sinks = true; }
void with_lse(Spec& s) { s.lse = true; }
void grouped(Spec& s) {
  s.h_kv = 2;
  s.h_q = 6;
}
void square(Spec& s) {
  s.n_q = s.n_kv;
  s.d_v = s.d_k;
  s.h_kv = s.h_q;
}
void two_sequences(Spec& s) {
  s.b = 2;
  s.sinks = false;
}
void padded(Spec& s) {
  s.b = 2;
  s.kv_lengths = true;
}
void large(Spec& s) { s.magnitude = s.dtype == DType::f64 ? 40 : 15; }
void with_empty_rows(Spec& s) {
  s.causal = true;
  s.n_q = s.n_kv + 3;
}

using Index = int64_t;

const std::vector<Plant> kScorePlants = {
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
auto lower_triangle(Recipe& r) {
  return [&r](Index b, Index i, Index j) { return j <= r.w.position(b, i) ? 1.0 : 0.0; };
}
auto mask_bits(Recipe& r) {
  return [&r](Index b, Index i, Index j) { return r.w.mask_at(b, i, j) ? 1.0 : 0.0; };
}

const std::vector<Plant> kMaskingPlants = {
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
       r.after_score = [](double s, bool) { return s; };
       const auto before = r.score;
       r.score = [&r, before](double dot, Index b, Index h, Index i, Index j) {
         return r.w.mask_at(b, i, j) ? -std::numeric_limits<double>::infinity() : before(dot, b, h, i, j);
       };
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

Layout other(Layout layout) { return layout == Layout::bhnd ? Layout::bnhd : Layout::bhnd; }

const std::vector<Plant> kArrayPlants = {
    {"layout-all", nothing, [](Recipe& r) { r.inputs = r.out = other(r.inputs); }},
    {"layout-all", [](Spec& s) { s.layout = Layout::bnhd; }, [](Recipe& r) { r.inputs = r.out = other(r.inputs); }},
    {"layout-inputs", nothing, [](Recipe& r) { r.inputs = other(r.inputs); }},
    {"layout-out", nothing, [](Recipe& r) { r.out = other(r.out); }},
    {"layout-out", [](Spec& s) { s.layout = Layout::bnhd; }, [](Recipe& r) { r.out = other(r.out); }},
    {"heads-tiled", grouped, [](Recipe& r) { r.key_head = [&r](Index h) { return h % r.w.s.h_kv; }; }},
    {"k-v-swapped", square, [](Recipe& r) { r.swap_kv = true; }},
    {"q-k-swapped", square, [](Recipe& r) { r.swap_qk = true; }},
};

/// Sizes: odd, one head of a group, longer and shorter.
std::vector<Spec> sizes(DType dtype) {
  std::vector<Spec> all = {{.b = 1, .h_q = 2, .h_kv = 2, .n_q = 7, .n_kv = 7, .d_k = 5, .d_v = 6},
                           {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 33, .n_kv = 33, .d_k = 16, .d_v = 16},
                           {.b = 1, .h_q = 3, .h_kv = 3, .n_q = 130, .n_kv = 130, .d_k = 64, .d_v = 32}};
  for (Spec& spec : all) spec.dtype = dtype;
  return all;
}

bool is_explained_by(const Diagnosis& found, const std::string& id) {
  return std::ranges::any_of(found.explanations, [&id](const diagnosis::Explanation& one) {
    return one.mistakes.size() == 1 && one.mistakes.front()->id == id;
  });
}

void expect_found(const Plant& plant, Spec spec) {
  plant.mean(spec);
  const World world(spec);
  Recipe recipe(world);
  plant.make(recipe);
  const Diagnosis found = planted::diagnose(world, planted::cook(recipe));
  SCOPED_TRACE(std::string(plant.id) + " " + name_of(spec.dtype) + " n " + std::to_string(spec.n_q) + " told " +
               planted::told(found));
  EXPECT_EQ(found.verdict, Verdict::mistake);
  EXPECT_TRUE(is_explained_by(found, plant.id));
  EXPECT_LE(found.explanations.size(), 2u);
  EXPECT_GT(found.differing_rows, 0);
}

void expect_all_found(const std::vector<Plant>& plants, DType dtype) {
  for (const Plant& plant : plants) {
    uint64_t seed = 100;
    for (Spec spec : sizes(dtype)) {
      spec.seed = ++seed;
      expect_found(plant, spec);
    }
  }
}

class Planted : public ::testing::TestWithParam<DType> {};

TEST_P(Planted, MistakesInScoresAreFound) { expect_all_found(kScorePlants, GetParam()); }
TEST_P(Planted, MistakesInMaskingAreFound) { expect_all_found(kMaskingPlants, GetParam()); }
TEST_P(Planted, MistakesInArraysAreFound) { expect_all_found(kArrayPlants, GetParam()); }

/// All but what another test plants.
TEST(Plants, AreAllThereAre) {
  std::set<std::string> planted = {"heads-for-positions"}, known;
  for (const std::vector<Plant>* plants : {&kScorePlants, &kMaskingPlants, &kArrayPlants}) {
    for (const Plant& plant : *plants) planted.insert(plant.id);
  }
  for (const diagnosis::Mistake& mistake : diagnosis::all_mistakes()) {
    const bool elsewhere = mistake.kind == diagnosis::Kind::rounding || mistake.kind == diagnosis::Kind::dropout;
    if (!elsewhere) known.insert(mistake.id);
  }
  EXPECT_EQ(planted, known);
}

/// Right, or the mistake planted, and maybe others that do the same: no other alone, whatever else is asked for.
TEST(Plants, AreFoundOrDoNothingWhateverElseIsMeant) {
  std::mt19937_64 random(21);
  int found_at_all = 0, tried = 0;
  for (const std::vector<Plant>* plants : {&kScorePlants, &kMaskingPlants, &kArrayPlants}) {
    for (const Plant& plant : *plants) {
      for (int n = 0; n < 8; ++n) {
        Spec spec = planted::random_spec(random, DType::f32);
        plant.mean(spec);
        if (spec.h_q % spec.h_kv != 0) spec.h_q = spec.h_kv;
        const World world(spec);
        Recipe recipe(world);
        plant.make(recipe);
        const Diagnosis found = planted::diagnose(world, planted::cook(recipe));
        ++tried;
        found_at_all += found.verdict == Verdict::mistake;
        EXPECT_TRUE(found.verdict == Verdict::right || is_explained_by(found, plant.id))
            << plant.id << " in " << planted::about(spec) << ": " << planted::told(found);
      }
    }
  }
  EXPECT_GT(found_at_all, tried / 2);
}

/// scaled_dot_product_attention of [b, n, h, d]: each position attends over its heads.
TEST(Plants, HeadsForPositions) {
  for (const bool is_causal : {false, true}) {
    const World world({.h_q = 5, .h_kv = 5, .n_q = 12, .n_kv = 12, .d_k = 8, .d_v = 4, .causal = is_causal});
    Result result;
    result.out.assign(5 * 12 * 4, 0);
    for (size_t i = 0; i < 12; ++i) {
      for (size_t h = 0; h < 5; ++h) {
        float weights[5] = {}, z = 0;
        for (size_t g = 0; g < (is_causal ? h + 1 : 5); ++g) {
          float dot = 0;
          for (size_t d = 0; d < 8; ++d)
            dot += static_cast<float>(world.q[(h * 12 + i) * 8 + d] * world.k[(g * 12 + i) * 8 + d]);
          z += weights[g] = std::exp(dot / std::sqrt(8.0f));
        }
        for (size_t g = 0; g < 5; ++g)
          for (size_t d = 0; d < 4; ++d)
            result.out[(h * 12 + i) * 4 + d] += static_cast<double>(weights[g] / z) * world.v[(g * 12 + i) * 4 + d];
      }
    }
    EXPECT_EQ(planted::told(planted::diagnose(world, result)), "mistake: heads-for-positions");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Planted, ::testing::Values(DType::f32, DType::f64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace foveate
