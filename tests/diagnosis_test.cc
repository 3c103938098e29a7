// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// Each mistake that diagnosis/ knows, planted: is it found, and nothing else?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/planted_mistakes.h"

namespace foveate {
namespace {

using diagnosis::Diagnosis;
using diagnosis::Verdict;
using planted::kArrayPlants;
using planted::kMaskingPlants;
using planted::kScorePlants;
using planted::Plant;
using planted::Recipe;
using planted::Result;
using planted::Spec;
using planted::World;

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
      for (int n = 0; n < 5; ++n) {
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

/// The right result, but in one head of each sequence, or in the last rows of each head.
Result mixed(const World& world, const Result& right, const Result& wrong, bool by_head) {
  const Spec& s = world.s;
  Result result = right;
  for (int64_t b = 0; b < s.b; ++b)
    for (int64_t h = 0; h < s.h_q; ++h)
      for (int64_t i = 0; i < s.n_q; ++i) {
        if (by_head ? h != s.h_q - 1 : i < s.n_q / 2) continue;
        for (int64_t d = 0; d < s.d_v; ++d) {
          const size_t at = planted::place(s.layout, s.h_q, s.n_q, s.d_v, b, h, i, d);
          result.out[at] = wrong.out[at];
        }
      }
  return result;
}

TEST(WrongRows, MistakesAreFoundThere) {
  for (const std::vector<Plant>* plants : {&kScorePlants, &kMaskingPlants, &kArrayPlants}) {
    int found_at_all = 0, tried = 0;
    for (const Plant& plant : *plants) {
      if (std::string(plant.id).starts_with("lse-")) continue;
      for (const bool by_head : {true, false}) {
        Spec spec = {.b = 2, .h_q = 4, .h_kv = 2, .n_q = 21, .n_kv = 21, .d_k = 16, .d_v = 16};
        plant.mean(spec);
        spec.lse = false;
        const World world(spec);
        const Recipe recipe(world);
        Recipe with_mistake(world);
        plant.make(with_mistake);
        const Diagnosis found =
            planted::diagnose(world, mixed(world, planted::cook(recipe), planted::cook(with_mistake), by_head));
        if (found.verdict == Verdict::right) continue;
        ++tried;
        found_at_all += is_explained_by(found, plant.id);
        EXPECT_TRUE(found.verdict == Verdict::unknown || is_explained_by(found, plant.id))
            << plant.id << " told " << planted::told(found);
        if (found.scope == diagnosis::Scope::wrong_rows) {
          EXPECT_EQ(found.explanations.front().rows_compared, found.differing_rows) << plant.id;
        }
      }
    }
    EXPECT_GT(found_at_all,
              tried / 2);  // NaN alone tells nothing, nor does an out that is read where it was not written
  }
}

TEST(WrongRows, NoiseInSomeIsNoMistake) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (int n = 0; n < 40; ++n) {
      Spec spec = planted::random_spec(random, dtype);
      spec.n_q = 8 + n % 13;
      const World world(spec);
      Recipe recipe(world);
      if (size_of(dtype) == 2) recipe.stored = dtype;
      Result result = planted::cook(recipe);
      const double size = std::pow(10.0, -1 - static_cast<double>(random() % (size_of(dtype) == 2 ? 3 : 6)));
      const auto every = static_cast<int64_t>(2 + random() % 5);
      for (size_t at = 0; at < result.out.size(); ++at) {
        if (static_cast<int64_t>(at) / spec.d_v % every == 0) result.out[at] += size * normal(random);
      }
      const Diagnosis found = planted::diagnose(world, result);
      EXPECT_TRUE(found.explanations.empty())
          << planted::told(found) << " of noise of " << size << " in " << planted::about(spec);
    }
  }
}

TEST(Hints, TellWhatRightRowsHaveInCommon) {
  const World world({.h_q = 2, .h_kv = 2, .n_q = 24, .n_kv = 24, .d_k = 8, .d_v = 8, .causal = true});
  const Result right = planted::cook(Recipe(world));
  const auto changed = [&](bool of_last, double factor) {
    Result result = right;
    std::mt19937_64 random(2);
    for (size_t row = 0; row < 48; ++row) {
      if (of_last ? row % 24 == 23 : row % 24 == 0) continue;
      for (size_t d = 0; d < 8; ++d) result.out[row * 8 + d] += factor * static_cast<double>(random() % 7 + 1);
    }
    return planted::diagnose(world, result);
  };
  EXPECT_EQ(changed(true, 0.1).hint, diagnosis::Hint::masking);
  EXPECT_EQ(changed(false, 0.1).hint, diagnosis::Hint::scores);
  Result result = right;
  for (double& x : result.out) x *= 0.75;
  EXPECT_NEAR(planted::diagnose(world, result).factor, 0.75, 1e-6);
  result.out[5] += 0.01;
  EXPECT_EQ(planted::diagnose(world, result).factor, 1);
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
