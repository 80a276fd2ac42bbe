// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/report/summary.h"

#include <algorithm>
#include <cmath>

#include "av_fusion/core/format_fixed.h"

namespace av_fusion {
namespace {

std::string ms_text(double value) { return format_fixed(value, 0) + " ms"; }
std::string seconds_text(MediaDuration value) { return format_fixed(value.seconds(), 1) + " s"; }

/// "sound 120 ms early", whatever the direction is called.
std::string early_or_late(double offset_ms) {
  const double amount = std::round(std::abs(offset_ms));
  if (amount == 0) return "0 ms";
  return "sound " + ms_text(amount) + (offset_ms > 0 ? " early" : " late");
}

/// The same for an end of the interval, signed: "+45 ms".
std::string signed_ms(double value) {
  const double whole = std::round(value);
  return (whole > 0 ? "+" : "") + format_fixed(whole, 0) + " ms";
}

MediaDuration speaking_time(const FaceTrack& track) {
  MediaDuration sum;
  for (const SpeakingSpan& span : track.speaking) sum = sum + (span.end - span.start);
  return sum;
}

/// The face that speaks longest; of equal ones the first.
const FaceTrack* main_speaker(const std::vector<FaceTrack>& tracks) {
  const auto speaks_less = [](const FaceTrack& a, const FaceTrack& b) {
    return speaking_time(a) < speaking_time(b);
  };
  const auto found = std::max_element(tracks.begin(), tracks.end(), speaks_less);
  return found == tracks.end() ? nullptr : &*found;
}

std::string face_line(const FaceTrack& face, std::size_t count) {
  std::string line = "face: number " + std::to_string(face.id);
  if (count > 1) line += " of " + std::to_string(count);
  line += ", " + seconds_text(face.start) + " to " + seconds_text(face.end);
  if (face.box[2] > 0 && face.box[3] > 0) {
    line += ", " + format_fixed(face.box[2], 0) + " x " + format_fixed(face.box[3], 0) +
            " pixels at (" + format_fixed(face.box[0], 0) + ", " + format_fixed(face.box[1], 0) +
            ")";
  }
  return line + "\n";
}

std::string speech_line(const std::vector<FaceTrack>& tracks) {
  MediaDuration seen;
  MediaDuration speaking;
  for (const FaceTrack& track : tracks) {
    seen = seen + (track.end - track.start);
    speaking = speaking + speaking_time(track);
  }
  return "speech: " + seconds_text(speaking) +
         " spoken by faces in view, which were followed for " + seconds_text(seen) + "\n";
}

std::string parts_line(const std::vector<AnalysedPart>& parts) {
  MediaDuration sum;
  for (const AnalysedPart& part : parts) sum = sum + (part.end - part.start);
  return "analysed: " + seconds_text(sum) + " in " + std::to_string(parts.size()) +
         " parts, from " + seconds_text(parts.front().start) + " to " +
         seconds_text(parts.back().end) + "; what lies between was not looked at\n";
}

std::string tolerance_line(const Offset& offset, const Tolerance& tolerance) {
  return "tolerance: " + tolerance.name + " (" + tolerance.source + "), " +
         signed_ms(tolerance.late_ms) + " to " + signed_ms(tolerance.early_ms) + ": " +
         std::string(to_string(judge(offset, tolerance))) + "\n";
}

/// Whatever is early is delayed, so that nothing has to start before time zero.
std::string correction_lines(const Offset& offset) {
  if (offset.direction() == Direction::kInSync) return "to correct: nothing\n";
  const bool is_early = offset.ms > 0;
  const std::string delay = format_fixed(std::round(std::abs(offset.ms)) / 1000, 3);
  return std::string("to correct: delay the ") + (is_early ? "sound" : "picture") + " by " +
         ms_text(std::abs(offset.ms)) + ", for example\n  ffmpeg -i INPUT -itsoffset " + delay +
         " -i INPUT " + (is_early ? "-map 0:v -map 1:a" : "-map 1:v -map 0:a") +
         " -c copy OUTPUT\n";
}

}  // namespace

std::string summarize(const Alignment& alignment) {
  if (!alignment.offset) return "not measured: " + alignment.reason;
  const Offset& offset = *alignment.offset;
  const std::string amount = early_or_late(offset.ms);
  const std::string confidence = "confidence " + format_fixed(offset.confidence, 2) + ")";
  if (offset.direction() == Direction::kInSync) return "in sync (" + amount + ", " + confidence;
  return amount + " (" + confidence;
}

std::string explain(const Alignment& alignment, const std::optional<Tolerance>& tolerance) {
  std::string text;
  if (!alignment.parts.empty()) text += parts_line(alignment.parts);
  if (const FaceTrack* face = main_speaker(alignment.tracks)) {
    text += face_line(*face, alignment.tracks.size()) + speech_line(alignment.tracks);
  }
  if (!alignment.offset) return text;
  text += "interval: " + signed_ms(alignment.offset->low_ms) + " to " +
          signed_ms(alignment.offset->high_ms) + " (95 %; more than 0 is sound early)\n";
  if (tolerance) text += tolerance_line(*alignment.offset, *tolerance);
  return text + correction_lines(*alignment.offset);
}

}  // namespace av_fusion
