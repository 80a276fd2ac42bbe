// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "jsonl_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "av_fusion/align/alignment.h"
#include "exit_code.h"

namespace av_align {
namespace {

using Json = nlohmann::ordered_json;
using av_fusion::Alignment;
using av_fusion::AlignmentStatus;
using av_fusion::Offset;

/// Null if there is no such member.
const Json& member(const Json& object, const char* name) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(name);
  return found == object.end() ? kNothing : *found;
}

/// Reads all of `line` but keeps nothing of the long lists of a report.
Json parse_shortly(std::string_view line) {
  const auto keep = [](int depth, Json::parse_event_t event, Json& value) {
    if (event != Json::parse_event_t::key || depth != 1) return true;
    return value != "timeline" && value != "tracks" && value != "attention";
  };
  return Json::parse(line, keep, false);
}

Alignment measured(const Json& report) {
  Alignment alignment;
  alignment.status = AlignmentStatus::kMeasured;
  const Json& ms = member(report, "offset_ms");
  const Json& interval = member(report, "interval_ms");
  if (ms.is_number() && interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
      interval[1].is_number()) {
    alignment.offset =
        Offset{ms.get<double>(), interval[0].get<double>(), interval[1].get<double>(), 0};
  }
  return alignment;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::optional<JsonlRecord> parse_record(std::string_view line,
                                        const std::optional<av_fusion::Tolerance>& tolerance) {
  const Json content = parse_shortly(line);
  const Json& path = member(member(content, "input"), "path");
  if (!path.is_string()) return std::nullopt;
  JsonlRecord record;
  record.path = path.get<std::string>();
  const Json& status = member(content, "status");
  if (member(content, "error").is_object()) {
    record.exit_code = kExitUnreadableInput;
  } else if (!status.is_string()) {
    return std::nullopt;
  } else {
    record.exit_code =
        status == "measured" ? exit_code(measured(content), tolerance) : kExitNotMeasurable;
  }
  return record;
}

bool begins_as_record(std::string_view text) noexcept {
  for (const std::string_view beginning :
       {R"({"schema":"av_fusion/alignment-report",)", R"({"input":{"path":")"}) {
    const std::size_t length = std::min(text.size(), beginning.size());
    if (text.substr(0, length) == beginning.substr(0, length)) return true;
  }
  return false;
}

std::string failure_line(const std::string& input, av_fusion::ErrorCode code,
                         const std::string& message) {
  Json line;
  line["input"]["path"] = input;
  line["error"]["code"] = av_fusion::to_string(code);
  line["error"]["message"] = message;
  return dump(line) + "\n";
}

std::string name_in_json(const std::string& input) {
  return Json::parse(dump(Json(input))).get<std::string>();
}

}  // namespace av_align
