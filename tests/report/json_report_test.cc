// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/report/json_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/report/schema_validator.h"

namespace av_fusion {
namespace {

using nlohmann::json;
using testing::SchemaValidator;

const SchemaValidator& validator() {
  static const SchemaValidator kValidator = [] {
    std::ifstream file(AV_FUSION_ASSETS_DIR "/schema/alignment-report-1.schema.json");
    return SchemaValidator(json::parse(file));
  }();
  return kValidator;
}

std::string problems_of(const json& report) {
  std::string text;
  for (const std::string& problem : validator().validate(report)) text += problem + "\n";
  return text;
}

Alignment measured() {
  Alignment alignment;
  alignment.status = AlignmentStatus::kMeasured;
  alignment.reason = "measured from 3.00 s of 2 faces";
  alignment.offset = Offset{119.987, 105.5, 131.25, 0.97};
  alignment.timeline = {{{2'000'000}, {121, 90, 140, 0.9}, 0},
                        {{3'000'000}, {118, 90, 140, 0.8}, 0}};
  FaceTrack speaker;
  speaker.id = 0;
  speaker.start = {40'000};
  speaker.end = {3'040'000};
  const double box[4] = {100.5, 80, 64, 64.25};
  std::copy_n(box, 4, speaker.box);
  speaker.offset = alignment.offset;
  speaker.speaking = {{{200'000}, {1'800'000}, 0.93}};
  FaceTrack listener;
  listener.id = 1;
  alignment.tracks = {speaker, listener};
  alignment.attention_hop = {200'000};
  alignment.attention_heads = 2;
  alignment.attention = {{{40'000}, 0, {-80'000}, 0.75, {{-80'000}, {-70'000}}}};
  return alignment;
}

Alignment not_measured(AlignmentStatus status) {
  Alignment alignment;
  alignment.status = status;
  alignment.reason = "a face was seen in 3 of 120 pictures";
  alignment.at_search_edge = status == AlignmentStatus::kAmbiguous;
  return alignment;
}

ReportContext full_context() {
  ReportContext context;
  context.tool.version = "1.2.3";
  context.tool.onednn = "2.7.2";
  context.tool.ffmpeg = "5.1.9";
  context.tool.opencv = "4.6.0";
  context.tool.model =
      ModelDescription{"small", std::string(64, 'a'), "Apache-2.0", "clips of 40 people"};
  context.input.path = "talk.mp4";
  context.input.container = "mov,mp4";
  context.input.duration_s = 3.04;
  context.input.video = VideoDescription{0, "h264", 640, 480, 30000.0 / 1001, false, 90, 0, 2};
  context.input.clock_jumps = 3;
  context.input.audio = AudioDescription{1, "aac", 48000, 2, "downmix", -0.021, 1};
  context.input.container_timing =
      ContainerTimingDescription{0, 0.178, -1.28, 0.1567, 21.333, true, 1436.7};
  context.tolerance = find_tolerance("ebu-r37");
  context.performance = PerformanceFigures{0.5, 6.08, 2, 123.4};
  return context;
}

json full_report() { return json::parse(to_json(measured(), full_context())); }

TEST(JsonReport, MeasuredReportFollowsTheSchemaAndSaysWhatWasFound) {
  const json report = full_report();
  EXPECT_EQ(problems_of(report), "");
  EXPECT_EQ(report["schema"], "av_fusion/alignment-report");
  EXPECT_EQ(report["schema_version"], 1);
  EXPECT_EQ(report["status"], "measured");
  EXPECT_EQ(report["offset_ms"], 119.99);
  EXPECT_EQ(report["audio_delay_to_apply_ms"], 119.99);
  EXPECT_EQ(report["direction"], "sound_early");
  EXPECT_EQ(report["interval_ms"], json::parse("[105.5, 131.25]"));
  EXPECT_EQ(report["confidence"], 0.97);
  EXPECT_EQ(report["at_search_edge"], false);
  EXPECT_EQ(report["tolerance"], json::parse(R"({"name": "ebu-r37",
      "source": "EBU R37 (2007), output feeding transmitters",
      "early_ms": 40, "late_ms": -60, "verdict": "fail"})"));
  EXPECT_EQ(report["timeline"][1],
            json::parse(R"({"t_s": 3, "offset_ms": 118, "interval_ms": [90, 140],
                         "confidence": 0.8, "track": 0})"));
  EXPECT_EQ(report["tracks"][0], json::parse(R"({"id": 0, "start_s": 0.04, "end_s": 3.04,
      "box": [100.5, 80, 64, 64.3], "offset_ms": 119.99, "confidence": 0.97,
      "speaking": [{"start_s": 0.2, "end_s": 1.8, "probability": 0.93}]})"));
  EXPECT_EQ(report["tracks"][1], json::parse(R"({"id": 1, "start_s": 0, "end_s": 0, "box": null,
      "offset_ms": null, "confidence": null, "speaking": []})"));
  EXPECT_EQ(report["attention"], json::parse(R"({"hop_s": 0.2, "heads": 2, "frames": [
      {"t_s": 0.04, "track": 0, "audio_t_s": -0.08, "weight": 0.75,
       "per_head_audio_t_s": [-0.08, -0.07]}]})"));
  EXPECT_EQ(report["input"]["video"], json::parse(R"({"stream": 0, "codec": "h264", "width": 640,
      "height": 480, "average_fps": 29.97003, "variable_rate": false, "rotation_deg": 90,
      "start_s": 0, "gaps": 2})"));
  EXPECT_EQ(report["input"]["audio"], json::parse(R"({"stream": 1, "codec": "aac",
      "sample_rate_hz": 48000, "channels": 2, "channel": "downmix", "start_s": -0.021,
      "gaps": 1})"));
  EXPECT_EQ(report["input"]["clock_jumps"], 3);
  EXPECT_EQ(report["input"]["container_timing"], json::parse(R"({"video_start_s": 0,
      "audio_start_s": 0.178, "video_stored_s": -1.28, "audio_stored_s": 0.1567,
      "audio_priming_ms": 21.33, "edit_list": true, "offset_if_ignored_ms": 1436.7})"));
  EXPECT_EQ(report["tool"]["model"]["training_data"], "clips of 40 people");
  EXPECT_EQ(report["performance"], json::parse(R"({"wall_s": 0.5, "speed_x_realtime": 6.08,
      "threads": 2, "peak_rss_mb": 123.4})"));
}

TEST(JsonReport, EveryStatusFollowsTheSchema) {
  for (const AlignmentStatus status :
       {AlignmentStatus::kNoVideo, AlignmentStatus::kNoAudio, AlignmentStatus::kNoFace,
        AlignmentStatus::kNoSpeech, AlignmentStatus::kTooShort, AlignmentStatus::kAmbiguous}) {
    for (const ReportContext& context : {full_context(), ReportContext()}) {
      const json report = json::parse(to_json(not_measured(status), context));
      EXPECT_EQ(problems_of(report), "") << to_string(status);
      EXPECT_EQ(report["status"], to_string(status));
      for (const char* name :
           {"offset_ms", "direction", "interval_ms", "confidence", "audio_delay_to_apply_ms"}) {
        EXPECT_TRUE(report[name].is_null()) << name;
      }
      if (context.tolerance) {
        EXPECT_TRUE(report["tolerance"]["verdict"].is_null());
      } else {
        EXPECT_TRUE(report["tolerance"].is_null());
        EXPECT_TRUE(report["tool"]["model"].is_null());
        EXPECT_TRUE(report["input"]["video"].is_null());
        EXPECT_TRUE(report["performance"].is_null());
      }
    }
  }
}

TEST(JsonReport, TheSchemaBites) {
  const std::vector<std::function<void(json&)>> mutations = {
      [](json& r) { r.erase("offset_ms"); },
      [](json& r) { r["offset_ms"] = nullptr; },
      [](json& r) { r["offset_ms"] = "120"; },
      [](json& r) { r["status"] = "no_face"; },
      [](json& r) { r["status"] = "fine"; },
      [](json& r) { r["direction"] = "early"; },
      [](json& r) { r["confidence"] = 1.2; },
      [](json& r) { r["confidence"] = -0.1; },
      [](json& r) { r["interval_ms"] = json::array({1}); },
      [](json& r) {
        r["interval_ms"] = json::array({1, 2, 3});
      },
      [](json& r) { r["interval_ms"][0] = nullptr; },
      [](json& r) { r["at_search_edge"] = true; },
      [](json& r) { r["reason"] = ""; },
      [](json& r) { r["schema"] = "something else"; },
      [](json& r) { r["schema_version"] = 2; },
      [](json& r) { r["surprise"] = 1; },
      [](json& r) { r["tool"].erase("onednn"); },
      [](json& r) { r["tool"]["model"]["sha256"] = "abc"; },
      [](json& r) { r["input"]["video"]["width"] = 0; },
      [](json& r) { r["input"]["video"]["stream"] = -1; },
      [](json& r) { r["input"]["audio"]["channels"] = 1.5; },
      [](json& r) { r["input"]["audio"]["pitch"] = 1; },
      [](json& r) { r["input"]["audio"]["channel"] = 2; },
      [](json& r) { r["input"]["audio"]["channel"] = "auto"; },
      [](json& r) { r["input"]["audio"]["channel"] = ""; },
      [](json& r) { r["input"]["container_timing"].erase("edit_list"); },
      [](json& r) { r["input"]["container_timing"]["audio_priming_ms"] = -1; },
      [](json& r) { r["input"]["container_timing"]["offset_if_ignored_ms"] = "21"; },
      [](json& r) { r["input"]["container_timing"]["more"] = 1; },
      [](json& r) { r["input"]["truncated"] = nullptr; },
      [](json& r) { r["tolerance"]["late_ms"] = 60; },
      [](json& r) { r["tolerance"]["early_ms"] = -1; },
      [](json& r) { r["tolerance"]["verdict"] = "ok"; },
      [](json& r) { r["tolerance"]["verdict"] = nullptr; },
      [](json& r) { r["timeline"][0].erase("track"); },
      [](json& r) { r["timeline"] = json::object(); },
      [](json& r) { r["parts"] = json::array(); },
      [](json& r) {
        r["parts"] = {{{"start_s", 1}}};
      },
      [](json& r) { r["tracks"][0]["box"].push_back(1); },
      [](json& r) { r["tracks"][0]["box"].erase(0); },
      [](json& r) { r["tracks"][0]["speaking"][0]["probability"] = 7; },
      [](json& r) { r["attention"]["heads"] = 0; },
      [](json& r) { r["attention"]["frames"][0]["weight"] = 2; },
      [](json& r) { r["attention"]["frames"][0]["per_head_audio_t_s"][0] = nullptr; },
      [](json& r) { r["performance"]["wall_s"] = -1; },
  };
  ASSERT_EQ(problems_of(full_report()), "");
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    json report = full_report();
    mutations[i](report);
    EXPECT_NE(problems_of(report), "") << "mutation " << i;
  }
}

TEST(JsonReport, SaysWhichPartsWereAnalysed) {
  EXPECT_TRUE(full_report()["parts"].is_null());
  Alignment alignment = measured();
  alignment.parts = {{{20'500'000}, {32'500'000}}, {{100'000'000}, {112'000'000}}};
  json report = json::parse(to_json(alignment, full_context()));
  EXPECT_EQ(problems_of(report), "");
  EXPECT_EQ(report["parts"], json::parse(R"([{"start_s": 20.5, "end_s": 32.5},
                                             {"start_s": 100, "end_s": 112}])"));
  report.erase("parts");  // as the first programs of this version wrote it
  EXPECT_EQ(problems_of(report), "");
}

TEST(JsonReport, NamesTheChannel) {
  ReportContext context = full_context();
  for (const char* channel : {"downmix", "difference", "FC", "LFE2", "0", "12"}) {
    context.input.audio->channel = channel;
    const json report = json::parse(to_json(measured(), context));
    EXPECT_EQ(problems_of(report), "") << channel;
    EXPECT_EQ(report["input"]["audio"]["channel"], channel);
  }
  context.input.audio->channel.clear();
  json report = json::parse(to_json(measured(), context));
  EXPECT_TRUE(report["input"]["audio"]["channel"].is_null());
  report["input"]["audio"].erase("channel");  // as the first programs of this version wrote it
  EXPECT_EQ(problems_of(report), "");
}

TEST(JsonReport, UnknownTimingIsNull) {
  ReportContext context = full_context();
  context.input.container_timing = ContainerTimingDescription();
  json report = json::parse(to_json(measured(), context));
  EXPECT_EQ(problems_of(report), "");
  EXPECT_EQ(report["input"]["container_timing"].size(), 7U);
  for (const auto& [name, value] : report["input"]["container_timing"].items()) {
    EXPECT_TRUE(value.is_null()) << name;
  }
  report["input"].erase("container_timing");  // as the first programs of this version wrote it
  EXPECT_EQ(problems_of(report), "");
}

TEST(JsonReport, FieldsOfLaterVersionsAreReserved) {
  json report = full_report();
  report["drift"] = {{"ms_per_min", 0.1}, {"ppm", 1.7}};
  report["segments"] = json::array({{{"start_s", 0},
                                     {"end_s", 3},
                                     {"offset_ms", 120},
                                     {"interval_ms", {100, 140}},
                                     {"confidence", 0.9}}});
  EXPECT_EQ(problems_of(report), "");
  report["segments"][0].erase("end_s");
  EXPECT_NE(problems_of(report), "");
}

TEST(JsonReport, IsStrictWhateverItIsGiven) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Alignment alignment = not_measured(AlignmentStatus::kTooShort);
  alignment.tracks.resize(1);
  alignment.tracks[0].box[2] = infinity;
  alignment.tracks[0].box[3] = nan;
  ReportContext context = full_context();
  context.input.duration_s = nan;
  context.input.video->average_fps = nan;
  context.input.audio->start_s = -infinity;
  context.performance = PerformanceFigures{nan, infinity, 0, std::nullopt};
  const std::string text = to_json(alignment, context);
  for (const char* word : {"nan", "NaN", "inf", "Inf"}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
  const json report = json::parse(text);
  EXPECT_EQ(problems_of(report), "");
  EXPECT_TRUE(report["input"]["duration_s"].is_null());
  EXPECT_TRUE(report["performance"]["wall_s"].is_null());
  EXPECT_TRUE(report["tracks"][0]["box"].is_null());
}

TEST(JsonReport, OddBytesInPathsAreReplaced) {
  ReportContext context = full_context();
  context.input.path = "a\xff\xfe/\xc3.mp4 \"quoted\"\n\\ \xe2\x82\xac";
  const json report = json::parse(to_json(measured(), context));
  EXPECT_EQ(problems_of(report), "");
  const std::string path = report["input"]["path"];
  EXPECT_TRUE(path.starts_with("a\xef\xbf\xbd\xef\xbf\xbd/\xef\xbf\xbd.mp4")) << path;
  EXPECT_TRUE(path.ends_with(".mp4 \"quoted\"\n\\ \xe2\x82\xac")) << path;
}

TEST(JsonReport, TextIsDeterministicAndReadable) {
  const std::string text = to_json(measured(), full_context());
  EXPECT_EQ(text, to_json(measured(), full_context()));
  EXPECT_TRUE(
      text.starts_with("{\n  \"schema\": \"av_fusion/alignment-report\",\n"
                       "  \"schema_version\": 1,\n  \"tool\": {\n    \"name\": "));
  EXPECT_TRUE(text.ends_with("\n}\n"));
  const std::vector<std::string> order = {"\"schema\"",         "\"tool\"",
                                          "\"input\"",          "\"status\"",
                                          "\"reason\"",         "\n  \"offset_ms\"",
                                          "\"direction\"",      "\"interval_ms\"",
                                          "\n  \"confidence\"", "\"audio_delay_to_apply_ms\"",
                                          "\"at_search_edge\"", "\"tolerance\"",
                                          "\"timeline\"",       "\"tracks\"",
                                          "\"attention\"",      "\"performance\""};
  std::size_t last = 0;
  for (const std::string& field : order) {
    const std::size_t at = text.find(field);
    ASSERT_NE(at, std::string::npos) << field;
    EXPECT_GT(at, last) << field;
    last = at;
  }
}

TEST(JsonReport, ALineIsOneLineWithTheSameContent) {
  ReportContext context = full_context();
  context.input.path = "two\nlines.mp4";
  const std::string line = to_json_line(measured(), context);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(json::parse(line), json::parse(to_json(measured(), context)));
}

/// The layout of the text against the library's own of the whole tree.
void expect_layout_of_the_whole(const std::string& text) {
  EXPECT_EQ(text, nlohmann::ordered_json::parse(text).dump(2) + "\n");
}

TEST(JsonReport, PiecesMakeTheTextOfTheWholeTree) {
  Alignment alignment = measured();
  expect_layout_of_the_whole(to_json(alignment, full_context()));
  expect_layout_of_the_whole(to_json(Alignment{}, ReportContext{}));
  const std::string line = to_json_line(alignment, full_context());
  EXPECT_EQ(line, nlohmann::ordered_json::parse(line).dump() + "\n");
  alignment.attention.clear();
  alignment.tracks.clear();
  expect_layout_of_the_whole(to_json(alignment, full_context()));
}

TEST(JsonReport, ALongReportComesInSmallPieces) {
  Alignment alignment = measured();
  const auto frame = alignment.attention.front();
  alignment.attention.assign(10000, frame);
  std::string whole;
  std::size_t longest = 0;
  write_json(alignment, full_context(), [&](std::string_view piece) {
    whole += piece;
    longest = std::max(longest, piece.size());
  });
  EXPECT_TRUE(whole == to_json(alignment, full_context()));
  EXPECT_GT(whole.size(), 1'000'000U);
  EXPECT_LT(longest, 20'000U);
  EXPECT_EQ(json::parse(whole)["attention"]["frames"].size(), 10000U);
}

TEST(JsonReport, WhatTheWriterThrowsComesThrough) {
  const auto full_disk = [](std::string_view) { throw std::runtime_error("disk full"); };
  EXPECT_THROW(write_json(measured(), full_context(), full_disk), std::runtime_error);
}

TEST(JsonReport, LocaleDoesNotMatter) {
  const std::string expected = to_json(measured(), full_context());
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const bool has_comma_locale = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  const std::string text = to_json(measured(), full_context());
  std::setlocale(LC_ALL, before.c_str());
  if (!has_comma_locale) GTEST_SKIP() << "the locale de_DE.UTF-8 is not installed";
  EXPECT_EQ(text, expected);
}

}  // namespace
}  // namespace av_fusion
