// Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
//
// `foveate verify`, run as a user runs it; and what it says of verdicts that are not as recorded.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/verify_report.h"
#include "tests/cli_fixture.h"
#include "text/width.h"
#include "text/wrapped.h"

namespace foveate {
namespace {

using CliVerify = CliTest;
using claims::Language;
using Json = nlohmann::json;

const Words kFast = {"verify", "--claim", "one-more-is-e-times", "--claim", "memory-is-quadratic", "--quick"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

int widest(const std::string& text) {
  std::istringstream lines(text);
  int most = 0;
  for (std::string line; std::getline(lines, line);) most = std::max(most, text::display_width(line));
  return most;
}

TEST_F(CliVerify, AQuickRunOfAllThatIsNotTimedIsAsRecorded) {
  Words words = {"verify", "--quick", "--lang", "en"};
  for (const claims::Claim& claim : claims::all_claims()) {
    if (!claim.timed) words.insert(words.end(), {"--claim", claim.name});
  }
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const claims::Claim& claim : claims::all_claims())
    EXPECT_EQ(outcome.out.find("\n  " + claim.name) != std::string::npos, !claim.timed) << claim.name;
  EXPECT_NE(outcome.out.find("each verdict is the one recorded"), std::string::npos);
  EXPECT_LE(widest(outcome.out), 80);
  EXPECT_EQ(files().size(), 0u);
}

TEST_F(CliVerify, ChosenClaimsTellWhatWasExpectedAndMeasured) {
  const Outcome outcome = run(with(kFast, {"--lang", "en"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("does not hold"), std::string::npos);
  EXPECT_NE(outcome.out.find("expected  "), std::string::npos);
  EXPECT_NE(outcome.out.find("gap 1           2.718"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("dot-product-geometry"), std::string::npos);
  EXPECT_LE(widest(outcome.out), 80);
}

TEST_F(CliVerify, SpeaksChinese) {
  const Outcome outcome = run(with(kFast, {"--lang", "zh"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* word : {"不成立", "预期", "实测", "都与记录一致"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  EXPECT_LE(widest(outcome.out), 80);
}

TEST_F(CliVerify, AFamilyIsItsClaims) {
  const Outcome outcome = run({"verify", "--claim", "dot-product", "--quick", "--json"});
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["claims"].size(), 2u);
  EXPECT_EQ(json["claims"][0]["family"], "dot-product");
}

TEST_F(CliVerify, JsonHasAllThatWasMeasured) {
  const Outcome outcome = run(with(kFast, {"--json", "--seed", "9", "--threads", "1"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["seed"], 9);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["quick"], true);
  EXPECT_EQ(json["differing"], Json::array());
  const Json& claim = json["claims"][0];
  EXPECT_EQ(claim["name"], "one-more-is-e-times");
  EXPECT_EQ(claim["verdict"], "holds");
  EXPECT_EQ(claim["as_recorded"], true);
  EXPECT_FALSE(claim["expectation"].get<std::string>().empty());
  const Json& point = claim["measured"][0]["points"][2];
  EXPECT_EQ(point["gap"], 1);
  EXPECT_NEAR(point["value"].get<double>(), 2.718281828, 1e-8);
  EXPECT_NEAR(point["expected"].get<double>(), 2.718281828, 1e-8);
}

TEST_F(CliVerify, TheSeedDecidesAndThreadsDoNot) {
  const auto measured = [this](const Words& more) {
    const Words words = {"verify", "--claim", "smaller-angle-higher-score", "--quick", "--json"};
    return Json::parse(run(with(words, more)).out)["claims"][0]["measured"].dump();
  };
  const std::string one = measured({"--seed", "3", "--threads", "1"});
  EXPECT_EQ(measured({"--seed", "3", "--threads", "2"}), one);
  EXPECT_NE(measured({"--seed", "4"}), one);
}

TEST_F(CliVerify, ListsWithoutMeasuring) {
  const Outcome text = run({"verify", "--list", "--lang", "en"});
  EXPECT_EQ(text.status, 0);
  EXPECT_LE(widest(text.out), 80);
  const Json json = Json::parse(run({"verify", "--list", "--json"}).out);
  const Json one = Json::parse(run({"verify", "--list", "--claim", "memory-is-quadratic", "--json"}).out);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0]["name"], "memory-is-quadratic");
  ASSERT_EQ(json.size(), claims::all_claims().size());
  for (const Json& claim : json) {
    EXPECT_NE(text.out.find(claim["name"].get<std::string>() + "  ("), std::string::npos);
    EXPECT_FALSE(claim["recorded"].get<std::string>().empty());
  }
}

TEST_F(CliVerify, WritesFiguresAndADocument) {
  const Outcome outcome = run(with(kFast, {"--figures", "figures", "--markdown", "claims.md", "--lang", "en"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(files(), (std::set<std::string>{"figures", "claims.md"}));
  const std::string figure = bytes_of("figures/memory-is-quadratic.svg"), document = bytes_of("claims.md");
  EXPECT_TRUE(figure.starts_with("<svg ") && figure.ends_with("</svg>\n"));
  for (const char* part :
       {"## one-more-is-e-times", "**Expected:**", "**Verdict: does not hold.**", "](figures/memory-is-quadratic.svg)",
        "foveate verify --claim one-more-is-e-times --quick --seed 1", "| gap = 1 | 2.718 |"}) {
    EXPECT_NE(document.find(part), std::string::npos) << part << "\nin\n" << document;
  }
  // Once more, over what is there.
  EXPECT_EQ(run(with(kFast, {"--figures", "figures", "--markdown", "claims.md", "--lang", "zh"})).status, 0);
  EXPECT_NE(bytes_of("claims.md").find("**结论：不成立。**"), std::string::npos);
}

TEST_F(CliVerify, WritesEitherAlone) {
  const Outcome figures = run(with(kFast, {"--figures", "figures"}));
  EXPECT_EQ(figures.status, 0) << figures.err;
  EXPECT_EQ(files(), (std::set<std::string>{"figures"}));
  const Outcome document = run(with(kFast, {"--markdown", "claims.md"}));
  EXPECT_EQ(document.status, 0) << document.err;
  EXPECT_EQ(bytes_of("claims.md").find(".svg"), std::string::npos);
}

TEST_F(CliVerify, WrongCallsAreToldBeforeAnythingIsMeasured) {
  std::ofstream(path("file")) << "kept";
  const auto refused = [this](const Words& more, const std::string& part) {
    const Outcome outcome = run(with({"verify"}, more));
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused({"--claim", "no-such"}, "--claim: no claim 'no-such'; the families are ");
  refused({"--claim", "gradient"}, "--claim: no claim 'gradient'; did you mean gradients?");
  refused({"--list", "--figures", "figures"}, "--list: measures nothing");
  refused({"--quick", "--markdown", ""}, "--markdown: ");
  refused({"--quick", "--figures", ""}, "--figures: ");
  refused({"--claim"}, "--claim: no value given");
  refused({"variance"}, "unexpected 'variance'");
  refused({"--lang", "fr"}, "--lang");
  refused({"--seed", "-1"}, "--seed");
  refused({"--threads", "0"}, "--threads");
  refused({"--figures", "file"}, "--figures: file: is no folder");
  refused({"--figures", "absent/figures"}, "--figures: ");
  refused({"--markdown", "absent/claims.md"}, "--markdown: ");
  refused({"--markdown", "--quick"}, "--markdown: no file named before --quick");
  refused({"--markdown", "-"}, "--markdown: standard output");
  EXPECT_EQ(files(), std::set<std::string>{"file"});
}

TEST_F(CliVerify, CtrlCLeavesNothing) {
  const Process process({"verify", "--claim", "gradients", "--figures", "figures", "--markdown", "claims.md"},
                        {.folder = folder_});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // it takes half a minute
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(files().size(), 0u);
}

// --- Reports ---

/// One claim, as recorded or not.
cli::VerifyReport report_of(claims::Verdict verdict) {
  cli::VerifyReport report;
  const claims::Claim& claim = claims::all_claims().front();
  cli::Tried tried{&claim, claim.measure({.quick = true}), {}, 0};
  tried.judgement = claim.judge(tried.evidence);
  tried.judgement.verdict = verdict;
  report.tried.push_back(std::move(tried));
  return report;
}

TEST(VerifyReport, NamesVerdictsThatAreNotAsRecorded) {
  const cli::VerifyReport report = report_of(claims::Verdict::does_not_hold);
  EXPECT_EQ(report.differing(), Words{"dot-product-geometry"});
  EXPECT_NE(verify_text(report, Language::en).find("NOT AS RECORDED: holds\n"), std::string::npos);
  EXPECT_NE(verify_text(report, Language::en).find("1 of 1 verdicts are not as recorded: dot-product-geometry\n"),
            std::string::npos);
  EXPECT_NE(verify_text(report, Language::zh).find("与记录不符，记录为：成立\n"), std::string::npos);
  EXPECT_EQ(Json::parse(verify_json(report))["differing"], Json::array({"dot-product-geometry"}));
  EXPECT_NE(verify_markdown(report, "", Language::en).find("does not hold (not as recorded: holds)"),
            std::string::npos);
}

TEST(VerifyReport, OrNoneWhereAllAre) {
  const cli::VerifyReport report = report_of(claims::Verdict::holds);
  EXPECT_TRUE(report.differing().empty());
  EXPECT_EQ(verify_text(report, Language::en).find("NOT AS"), std::string::npos);
}

TEST(VerifyReport, WrapsAtSpacesAndBetweenChineseCharacters) {
  EXPECT_EQ(text::wrapped("one two three", 7), (Words{"one two", "three"}));
  EXPECT_EQ(text::wrapped("in 95 % of", 7), (Words{"in 95 %", "of"}));
  EXPECT_EQ(text::wrapped("in 95 % of", 5), (Words{"in", "95 %", "of"}));
  EXPECT_EQ(text::wrapped("长度加倍，时间", 8), (Words{"长度加", "倍，时间"}));  // no line begins with a comma
  EXPECT_EQ(text::wrapped("键（查询）", 4), (Words{"键", "（查", "询）"}));      // nor ends with an opening bracket
  EXPECT_EQ(text::wrapped("用 softmax 归一", 10), (Words{"用 softmax", "归一"}));
  EXPECT_EQ(text::wrapped("unbreakable", 4), Words{"unbreakable"});
  EXPECT_EQ(text::wrapped("", 4), Words{""});
}

}  // namespace
}  // namespace foveate
