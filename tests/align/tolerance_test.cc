// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/align/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "av_fusion/core/error.h"

namespace av_fusion {
namespace {

TEST(Tolerance, KnowsTheDocuments) {
  const struct {
    const char* name;
    double early, late;
    const char* document;
  } expected[] = {
      {"itu-r-bt1359", 45, -125, "ITU-R BT.1359-1 (1998), detectability"},
      {"itu-r-bt1359-acceptability", 90, -185, "ITU-R BT.1359-1 (1998), acceptability"},
      {"ebu-r37", 40, -60, "EBU R37 (2007), output feeding transmitters"},
      {"atsc-is191", 15, -45, "ATSC IS-191 (2003), input of the encoder"},
  };
  ASSERT_EQ(named_tolerances().size(), std::size(expected));
  for (const auto& [name, early, late, document] : expected) {
    const auto found = find_tolerance(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(found->early_ms, early);
    EXPECT_EQ(found->late_ms, late);
    EXPECT_EQ(found->source, document);
    EXPECT_EQ(parse_tolerance(name).early_ms, early);
  }
  EXPECT_FALSE(find_tolerance("EBU-R37"));
  EXPECT_FALSE(find_tolerance(""));
}

TEST(Tolerance, ParsesPairs) {
  for (const char* text : {"45,-125", "45,125", "+45,+125", "45.0,-125.0"}) {
    const Tolerance pair = parse_tolerance(text);
    EXPECT_EQ(pair.early_ms, 45) << text;
    EXPECT_EQ(pair.late_ms, -125) << text;
    EXPECT_FALSE(pair.name.empty());
    EXPECT_FALSE(pair.source.empty());
  }
  EXPECT_EQ(parse_tolerance("22.5,0").early_ms, 22.5);
  EXPECT_FALSE(std::signbit(parse_tolerance("0,0").late_ms));
}

TEST(Tolerance, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "itu", "45", "45,", ",45", "a,b", "45,-125,3", "45 ,125", "-45,125",
                           "nan,1", "1,inf", "1e999,1", "+-45,1", "45;125"}) {
    EXPECT_THROW(parse_tolerance(text), Error) << text;
  }
  try {
    parse_tolerance("itu");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("ebu-r37"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("45,-125"), std::string::npos);
  }
}

TEST(Tolerance, VerdictComparesTheInterval) {
  const Tolerance limits = {"test", "test", 40, -60};
  const auto verdict = [&](double low, double high) {
    return judge({(low + high) / 2, low, high, 0.9}, limits);
  };
  EXPECT_EQ(verdict(-10, 10), Verdict::kPass);
  EXPECT_EQ(verdict(-60, 40), Verdict::kPass) << "the limits are allowed";
  EXPECT_EQ(verdict(30, 40.1), Verdict::kUndecided);
  EXPECT_EQ(verdict(-60.1, -50), Verdict::kUndecided);
  EXPECT_EQ(verdict(-200, 200), Verdict::kUndecided);
  EXPECT_EQ(verdict(40, 80), Verdict::kUndecided) << "its low end is allowed";
  EXPECT_EQ(verdict(40.1, 80), Verdict::kFail);
  EXPECT_EQ(verdict(-90, -60.1), Verdict::kFail);
  EXPECT_EQ(verdict(-55, -45), Verdict::kPass) << "late is allowed more than early";
  EXPECT_EQ(verdict(45, 55), Verdict::kFail);
  EXPECT_EQ(to_string(Verdict::kPass), "pass");
  EXPECT_EQ(to_string(Verdict::kFail), "fail");
  EXPECT_EQ(to_string(Verdict::kUndecided), "undecided");
}

}  // namespace
}  // namespace av_fusion
