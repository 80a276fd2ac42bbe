// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/report/stream_list_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "av_fusion/describe_streams.h"
#include "tests/report/schema_validator.h"

namespace av_fusion {
namespace {

using nlohmann::json;
using testing::SchemaValidator;

std::string problems_of(const json& list) {
  static const SchemaValidator kValidator = [] {
    std::ifstream file(AV_FUSION_ASSETS_DIR "/schema/stream-list-1.schema.json");
    return SchemaValidator(json::parse(file));
  }();
  std::string text;
  for (const std::string& problem : kValidator.validate(list)) text += problem + "\n";
  return text;
}

/// Every field has a value of its own.
MediaInfo full_info() {
  StreamInfo video;
  video.index = 0;
  video.kind = StreamInfo::Kind::kVideo;
  video.codec = "h264";
  video.decodable = true;
  video.is_default = true;
  video.start = MediaTime{-80'000};
  video.length = MediaDuration{9'840'000};
  video.language = "und";
  video.title = "camera 2";
  video.coded_width = 720;
  video.coded_height = 576;
  video.display_width = 577;
  video.display_height = 769;
  video.average_fps = 30000.0 / 1001;
  video.variable_rate = true;
  video.rotation_deg = 90;
  video.mirrored = true;
  StreamInfo audio;
  audio.index = 1;
  audio.kind = StreamInfo::Kind::kAudio;
  audio.codec = "aac";
  audio.start = MediaTime{200'000};
  audio.sample_rate_hz = 48000;
  audio.channels = 6;
  audio.layout = "5.1(side)";
  StreamInfo cover;
  cover.index = 2;
  cover.kind = StreamInfo::Kind::kVideo;
  cover.is_still = true;
  StreamInfo other;
  other.index = 3;
  MediaInfo info;
  info.container = "mov,mp4";
  info.duration = MediaDuration{10'000'000};
  info.streams = {video, audio, cover, other};
  info.video = 0;
  info.audio = 1;
  return info;
}

json full_list() { return json::parse(to_json(describe_streams(full_info(), "talk.mp4"))); }

TEST(StreamListJson, SaysWhatTheContainerSays) {
  const json expected = json::parse(R"json({
    "schema": "av_fusion/stream-list",
    "schema_version": 1,
    "input": { "path": "talk.mp4", "container": "mov,mp4", "duration_s": 10 },
    "streams": [
      { "index": 0, "kind": "video", "codec": "h264", "decodable": true, "default": true,
        "used": true, "start_s": -0.08, "duration_s": 9.84, "language": "und",
        "title": "camera 2", "width": 577, "height": 769, "coded_width": 720,
        "coded_height": 576, "average_fps": 29.97003, "variable_rate": true, "rotation_deg": 90,
        "mirrored": true, "still": false },
      { "index": 1, "kind": "audio", "codec": "aac", "decodable": false, "default": false,
        "used": true, "start_s": 0.2, "duration_s": null, "language": null, "title": null,
        "sample_rate_hz": 48000, "channels": 6, "layout": "5.1(side)" },
      { "index": 2, "kind": "video", "codec": null, "decodable": false, "default": false,
        "used": false, "start_s": null, "duration_s": null, "language": null, "title": null,
        "width": null, "height": null, "coded_width": null, "coded_height": null,
        "average_fps": null, "variable_rate": false, "rotation_deg": 0, "mirrored": false,
        "still": true },
      { "index": 3, "kind": "other", "codec": null, "decodable": false, "default": false,
        "used": false, "start_s": null, "duration_s": null, "language": null, "title": null }
    ]
})json");
  EXPECT_EQ(full_list(), expected);
  EXPECT_EQ(problems_of(full_list()), "");
}

TEST(StreamListJson, NothingKnown) {
  const json list = json::parse(to_json(StreamListDescription{}));
  EXPECT_EQ(problems_of(list), "");
  EXPECT_TRUE(list.at("input").at("container").is_null());
  EXPECT_TRUE(list.at("input").at("duration_s").is_null());
  EXPECT_EQ(list.at("streams"), json::array());
}

TEST(StreamListJson, IsStrictWhateverItIsGiven) {
  StreamDescription video;
  video.kind = StreamDescription::Kind::kVideo;
  video.start_s = std::numeric_limits<double>::quiet_NaN();
  video.duration_s = -1;
  video.average_fps = std::numeric_limits<double>::infinity();
  video.width = -5;
  video.title = "caf\xe9 \"quoted\"\n\xe2\x82\xac";
  StreamListDescription list;
  list.path = "\xff.mp4";
  list.duration_s = std::numeric_limits<double>::infinity();
  list.streams = {video};
  const json parsed = json::parse(to_json(list));
  EXPECT_EQ(problems_of(parsed), "");
  EXPECT_EQ(parsed.at("input").at("path"), "\xef\xbf\xbd.mp4");
  EXPECT_EQ(parsed.at("streams")[0].at("title"), "caf\xef\xbf\xbd \"quoted\"\n\xe2\x82\xac");
  for (const char* name : {"start_s", "duration_s", "average_fps", "width"}) {
    EXPECT_TRUE(parsed.at("streams")[0].at(name).is_null()) << name;
  }
}

TEST(StreamListJson, SchemaRefusesWhatIsMissingOrTooMuch) {
  const json full = full_list();
  for (const std::size_t stream : {0U, 1U, 3U}) {
    for (const auto& [name, value] : full.at("streams")[stream].items()) {
      json list = full;
      list["streams"][stream].erase(name);
      EXPECT_NE(problems_of(list), "") << stream << " without " << name;
    }
    json list = full;
    list["streams"][stream]["bit_rate"] = 1;
    EXPECT_NE(problems_of(list), "") << stream;
  }
  json list = full;
  list["streams"][1]["width"] = 640;  // sound has none
  EXPECT_NE(problems_of(list), "");
  list = full;
  list["streams"][3]["used"] = true;  // neither pictures nor sound
  EXPECT_NE(problems_of(list), "");
  list = full;
  list["schema_version"] = 2;
  EXPECT_NE(problems_of(list), "");
}

TEST(StreamListJson, TextIsReadable) {
  const std::string text = to_json(describe_streams(full_info(), "talk.mp4"));
  EXPECT_TRUE(
      text.starts_with("{\n  \"schema\": \"av_fusion/stream-list\",\n  \"schema_version\": 1,\n"
                       "  \"input\": {\n    \"path\": \"talk.mp4\",\n"))
      << text;
  EXPECT_TRUE(text.ends_with("\n}\n")) << text;
}

}  // namespace
}  // namespace av_fusion
