// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/report/json_report.h"

#include <cmath>
#include <string>

#include "av_fusion/report/json_pieces_internal.h"
#include "av_fusion/report/json_values_internal.h"

namespace av_fusion {
namespace {

using json_values::array;
using json_values::Json;
using json_values::number;
using json_values::optional;
using json_values::positive;
using json_values::rounded;
using json_values::seconds;
using json_values::text;

Json ms(double value) { return rounded(value, 100); }
Json probability(double value) { return rounded(value, 1e4); }
// Divides, so that 200 ms is 0.2 and not 0.19999999999999998.
Json seconds(MediaDuration value) { return number(static_cast<double>(value.us) / 1e6); }

Json model_json(const ModelDescription& model) {
  return {{"name", text(model.name)},
          {"sha256", text(model.sha256)},
          {"licence", text(model.licence)},
          {"training_data", text(model.training_data)}};
}

Json tool_json(const ToolDescription& tool) {
  return {{"name", tool.name},           {"version", text(tool.version)},
          {"onednn", text(tool.onednn)}, {"ffmpeg", text(tool.ffmpeg)},
          {"opencv", text(tool.opencv)}, {"model", optional(tool.model, model_json)}};
}

Json video_json(const VideoDescription& video) {
  return {{"stream", video.stream},
          {"codec", text(video.codec)},
          {"width", positive(video.width)},
          {"height", positive(video.height)},
          {"average_fps", video.average_fps > 0 ? rounded(video.average_fps, 1e6) : Json(nullptr)},
          {"variable_rate", video.variable_rate},
          {"rotation_deg", video.rotation_deg},
          {"start_s", seconds(video.start_s)},
          {"gaps", video.gaps}};
}

Json audio_json(const AudioDescription& audio) {
  return {{"stream", audio.stream},
          {"codec", text(audio.codec)},
          {"sample_rate_hz", positive(audio.sample_rate_hz)},
          {"channels", positive(audio.channels)},
          {"channel", text(audio.channel)},
          {"start_s", seconds(audio.start_s)},
          {"gaps", audio.gaps}};
}

Json timing_json(const ContainerTimingDescription& timing) {
  const auto time = [](double value) { return seconds(value); };
  const auto length = [](double value) { return ms(value); };
  const auto flag = [](bool value) { return value; };
  return {{"video_start_s", optional(timing.video_start_s, time)},
          {"audio_start_s", optional(timing.audio_start_s, time)},
          {"video_stored_s", optional(timing.video_stored_s, time)},
          {"audio_stored_s", optional(timing.audio_stored_s, time)},
          {"audio_priming_ms", optional(timing.audio_priming_ms, length)},
          {"edit_list", optional(timing.edit_list, flag)},
          {"offset_if_ignored_ms", optional(timing.offset_if_ignored_ms, length)}};
}

Json input_json(const InputDescription& input) {
  const auto duration = [](double value) { return seconds(value); };
  return {{"path", input.path},
          {"container", text(input.container)},
          {"duration_s", optional(input.duration_s, duration)},
          {"video", optional(input.video, video_json)},
          {"audio", optional(input.audio, audio_json)},
          {"container_timing", optional(input.container_timing, timing_json)},
          {"truncated", input.truncated},
          {"clock_jumps", input.clock_jumps}};
}

Json offset_ms_json(const Offset& offset) { return ms(offset.ms); }
Json confidence_json(const Offset& offset) { return probability(offset.confidence); }
Json direction_json(const Offset& offset) { return to_string(offset.direction()); }

Json interval_json(const Offset& offset) {
  return Json::array({ms(offset.low_ms), ms(offset.high_ms)});
}

Json tolerance_json(const Tolerance& tolerance, const std::optional<Offset>& offset) {
  const auto verdict = [&](const Offset& o) { return to_string(judge(o, tolerance)); };
  return {{"name", tolerance.name},
          {"source", tolerance.source},
          {"early_ms", number(tolerance.early_ms)},
          {"late_ms", number(tolerance.late_ms)},
          {"verdict", optional(offset, verdict)}};
}

Json part_json(const AnalysedPart& part) {
  return {{"start_s", seconds(part.start)}, {"end_s", seconds(part.end)}};
}

Json point_json(const TimelinePoint& point) {
  return {{"t_s", seconds(point.t)},
          {"offset_ms", offset_ms_json(point.offset)},
          {"interval_ms", interval_json(point.offset)},
          {"confidence", confidence_json(point.offset)},
          {"track", point.track}};
}

Json span_json(const SpeakingSpan& span) {
  return {{"start_s", seconds(span.start)},
          {"end_s", seconds(span.end)},
          {"probability", probability(span.probability)}};
}

/// [x, y, width, height], or null for a face whose box nobody gave.
Json box_json(const double (&box)[4]) {
  if (!(box[2] > 0 && box[3] > 0)) return nullptr;
  Json result = Json::array();
  for (const double edge : box) {
    if (!std::isfinite(edge)) return nullptr;
    result.push_back(rounded(edge, 10));
  }
  return result;
}

Json track_json(const FaceTrack& track) {
  return {{"id", track.id},
          {"start_s", seconds(track.start)},
          {"end_s", seconds(track.end)},
          {"box", box_json(track.box)},
          {"offset_ms", optional(track.offset, offset_ms_json)},
          {"confidence", optional(track.offset, confidence_json)},
          {"speaking", array(track.speaking, span_json)}};
}

Json frame_json(const AttentionFrame& frame) {
  const auto time = [](MediaDuration t) { return seconds(t); };
  return {{"t_s", seconds(frame.t)},
          {"track", frame.track},
          {"audio_t_s", seconds(frame.audio_t)},
          {"weight", probability(frame.weight)},
          {"per_head_audio_t_s", array(frame.per_head_audio_t, time)}};
}

void write_attention(const Alignment& alignment, JsonPieces& pieces) {
  if (alignment.attention_hop.us <= 0 || alignment.attention_heads <= 0) {
    return pieces.member("attention", nullptr);
  }
  pieces.begin_object("attention");
  pieces.member("hop_s", seconds(alignment.attention_hop));
  pieces.member("heads", alignment.attention_heads);
  pieces.list("frames", alignment.attention, frame_json);
  pieces.end_object();
}

Json performance_json(const PerformanceFigures& figures) {
  const auto speed = [](double value) { return rounded(value, 1000); };
  const auto memory = [](double value) { return rounded(value, 10); };
  return {{"wall_s", rounded(figures.wall_s, 1000)},
          {"speed_x_realtime", optional(figures.speed_x_realtime, speed)},
          {"threads", positive(figures.threads)},
          {"peak_rss_mb", optional(figures.peak_rss_mb, memory)}};
}

void write_report(const Alignment& alignment, const ReportContext& context, JsonPieces& pieces) {
  const auto tolerance = [&](const Tolerance& t) { return tolerance_json(t, alignment.offset); };
  const std::optional<Offset>& offset = alignment.offset;
  pieces.begin_object();
  pieces.member("schema", "av_fusion/alignment-report");
  pieces.member("schema_version", 1);
  pieces.member("tool", tool_json(context.tool));
  pieces.member("input", input_json(context.input));
  pieces.member("status", to_string(alignment.status));
  pieces.member("reason", alignment.reason);
  pieces.member("offset_ms", optional(offset, offset_ms_json));
  pieces.member("direction", optional(offset, direction_json));
  pieces.member("interval_ms", optional(offset, interval_json));
  pieces.member("confidence", optional(offset, confidence_json));
  pieces.member("audio_delay_to_apply_ms", optional(offset, offset_ms_json));
  pieces.member("at_search_edge", alignment.at_search_edge);
  pieces.member("tolerance", optional(context.tolerance, tolerance));
  if (alignment.parts.empty()) {
    pieces.member("parts", nullptr);
  } else {
    pieces.list("parts", alignment.parts, part_json);
  }
  pieces.list("timeline", alignment.timeline, point_json);
  pieces.list("tracks", alignment.tracks, track_json);
  write_attention(alignment, pieces);
  pieces.member("performance", optional(context.performance, performance_json));
  pieces.end_object();
  pieces.end_text();
}

std::string in_one_piece(const Alignment& alignment, const ReportContext& context, int indent) {
  std::string result;
  JsonPieces pieces([&](std::string_view piece) { result += piece; }, indent);
  write_report(alignment, context, pieces);
  return result;
}

}  // namespace

void write_json(const Alignment& alignment, const ReportContext& context,
                const std::function<void(std::string_view)>& write) {
  JsonPieces pieces(write, 2);
  write_report(alignment, context, pieces);
}

std::string to_json(const Alignment& alignment, const ReportContext& context) {
  return in_one_piece(alignment, context, 2);
}

std::string to_json_line(const Alignment& alignment, const ReportContext& context) {
  return in_one_piece(alignment, context, JsonPieces::kOneLine);
}

}  // namespace av_fusion
