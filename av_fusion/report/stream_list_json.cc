// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/report/stream_list_json.h"

#include "av_fusion/report/json_values_internal.h"

namespace av_fusion {
namespace {

using json_values::array;
using json_values::Json;
using json_values::optional;
using json_values::positive;
using json_values::rounded;
using json_values::text;

using Kind = StreamDescription::Kind;

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kVideo: return "video";
    case Kind::kAudio: return "audio";
    case Kind::kOther: break;
  }
  return "other";
}

Json seconds(double value) { return json_values::seconds(value); }

Json length(double value) { return value >= 0 ? seconds(value) : Json(nullptr); }

Json rate(double value) { return value > 0 ? rounded(value, 1e6) : Json(nullptr); }

void add_video(const StreamDescription& stream, Json& json) {
  json["width"] = positive(stream.width);
  json["height"] = positive(stream.height);
  json["coded_width"] = positive(stream.coded_width);
  json["coded_height"] = positive(stream.coded_height);
  json["average_fps"] = rate(stream.average_fps);
  json["variable_rate"] = stream.variable_rate;
  json["rotation_deg"] = stream.rotation_deg;
  json["mirrored"] = stream.mirrored;
  json["still"] = stream.is_still;
}

void add_audio(const StreamDescription& stream, Json& json) {
  json["sample_rate_hz"] = positive(stream.sample_rate_hz);
  json["channels"] = positive(stream.channels);
  json["layout"] = text(stream.layout);
}

Json stream_json(const StreamDescription& stream) {
  Json json = {{"index", stream.index},
               {"kind", kind_name(stream.kind)},
               {"codec", text(stream.codec)},
               {"decodable", stream.decodable},
               {"default", stream.is_default},
               {"used", stream.is_used},
               {"start_s", optional(stream.start_s, seconds)},
               {"duration_s", optional(stream.duration_s, length)},
               {"language", text(stream.language)},
               {"title", text(stream.title)}};
  if (stream.kind == Kind::kVideo) add_video(stream, json);
  if (stream.kind == Kind::kAudio) add_audio(stream, json);
  return json;
}

Json input_json(const StreamListDescription& list) {
  return {{"path", list.path},
          {"container", text(list.container)},
          {"duration_s", optional(list.duration_s, length)}};
}

}  // namespace

std::string to_json(const StreamListDescription& list) {
  const Json json = {{"schema", "av_fusion/stream-list"},
                     {"schema_version", 1},
                     {"input", input_json(list)},
                     {"streams", array(list.streams, stream_json)}};
  return json_values::dump(json, 2);
}

}  // namespace av_fusion
