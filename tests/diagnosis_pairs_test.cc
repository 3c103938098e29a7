// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Two mistakes at once, types that round, and dropout.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "diagnosis/dropout.h"
#include "diagnosis/search.h"
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
using Ids = std::multiset<std::string>;

Spec base(DType dtype = DType::f32) {
  return {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 21, .d_k = 12, .d_v = 12, .dtype = dtype, .causal = true};
}

Layout other(Layout layout) { return layout == Layout::bhnd ? Layout::bnhd : Layout::bhnd; }

bool told_by(const Diagnosis& found, const Ids& ids) {
  return std::ranges::any_of(found.explanations, [&ids](const diagnosis::Explanation& one) {
    Ids told;
    for (const diagnosis::Mistake* mistake : one.mistakes) told.insert(mistake->id);
    return told == ids;
  });
}

void expect_pair(const Spec& spec, void (*make)(Recipe&), const Ids& ids) {
  const World world(spec);
  Recipe recipe(world);
  make(recipe);
  const Diagnosis found = planted::diagnose(world, planted::cook(recipe));
  EXPECT_EQ(found.verdict, Verdict::two_mistakes) << planted::told(found);
  EXPECT_TRUE(told_by(found, ids)) << planted::told(found) << " in place of " << *ids.begin();
  EXPECT_LE(found.explanations.size(), 3u) << planted::told(found);
}

class Pairs : public ::testing::TestWithParam<DType> {};

TEST_P(Pairs, AreFound) {
  Spec spec = base(GetParam());
  expect_pair(spec, [](Recipe& r) { r.scale = 1, r.causal = false; }, {"scale-none", "causal-forgotten"});
  expect_pair(spec,
              [](Recipe& r) {
                r.scale *= static_cast<double>(r.w.s.d_k), r.in_causal = [](int64_t ahead) { return ahead < 0; };
              },
              {"scale-multiplied", "causal-strict"});
  expect_pair(spec, [](Recipe& r) { r.scale = 1, r.key_head = [](int64_t h) { return h % 2; }; },
              {"scale-none", "heads-tiled"});
  expect_pair(spec, [](Recipe& r) { r.out = other(r.out), r.key_head = [](int64_t h) { return h % 2; }; },
              {"layout-out", "heads-tiled"});
  expect_pair(spec, [](Recipe& r) { r.inputs = other(r.inputs), r.causal = false; },
              {"layout-inputs", "causal-forgotten"});
  expect_pair(spec, [](Recipe& r) { r.axis = Axis::queries, r.scale = 1; }, {"softmax-over-queries", "scale-none"});
  expect_pair(spec, [](Recipe& r) { r.axis = Axis::heads, r.causal = false; },
              {"softmax-over-heads", "causal-forgotten"});
  expect_pair(spec, [](Recipe& r) { r.swap_kv = true, r.causal = false; }, {"k-v-swapped", "causal-forgotten"});
  spec.left = 5;
  expect_pair(spec, [](Recipe& r) { ++r.left, r.scale = 1; }, {"window-left-long", "scale-none"});
  spec = base(GetParam());
  spec.mask = spec.sinks = true;
  expect_pair(spec, [](Recipe& r) { r.use_mask = false, r.sink_share = [](double, double) { return 0.0; }; },
              {"mask-forgotten", "sink-forgotten"});
  spec = base(GetParam());
  spec.alibi = spec.bias = true;
  expect_pair(
      spec, [](Recipe& r) { r.score = [&r](double dot, int64_t, int64_t, int64_t, int64_t) { return r.scale * dot; }; },
      {"bias-forgotten", "alibi-forgotten"});
  expect_pair(spec, [](Recipe& r) { r.divided = false, r.scale = 1; }, {"sum-not-divided", "scale-none"});
  expect_pair(spec, [](Recipe& r) { r.weights_transposed = true, r.causal = false; },
              {"weights-transposed", "causal-forgotten"});
  expect_pair(spec,
              [](Recipe& r) {
                r.scale = 1;
                r.value_head = [](int64_t h) { return h % 2; };
                r.key_head = [](int64_t h) { return h / 2; };
              },
              {"scale-none", "v-heads-tiled"});
  spec = base(GetParam());
  spec.lse = true;
  expect_pair(
      spec, [](Recipe& r) { r.scale = 1, r.lse = [](double l, double, double, double) { return l / std::log(2.0); }; },
      {"scale-none", "lse-base-2"});
}

INSTANTIATE_TEST_SUITE_P(Types, Pairs, ::testing::Values(DType::f32, DType::f64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(Pairs, AStructureAndARounding) {
  const World world(base());
  World rounded = world;
  for (std::vector<double>* array : {&rounded.q, &rounded.k, &rounded.v}) {
    for (double& x : *array) x = planted::round_to(x, DType::f16);
  }
  Recipe recipe(rounded);
  recipe.scale = 1;
  const Diagnosis found = planted::diagnose(world, planted::cook(recipe));
  EXPECT_EQ(found.verdict, Verdict::two_mistakes) << planted::told(found);
  EXPECT_TRUE(told_by(found, {"scale-none", "rounded-inputs-f16"})) << planted::told(found);
}

/// In 16 bits a mistake is one too.
TEST(Narrow, MistakesAreFound) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const auto expect_mistake = [dtype](void (*make)(Recipe&), const char* id) {
      const World world(base(dtype));
      Recipe recipe(world);
      recipe.stored = dtype;
      make(recipe);
      const Diagnosis found = planted::diagnose(world, planted::cook(recipe));
      EXPECT_EQ(found.verdict, Verdict::mistake) << planted::told(found) << " in place of " << id;
      EXPECT_TRUE(told_by(found, {id})) << planted::told(found) << " in place of " << id;
      EXPECT_EQ(found.precision, dtype);
    };
    expect_mistake([](Recipe& r) { r.scale = 1; }, "scale-none");
    expect_mistake([](Recipe& r) { r.causal = false; }, "causal-forgotten");
    expect_mistake([](Recipe& r) { r.axis = Axis::queries; }, "softmax-over-queries");
    expect_mistake([](Recipe& r) { r.key_head = [](int64_t h) { return h % 2; }; }, "heads-tiled");
    expect_mistake([](Recipe& r) { r.out = other(r.out); }, "layout-out");
  }
}

/// exp overflows float16 from 11.1 on.
TEST(Narrow, AMissingShiftIsFound) {
  Spec spec = base(DType::f16);
  spec.magnitude = 2.5;
  const World world(spec);
  Recipe recipe(world);
  recipe.stored = recipe.powers = DType::f16;
  recipe.shifted = false;
  EXPECT_EQ(planted::told(planted::diagnose(world, planted::cook(recipe))), "mistake: no-maximum-shift");
}

/// Where the sum overflows in every row, NaN is all there is: any scale beside a missing shift would explain it.
TEST(Narrow, AMissingShiftThatLeavesOnlyNaNIsOneMistake) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const DType powers : {dtype, DType::f32}) {
      for (const double magnitude : {8.0, 15.0, 30.0}) {
        Spec spec = base(dtype);
        spec.causal = false;
        spec.d_k = 20;
        spec.magnitude = magnitude;
        const World world(spec);
        Recipe recipe(world);
        recipe.stored = dtype;
        recipe.powers = powers;
        recipe.shifted = false;
        const Diagnosis found = planted::diagnose(world, planted::cook(recipe));
        EXPECT_EQ(found.verdict, Verdict::mistake) << planted::told(found) << " " << magnitude;
        EXPECT_TRUE(told_by(found, {"no-maximum-shift"})) << planted::told(found) << " " << magnitude;
      }
    }
  }
}

TEST(Rounding, OfInputsIsFound) {
  const auto expect_rounding = [](DType dtype, DType to, const char* id) {
    const World world(base(dtype));
    World rounded = world;
    for (std::vector<double>* array : {&rounded.q, &rounded.k, &rounded.v}) {
      for (double& x : *array) x = planted::round_to(x, to);
    }
    const Diagnosis found = planted::diagnose(world, planted::cook(Recipe(rounded)));
    EXPECT_EQ(planted::told(found), std::string("mistake: ") + id);
  };
  expect_rounding(DType::f32, DType::f16, "rounded-inputs-f16");
  expect_rounding(DType::f32, DType::bf16, "rounded-inputs-bf16");
  expect_rounding(DType::f64, DType::f32, "rounded-inputs-f32");
  expect_rounding(DType::f64, DType::bf16, "rounded-inputs-bf16");
}

TEST(Rounding, OfAllThatIsComputedIsFound) {
  for (const auto& [to, id] : {std::pair(DType::f16, "computed-in-f16"), std::pair(DType::bf16, "computed-in-bf16")}) {
    for (const bool inputs_too : {true, false}) {
      const World world(base());
      World rounded = world;
      for (std::vector<double>* array : {&rounded.q, &rounded.k, &rounded.v}) {
        for (double& x : *array) x = inputs_too ? planted::round_to(x, to) : x;
      }
      Recipe recipe(rounded);
      recipe.stored = to;
      Result result = planted::cook(recipe);
      for (double& x : result.out) x = planted::round_to(x, to);
      EXPECT_EQ(planted::told(planted::diagnose(world, result)), std::string("mistake: ") + id);
    }
  }
  World world(base(DType::f64));
  world.s.dtype = DType::f32;  // in floats
  Result result = planted::cook(Recipe(world));
  world.s.dtype = DType::f64;
  EXPECT_EQ(planted::told(planted::diagnose(world, result)), "mistake: computed-in-f32");
}

Result with_dropout(const World& world, double probability, bool rescaled) {
  std::mt19937_64 random(17);
  std::bernoulli_distribution drops(probability);
  Recipe recipe(world);
  recipe.dropped = [&](double a) { return drops(random) ? 0 : rescaled ? a / (1 - probability) : a; };
  return planted::cook(recipe);
}

TEST(DropoutLeftOn, IsFoundWithItsProbability) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const double p : {0.1, 0.2, 0.5}) {
      Spec spec = base(dtype);
      spec.n_q = spec.n_kv = 40;
      spec.d_v = 64;
      spec.causal = p != 0.2;
      const World world(spec);
      Diagnosis found = planted::diagnose(world, with_dropout(world, p, true));
      EXPECT_EQ(planted::told(found), "mistake: dropout-on");
      EXPECT_NEAR(found.dropout, p, 0.005);
      found = planted::diagnose(world, with_dropout(world, p, false));
      EXPECT_EQ(planted::told(found), "mistake: dropout-not-rescaled");
      EXPECT_NEAR(found.dropout, p, 0.05);
    }
  }
}

TEST(DropoutLeftOn, IsFoundInSmallProblemsToo) {
  int found_at_all = 0, tried = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    for (const double p : {0.1, 0.3, 0.5}) {
      for (const bool rescaled : {true, false}) {
        Spec spec = base();
        spec.n_q = spec.n_kv = 16 + 7 * static_cast<int64_t>(seed % 3);
        spec.d_v = 32;
        spec.causal = seed % 2 == 0;
        spec.seed = seed;
        const World world(spec);
        const Diagnosis found = planted::diagnose(world, with_dropout(world, p, rescaled));
        const std::string id = rescaled ? "dropout-on" : "dropout-not-rescaled";
        EXPECT_TRUE(found.verdict == Verdict::unknown || planted::told(found) == "mistake: " + id)
            << planted::told(found);
        ++tried;
        found_at_all += found.verdict == Verdict::mistake;
      }
    }
  }
  EXPECT_GE(found_at_all, tried - 1);
}

/// Rows of the weights of one head, which somebody changes before they meet the values.
using Weights = std::vector<std::vector<double>>;

template <class Change>
Result with_weights(const World& world, const Change& change) {
  const Spec& s = world.s;
  const auto n = static_cast<size_t>(s.n_q), d_k = static_cast<size_t>(s.d_k), d_v = static_cast<size_t>(s.d_v);
  Result result;
  result.out.assign(static_cast<size_t>(s.b * s.h_q) * n * d_v, 0);
  for (size_t head = 0; head < static_cast<size_t>(s.b * s.h_q); ++head) {
    Weights weights(n, std::vector<double>(n, 0));
    for (size_t i = 0; i < n; ++i) {
      double z = 0;
      for (size_t j = 0; j < (s.causal ? i + 1 : n); ++j) {
        double dot = 0;
        for (size_t d = 0; d < d_k; ++d) dot += world.q[(head * n + i) * d_k + d] * world.k[(head * n + j) * d_k + d];
        z += weights[i][j] = std::exp(dot / std::sqrt(static_cast<double>(d_k)));
      }
      for (double& a : weights[i]) a /= z;
    }
    change(weights, head);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        for (size_t d = 0; d < d_v; ++d)
          result.out[(head * n + i) * d_v + d] += weights[i][j] * world.v[(head * n + j) * d_v + d];
  }
  return result;
}

/// Rules that leave weights out. Each is wrong, and no dropout.
const std::pair<const char*, void (*)(Weights& weights, size_t head)> kRules[] = {
    {"the diagonal",
     [](Weights& w, size_t) {
       for (size_t i = 0; i < w.size(); ++i) w[i][i] = 0;
     }},
    {"small ones",
     [](Weights& w, size_t) {
       for (auto& row : w)
         for (double& a : row) a = a <= 0.05 ? 0 : a;
     }},
    {"the first key",
     [](Weights& w, size_t) {
       for (auto& row : w) row.front() = 0;
     }},
    {"the last key",
     [](Weights& w, size_t) {
       for (auto& row : w) row.back() = 0;
     }},
    {"every second key",
     [](Weights& w, size_t) {
       for (auto& row : w)
         for (size_t j = 0; j < row.size(); j += 2) row[j] = 0;
     }},
    {"half the keys, others in each head",
     [](Weights& w, size_t head) {
       std::mt19937_64 random(head);
       for (size_t j = 0; j < w.size(); ++j) {
         const bool zero = random() % 2 == 0;
         for (auto& row : w) row[j] = zero ? 0 : row[j];
       }
     }},
    {"the largest",
     [](Weights& w, size_t) {
       for (auto& row : w) *std::ranges::max_element(row) = 0;
     }},
    {"the smallest",
     [](Weights& w, size_t) {
       for (auto& row : w) *std::ranges::min_element(row) = 0;
     }},
    {"one of each row, anywhere",
     [](Weights& w, size_t head) {
       std::mt19937_64 random(head);
       for (auto& row : w) row[random() % row.size()] = 0;
     }},
    {"one in four rows",
     [](Weights& w, size_t) {
       for (size_t i = 0; i < 4; ++i) w[i][i / 2] = 0;
     }},
    {"every second row",
     [](Weights& w, size_t) {
       for (size_t i = 0; i < w.size(); i += 2) w[i].assign(w.size(), 0);
     }},
    {"a checkerboard",
     [](Weights& w, size_t) {
       for (size_t i = 0; i < w.size(); ++i)
         for (size_t j = i % 2; j < w.size(); j += 2) w[i][j] = 0;
     }},
    {"pairs at random, the same in each head",
     [](Weights& w, size_t) {
       std::mt19937_64 random(5);
       for (auto& row : w)
         for (double& a : row) a = random() % 3 == 0 ? 0 : a;
     }},
    {"pairs at random, and rows divided by what is left",
     [](Weights& w, size_t head) {
       std::mt19937_64 random(head);
       for (auto& row : w) {
         double z = 0;
         for (double& a : row) z += a = random() % 3 == 0 ? 0 : a;
         for (double& a : row) a /= z > 0 ? z : 1;
       }
     }},
    {"P^T",
     [](Weights& w, size_t) {
       for (size_t i = 0; i < w.size(); ++i)
         for (size_t j = 0; j < i; ++j) std::swap(w[i][j], w[j][i]);
     }},
};

bool is_dropout(const World& world, const Result& result) {
  const Spec& s = world.s;
  const planted::Call call(world);
  const planted::Typed out(result.out, s.dtype);
  const diagnosis::Problem problem(call.q_view, call.k_view, call.v_view,
                                   planted::view_of(out, s.dtype, s.layout, s.b, s.h_q, s.n_q, s.d_v), {}, call.options,
                                   s.layout);
  return diagnosis::find_dropout(problem, diagnosis::rows_to_compare(problem)).has_value();
}

TEST(DropoutLeftOn, IsNoRule) {
  for (const auto& [name, change] : kRules) {
    for (const int64_t n : {6, 16, 30}) {
      for (uint64_t seed = 0; seed < 10; ++seed) {
        const World world({.b = 2, .h_q = 2, .h_kv = 2, .n_q = n, .n_kv = n, .d_k = 32, .d_v = 32, .seed = seed});
        EXPECT_FALSE(is_dropout(world, with_weights(world, change))) << name << ", n " << n << " seed " << seed;
      }
    }
  }
}

TEST(DropoutLeftOn, IsNoVerdictWhereWeightsCannotBeSolvedFor) {
  Spec spec = base();
  spec.causal = false;
  spec.n_q = spec.n_kv = 60;
  spec.d_v = 8;
  const World world(spec);
  EXPECT_EQ(planted::diagnose(world, with_dropout(world, 0.1, true)).verdict, Verdict::unknown);
}

TEST(Pairs, ThreeMistakesAreUnknown) {
  const World world(base());
  Recipe recipe(world);
  recipe.scale = 1;
  recipe.causal = false;
  recipe.out = other(recipe.out);
  EXPECT_EQ(planted::told(planted::diagnose(world, planted::cook(recipe))), "unknown");
}

}  // namespace
}  // namespace foveate
