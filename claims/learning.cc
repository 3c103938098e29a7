// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// What scores are good for: models that differ in their score alone learn associative recall (recall.h) by the engine's
// gradients. Initial parameters and batches go by the seed alone, so that scores are compared seed by seed.
//
// That additive and dot-product attention are alike where d_k is small, and that the unscaled product falls behind where it
// is large, is often ascribed to Attention Is All You Need (arXiv:1706.03762). Its section 3.2.1 cites Britz et al. 2017
// (arXiv:1703.03906) for it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>

#include "claims/claim.h"
#include "claims/recall_learner.h"
#include "claims/recall_scores.h"

namespace foveate::claims {
namespace {

// Of rates from 0.001 to 0.01, the one that all scores learn well at.
constexpr double kRate = 0.003;
constexpr size_t kSteps = 1000, kStepsOfLarge = 400, kLast = 100;
constexpr size_t kPoints = 10;  // of a curve
constexpr int32_t kSmall = 8, kLarge = 128;
// Of as many features: at 8, additive attention took more than 1000 steps with one seed of twenty.
constexpr int32_t kAdditiveDims[] = {16, 64};

// Alike: shares of right answers that differ by less than 2 in 100, all of the interval.
constexpr double kAlike = 0.02, kNearlyAlike = 0.05;
// Behind: by more than 10 in 100 of all that was asked on the way.
constexpr double kBehind = 0.1;

struct Way {
  const char* name;
  Text what;
  std::unique_ptr<RecallScore> (*score)(int32_t d_k);
};

using Score = std::unique_ptr<RecallScore>;

const Way kProduct = {"product", {"q·k/√d_k", "q·k/√d_k"}, [](int32_t d_k) -> Score {
                        return std::make_unique<DotScore>(std::sqrt(d_k));
                      }};
const Way kUnscaled = {"unscaled", {"q·k", "q·k"}, [](int32_t) -> Score { return std::make_unique<DotScore>(1); }};
const Way kAdditive = {
    "additive", {"additive", "加性"}, [](int32_t) -> Score { return std::make_unique<AdditiveScore>(); }};

/// Ways to score, several seeds each, at one d_k.
class Comparison {
 public:
  Comparison(const Run& run, const char* experiment, int32_t d_k, size_t steps, std::vector<const Way*> ways)
      : d_k_(d_k), steps_(steps), window_(steps / kPoints), ways_(std::move(ways)) {
    Normal normal = run.normal(experiment);
    const RecallShape shape{.d_k = d_k, .symbols = 32, .pairs = 16};
    for (const Way* way : ways_) scores_.push_back(way->score(d_k));
    for (int64_t seed = 0; seed < run.samples(8, 4); ++seed) {
      const uint64_t of_parameters = normal.random()(), of_batches = normal.random()();
      for (const Score& score : scores_) {
        Normal start(of_parameters);
        pupils_.push_back({Random(of_batches), {shape, *score, initial_recall(shape, *score, start), kRate}, window_});
      }
    }
  }

  /// Part `part` of the experiment's `parts`.
  void learn(const Run& run, size_t part = 0, size_t parts = 1) {
    for (size_t point = 0; point < kPoints; ++point) {
      const auto one = [](void* pupils, int64_t i, int64_t) { static_cast<Pupil*>(pupils)[i].learn(); };
      if (run.executor != nullptr) {
        run.executor->run(std::ssize(pupils_), one, pupils_.data());
      } else {
        for (int64_t i = 0; i < std::ssize(pupils_); ++i) one(pupils_.data(), i, 0);
      }
      for (const Pupil& pupil : pupils_) require_ok(pupil.status);
      run.step(static_cast<int64_t>(part * kPoints + point + 1), static_cast<int64_t>(parts * kPoints));
    }
  }

  /// Right answers by step, and how many steps it took to give 90 % of them.
  void report(Evidence* evidence) const {
    for (size_t way = 0; way < ways_.size(); ++way) {
      Series& right = evidence->add(
          name("right", way), about(way, "share of right answers, {}, d_k {}", "答对的比例，{}，d_k = {}"), "step");
      for (size_t first = 0; first < steps_; first += window_) {
        const auto share = [=, this](const RecallLearner& learner) { return learner.mean_of(first, window_).right; };
        right.points.push_back({static_cast<double>(first + window_), mean(of_each(way, share)), {}, {}});
      }
    }
    for (size_t way = 0; way < ways_.size(); ++way) {
      evidence->add_single(name("steps", way),
                           about(way, "steps until 90 % are right, {}, d_k {}", "答对 90 % 所需的步数，{}，d_k = {}"),
                           mean(of_each(way, steps_to_learn)));
    }
  }

  /// By how much more one way answers rightly than another, seed by seed: in the last steps, and in all.
  void compare(size_t way, size_t with, Evidence* evidence) const {
    const Text &one = ways_[way]->what, &other = ways_[with]->what;
    const std::string names = fmt::format("{}_less_{}_{}", ways_[way]->name, ways_[with]->name, d_k_);
    evidence->add_single(
        "last_" + names,
        {fmt::format("share right in the last {} steps, {} less {}, d_k {}", kLast, one.en, other.en, d_k_),
         fmt::format("最后 {} 步答对比例之差，{} 减 {}，d_k = {}", kLast, one.zh, other.zh, d_k_)},
        difference(way, with, steps_ - kLast, kLast));
    evidence->add_single("all_" + names,
                         {fmt::format("the same in all {} steps", steps_), fmt::format("同上，全部 {} 步", steps_)},
                         difference(way, with, 0, steps_));
  }

 private:
  struct Pupil {
    Random batches;
    RecallLearner learner;
    size_t steps;  ///< at a time
    Status status = {};

    void learn() {
      for (size_t i = 0; i < steps && status.ok(); ++i) status = learner.learn(draw_recall(learner.shape(), batches));
    }
  };

  std::string name(const char* what, size_t way) const { return fmt::format("{}_{}_{}", what, ways_[way]->name, d_k_); }

  Text about(size_t way, const char* en, const char* zh) const {
    return {fmt::format(fmt::runtime(en), ways_[way]->what.en, d_k_),
            fmt::format(fmt::runtime(zh), ways_[way]->what.zh, d_k_)};
  }

  Estimate difference(size_t way, size_t with, size_t first, size_t count) const {
    const auto right = [=](const RecallLearner& learner) { return learner.mean_of(first, count).right; };
    std::vector<double> differences = of_each(way, right);
    const std::vector<double> others = of_each(with, right);
    for (size_t i = 0; i < others.size(); ++i) differences[i] -= others[i];
    return mean(differences);
  }

  /// The end of the first twenty steps with 90 % right; all steps if there are none.
  static double steps_to_learn(const RecallLearner& learner) {
    constexpr size_t kTwenty = 20;
    for (size_t first = 0; first + kTwenty <= learner.history().size(); ++first) {
      if (learner.mean_of(first, kTwenty).right >= 0.9) return static_cast<double>(first + kTwenty);
    }
    return static_cast<double>(learner.history().size());
  }

  std::vector<double> of_each(size_t way, const std::function<double(const RecallLearner&)>& figure) const {
    std::vector<double> figures;
    for (size_t i = way; i < pupils_.size(); i += ways_.size()) figures.push_back(figure(pupils_[i].learner));
    return figures;
  }

  int32_t d_k_;
  size_t steps_, window_;  ///< all, and of a point of the curve
  std::vector<const Way*> ways_;
  std::vector<Score> scores_;
  std::vector<Pupil> pupils_;  ///< seed by seed, way by way
};

/// Whether shares that differ by this are alike, by the rule of both claims that say so.
Verdict alike(std::initializer_list<Estimate> differences) {
  Verdict verdict = Verdict::holds;
  for (const Estimate& difference : differences) {
    if (std::max(-difference.low, difference.high) < kAlike) continue;
    if (std::abs(difference.value) >= kNearlyAlike) return Verdict::does_not_hold;
    verdict = Verdict::holds_in_part;
  }
  return verdict;
}

const Text kStepsTitle = {"steps of 32 questions each", "步数（每步 32 题）"};
const Text kRightTitle = {"share of right answers", "答对的比例"};

Plot plot_learning(const Evidence& evidence, const Text& title,
                   const std::vector<std::pair<const char*, Text>>& curves) {
  const Point& first = evidence.series(curves.front().first).points.front();
  Plot plot{
      .title = title,
      .x = {.title = kStepsTitle, .low = 0},
      .y = {.title = kRightTitle, .low = 0, .high = 1},
      .curves = {},
      .note = text("Means of {} seeds over {} steps each, with intervals of 95 % (Student's t). 32 symbols, 16 pairs.",
                   "每点为 {} 个种子、各 {} 步的均值及其 95 % 区间（t 分布）。32 个符号，16 对。",
                   first.estimate.samples, first.x)};
  for (const auto& [name, legend] : curves) plot.curves.push_back(measured(evidence.series(name), legend));
  return plot;
}

// --- Additive and dot product ---

Evidence measure_additive_alike(const Run& run) {
  Evidence evidence;
  size_t part = 0;
  for (const int32_t d_k : kAdditiveDims) {
    Comparison comparison(run, "additive-learns-as-product", d_k, kSteps, {&kProduct, &kAdditive});
    comparison.learn(run, part++, 2);
    comparison.report(&evidence);
    comparison.compare(1, 0, &evidence);
  }
  return evidence;
}

Judgement judge_additive_alike(const Evidence& evidence) {
  const Estimate small = evidence.of("last_additive_less_product_16"),
                 middle = evidence.of("last_additive_less_product_64");
  const Verdict verdict = alike({small, middle});
  const Text figure = text("right answers differ by at most {:.1f} points", "答对的比例至多相差 {:.1f} 个百分点",
                           100 * std::max(std::abs(small.value), std::abs(middle.value)));
  if (verdict == Verdict::holds) {
    return {
        verdict, figure,
        text("Both come to answer nearly all; at d_k 16 the product gets there sooner, after {:.0f} steps rather than "
             "{:.0f}. What makes the product the usual choice is its cost.",
             "两者最后几乎全部答对；d_k 为 16 时点积学得更快（{:.0f} 步，加性 {:.0f} "
             "步）。人们通常选点积，图的是它便宜。",
             evidence.value("steps_product_16"), evidence.value("steps_additive_16"))};
  }
  return {verdict, figure,
          text("At d_k 16 and 64 additive attention answers {:+.3f} and {:+.3f} more of the questions rightly.",
               "d_k 为 16 和 64 时，加性注意力多答对的比例是 {:+.3f} 和 {:+.3f}。", small.value, middle.value)};
}

Plot plot_additive_alike(const Evidence& evidence) {
  return plot_learning(
      evidence,
      {"Associative recall: additive and dot-product attention learn it", "联想回忆：加性与点积注意力都学得会"},
      {{"right_product_64", {"q·k/√d_k, d_k 64", "q·k/√d_k，d_k = 64"}},
       {"right_additive_64", {"additive, d_k 64", "加性，d_k = 64"}},
       {"right_product_16", {"q·k/√d_k, d_k 16", "q·k/√d_k，d_k = 16"}},
       {"right_additive_16", {"additive, d_k 16", "加性，d_k = 16"}}});
}

// --- Without scaling ---

Evidence measure_small(const Run& run) {
  Evidence evidence;
  Comparison comparison(run, "small-d_k-needs-no-scaling", kSmall, kSteps, {&kProduct, &kUnscaled});
  comparison.learn(run);
  comparison.report(&evidence);
  comparison.compare(1, 0, &evidence);
  return evidence;
}

Judgement judge_small(const Evidence& evidence) {
  const Estimate difference = evidence.of("last_unscaled_less_product_8");
  const Verdict verdict = alike({difference});
  const Text figure = text("right answers differ by {:.1f} points at d_k 8", "d_k = 8 时答对的比例相差 {:.1f} 个百分点",
                           100 * std::abs(difference.value));
  if (verdict == Verdict::holds) {
    return {verdict, figure,
            text("Scores with a standard deviation of √8 do not saturate softmax for good, though the unscaled product "
                 "takes "
                 "{:.0f} steps to 90 % where the scaled one takes {:.0f}.",
                 "分数的标准差只有 √8，softmax 不会一直饱和；不过答对 90 % 不缩放要 {:.0f} 步，缩放只要 {:.0f} 步。",
                 evidence.value("steps_unscaled_8"), evidence.value("steps_product_8"))};
  }
  return {verdict, figure,
          text("Without scaling {:+.3f} more of the questions are answered rightly.",
               "不缩放时多答对的比例是 {:+.3f}。", difference.value)};
}

Plot plot_small(const Evidence& evidence) {
  return plot_learning(evidence, {"d_k = 8: learning with and without scaling", "d_k = 8：缩放与不缩放的学习过程"},
                       {{"right_product_8", kProduct.what}, {"right_unscaled_8", kUnscaled.what}});
}

Evidence measure_large(const Run& run) {
  Evidence evidence;
  Comparison comparison(run, "large-d_k-needs-scaling", kLarge, kStepsOfLarge, {&kProduct, &kAdditive, &kUnscaled});
  comparison.learn(run);
  comparison.report(&evidence);
  comparison.compare(0, 2, &evidence);
  comparison.compare(1, 2, &evidence);
  return evidence;
}

Judgement judge_large(const Evidence& evidence) {
  const Estimate product = evidence.of("all_product_less_unscaled_128"),
                 additive = evidence.of("all_additive_less_unscaled_128");
  const double least = std::min(product.low, additive.low);
  const Text figure =
      text("at d_k 128 behind the product by {:.0f} points, additive by {:.0f}",
           "d_k = 128 时落后点积 {:.0f} 个、落后加性 {:.0f} 个百分点", 100 * product.value, 100 * additive.value);
  if (least > kBehind) {
    return {
        Verdict::holds, figure,
        text(
            "Saturated rows have hardly a gradient to learn from: in the last 40 of 400 steps {:.0f} % are right, with "
            "scaling {:.0f} %.",
            "行一饱和就几乎没有梯度可学：400 步中的最后 40 步只答对 {:.0f} %，缩放后是 {:.0f} %。",
            100 * evidence.series("right_unscaled_128").points.back().estimate.value,
            100 * evidence.series("right_product_128").points.back().estimate.value)};
  }
  return {
      least > 0 ? Verdict::holds_in_part : Verdict::does_not_hold, figure,
      text("Of all questions the scaled product answers {:+.3f} more rightly than the unscaled one, additive {:+.3f}.",
           "全部题目中，与不缩放相比，缩放的点积多答对的比例是 {:+.3f}，加性是 {:+.3f}。", product.value,
           additive.value)};
}

Plot plot_large(const Evidence& evidence) {
  return plot_learning(evidence, {"d_k = 128: without scaling learning falls behind", "d_k = 128：不缩放就落后"},
                       {{"right_product_128", kProduct.what},
                        {"right_additive_128", kAdditive.what},
                        {"right_unscaled_128", kUnscaled.what}});
}

}  // namespace

std::vector<Claim> learning_claims() {
  return {
      {.name = "additive-learns-as-product",
       .family = "learning",
       .says = {"Additive and scaled dot-product attention come to the same quality. (Often ascribed to Attention Is "
                "All You "
                "Need; that paper's section 3.2.1 cites Britz et al. 2017 for such comparisons.)",
                "加性注意力与缩放点积注意力最终效果相当。（常被归于《Attention Is All You Need》；该文 3.2.1 "
                "节引用的其实是 "
                "Britz 等人 2017 年的比较。）"},
       .expectation =
           {"After 1000 steps at d_k 16 and 64 the shares of right answers differ by less than 2 points, the whole "
            "interval of both: it holds; means by less than 5: in part.",
            "d_k 为 16 和 64，训练 1000 步后，答对比例之差的整个区间都在 2 个百分点以内则成立；均值相差不到 5 "
            "个百分点则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 14,
       .measure = measure_additive_alike,
       .judge = judge_additive_alike,
       .plot = plot_additive_alike},
      {.name = "small-d_k-needs-no-scaling",
       .family = "learning",
       .says = {"Where d_k is small, the dot product does as well without scaling.",
                "d_k 小时，点积不缩放效果也一样好。"},
       .expectation =
           {"After 1000 steps at d_k 8 the share of right answers without scaling is within 2 points of that with, "
            "the whole interval: it holds; the mean within 5: in part.",
            "d_k 为 8，训练 1000 步后，不缩放与缩放答对比例之差的整个区间在 2 个百分点以内则成立；均值相差不到 5 "
            "个百分点则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 3,
       .measure = measure_small,
       .judge = judge_small,
       .plot = plot_small},
      {.name = "large-d_k-needs-scaling",
       .family = "learning",
       .says =
           {"Where d_k is large, the dot product without scaling falls behind both additive and scaled attention. "
            "(From "
            "section 3.2.1 of Attention Is All You Need, which cites Britz et al. 2017.)",
            "d_k 大时，不缩放的点积既不如加性，也不如缩放过的点积。（见《Attention Is All You Need》3.2.1 节，该处引用 "
            "Britz 等人 2017。）"},
       .expectation = {"Of the questions of 400 steps at d_k 128 it answers more than 10 points less than both, by the "
                       "intervals' near ends: it holds; less at all: in part.",
                       "d_k 为 128，训练 400 步，全部题目中它答对的比例以区间近端计比两者都低 10 "
                       "个百分点以上则成立；只要低于两者则部分成立。"},
       .recorded = Verdict::holds,
       .seconds = 60,
       .measure = measure_large,
       .judge = judge_large,
       .plot = plot_large},
  };
}

}  // namespace foveate::claims
