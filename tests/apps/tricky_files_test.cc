// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// av_align on every file that cases/make_cases.sh writes, derived from two clips of a real person.
// What is expected follows from the commands in that script, not from what av_align once said.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/apps/program.h"
#include "tests/report/schema_validator.h"

namespace av_fusion::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kOffsetToleranceMs = 12;  // against the unchanged clip

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// ---------------------------------------------------------------- the files

const fs::path kShared = AV_FUSION_SHARED_DIR;

/// Two clips of one speaker in a row, 6 s, as make_cases.sh wants its base; then all of its files
/// and some more. Made once, by the first test: GoogleTest skips what follows a SetUpTestSuite that
/// fails, and CTest would call that skipped.
class TrickyFiles : public ::testing::Test {
 protected:
  static void make_files() {
    if (kShared.empty() || !fs::exists(kShared / "cases" / "make_cases.sh")) return;
    if (run_program({"ffmpeg", "-version"}).exit_code != 0) return;
    folder_ = fs::path(::testing::TempDir()) /
              ("av_fusion_tricky_files_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    make_base();
    const ProgramResult made =
        run_program({"bash", (kShared / "cases" / "make_cases.sh").string(), folder_.string()});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    make_more();
    base_ms_ = offset_of("base.mkv");
  }

  static void TearDownTestSuite() {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void SetUp() override {
    static std::once_flag once;
    std::call_once(once, make_files);
    if (folder_.empty()) {
      GTEST_SKIP() << "needs the ffmpeg program, and AV_FUSION_SHARED_DIR with cases/make_cases.sh "
                      "and data/";
    }
    ASSERT_TRUE(base_ms_) << "the clip that all files are made of is not measured";
  }

  static void ffmpeg(const std::string& output, const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"ffmpeg", "-v", "error", "-nostdin", "-y"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.push_back((folder_ / output).string());
    const ProgramResult result = run_program(command);
    EXPECT_EQ(result.exit_code, 0) << output << ": " << result.err;
  }

  static std::string made(const std::string& name) { return (folder_ / name).string(); }

  static ProgramResult av_align(const std::string& file, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {AV_FUSION_AV_ALIGN, "-o", "-"});
    options.insert(options.end(), {"--", made(file)});
    return run_program(options);
  }

  static json report_of(const ProgramResult& result) {
    const json report = json::parse(result.out, nullptr, false);
    static const av_fusion::testing::SchemaValidator kValidator(
        json::parse(read_text(AV_FUSION_ASSETS_DIR "/schema/alignment-report-1.schema.json")));
    EXPECT_EQ(kValidator.validate(report), std::vector<std::string>{});
    return report;
  }

  static std::optional<double> offset_of(const std::string& file,
                                         std::vector<std::string> options = {}) {
    const json report = report_of(av_align(file, std::move(options)));
    if (!report.is_object() || !report.at("offset_ms").is_number()) return std::nullopt;
    return report.at("offset_ms").get<double>();
  }

  static fs::path folder_;
  static std::optional<double> base_ms_;

 private:
  static void make_base() {
    const fs::path clips = kShared / "data" / "val" / "grid_other";
    ffmpeg("base.mkv", {"-i",
                        (clips / "grid_other_0030.mp4").string(),
                        "-i",
                        (clips / "grid_other_0031.mp4").string(),
                        "-filter_complex",
                        "[0:v][0:a][1:v][1:a]concat=n=2:v=1:a=1[v][a]",
                        "-map",
                        "[v]",
                        "-map",
                        "[a]",
                        "-t",
                        "6",
                        "-r",
                        "25",
                        "-c:v",
                        "libx264",
                        "-preset",
                        "ultrafast",
                        "-crf",
                        "18",
                        "-pix_fmt",
                        "yuv420p",
                        "-g",
                        "12",
                        "-c:a",
                        "pcm_s16le",
                        "-ar",
                        "48000"});
    ffmpeg("base.mp4", {"-i", made("base.mkv"), "-c:v", "copy", "-c:a", "aac", "-b:a", "96k"});
  }

  // What the script makes of a drawn face only, and what it leaves out.
  static void make_more() {
    const auto mpeg2 = [](const std::string& filter) {
      return std::vector<std::string>{
          "-i", made("base.mkv"), "-vf",         filter, "-c:v", "mpeg2video", "-q:v",
          "2",  "-flags",         "+ildct+ilme", "-c:a", "mp2",  "-b:a",       "192k"};
    };
    const std::string fields = "minterpolate=mi_mode=blend:fps=50,tinterlace=mode=interleave_";
    ffmpeg("real_interlaced_top.ts", mpeg2(fields + "top,setfield=tff"));
    ffmpeg("real_interlaced_bottom.ts", mpeg2(fields + "bottom,setfield=bff"));
    ffmpeg("real_telecine.ts",
           mpeg2("minterpolate=mi_mode=blend:fps=24000/1001,telecine,setfield=tff"));
    const std::string phone =
        "minterpolate=mi_mode=blend:fps=30,"
        "select='if(lt(t,2),1,if(lt(t,4),not(mod(n,2)),gt(mod(n,5),0)))'";
    ffmpeg("real_vfr.mp4", {"-i", made("base.mkv"), "-vf", phone, "-fps_mode", "vfr", "-c:v",
                            "libx264", "-preset", "ultrafast", "-c:a", "aac"});
    ffmpeg("real_vfr.webm",
           {"-i", made("real_vfr.mp4"), "-fps_mode", "vfr", "-c:v", "libvpx", "-b:v", "1M",
            "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"});
    ffmpeg("real_odd.mkv", {"-i", made("base.mkv"), "-vf", "scale=359:287", "-pix_fmt", "yuv444p",
                            "-c:v", "ffv1", "-c:a", "copy"});
    // With pictures in another order than they are coded in.
    ffmpeg("real_reordered.mp4", {"-i", made("base.mkv"), "-c:v", "libx264", "-bf", "3", "-preset",
                                  "veryfast", "-c:a", "aac"});
    ffmpeg("real_reordered_cut.mp4",
           {"-ss", "1.3", "-i", made("real_reordered.mp4"), "-c", "copy"});
    ffmpeg("sideways.mp4", {"-i", made("base.mp4"), "-vf", "transpose=1", "-c:v", "libx264",
                            "-preset", "ultrafast", "-c:a", "copy"});
    const std::string turned = made("rotate270.mp4");
    const std::vector<std::string> start{"ffmpeg", "-v", "error", "-nostdin", "-y"};
    const auto turn = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), start.begin(), start.end());
      return run_program(arguments).exit_code == 0;
    };
    // FFmpeg 5 knows the first way only, later ones the second only.
    EXPECT_TRUE(
        turn({"-display_rotation", "90", "-i", made("sideways.mp4"), "-c", "copy", turned}) ||
        turn({"-i", made("sideways.mp4"), "-c", "copy", "-metadata:s:v:0", "rotate=90", turned}));
  }
};

fs::path TrickyFiles::folder_;
std::optional<double> TrickyFiles::base_ms_;

// ---------------------------------------------------------------- one row for each file

const json kNothing = json::object();

/// Matroska with the pictures and the PCM of the base.
const json kMatroska = json::parse(R"({
  "container": "matroska,webm", "duration_s": 6, "truncated": false, "clock_jumps": 0,
  "video": {"stream": 0, "codec": "h264", "width": 360, "height": 288, "average_fps": 25,
            "variable_rate": false, "rotation_deg": 0, "start_s": 0, "gaps": 0},
  "audio": {"stream": 1, "codec": "pcm_s16le", "sample_rate_hz": 48000, "channels": 1,
            "channel": "downmix", "start_s": 0, "gaps": 0}})");

/// `base` with what `change` names put in its place.
json with(json base, const json& change) {
  for (const auto& [key, value] : change.items()) {
    base[key] = value.is_object() && base[key].is_object() ? with(base[key], value) : value;
  }
  return base;
}

json with(const json& base, const char* change) { return with(base, json::parse(change)); }

/// MP4 with the pictures of the base and AAC.
const json kMp4 = with(kMatroska, R"({"container": "mov,mp4,m4a,3gp,3g2,mj2",
                                      "audio": {"codec": "aac"}})");
const json kTransport = with(
    kMp4, R"({"container": "mpegts", "video": {"start_s": 1.421}, "audio": {"start_s": 1.4}})");

/// A drawn face and a tone with the same envelope.
const json kDrawn = with(kMp4, R"({"duration_s": 4, "video": {"width": 160, "height": 120}})");

struct Row {
  std::string file;
  std::string status;                              ///< those that are right, with "|" between them
  json input;                                      ///< what the report must say in `input`
  std::optional<double> offset_ms = std::nullopt;  ///< against the base, if measured
  std::vector<std::string> options = {};
};

constexpr double kInSync = 0;

// Of drawn faces only the input section counts: the network was not made for them, and it must not
// call them measured wrongly.
const char* const kRefused = "ambiguous|no_face";

std::vector<Row> rows() {
  const json& mkv = kMatroska;
  const json& mp4 = kMp4;
  const json& ts = kTransport;
  return {
      // True offsets.
      {"base.mp4", "measured", mp4, kInSync},
      {"in_sync.mkv", "measured", mkv, kInSync},
      {"audio_late_200.mkv", "measured", with(mkv, R"({"duration_s": 6.2})"), -200},
      {"audio_early_120.mkv", "measured", mkv, 120},
      {"audio_late_1500.mkv", "ambiguous", mkv},
      {"audio_late_1500.mkv", "measured", mkv, -1500, {"--max-offset", "2000"}},
      {"subframe_13ms.mkv", "measured", mkv, -13},
      // Times of the container.
      {"audio_starts_760ms.mkv", "measured", with(mkv, R"({"audio": {"start_s": 0.76}})"), kInSync},
      {"video_starts_500ms.mkv", "measured",
       with(mkv, R"({"video": {"start_s": 0.501}, "audio": {"codec": "aac"}})"), kInSync},
      {"mp4_editlist_cut.mp4", "measured",
       with(mp4, R"({"duration_s": 4.7, "video": {"start_s": 0.02}})"), kInSync},
      {"mp4_itsoffset.mp4", "measured",
       with(mp4, R"({"duration_s": 6.2, "audio": {"start_s": 0.178}})"), -199},
      // All but the first picture are as late as the sound.
      {"mp4_no_editlist.mp4", "measured", mp4, kInSync},
      {"fragmented.mp4", "measured", mp4, kInSync},
      // All but the first picture are 40 ms late, the sound is by 23 ms.
      {"avi_mp3.avi", "measured",
       with(mkv, R"({"container": "avi", "video": {"codec": "mpeg4"}, "audio": {"codec": "mp3"}})"),
       17},
      {"opus_preskip.mkv", "measured",
       with(mkv, R"({"video": {"start_s": 0.007}, "audio": {"codec": "opus"}})"), 7},
      {"ts_start.ts", "measured", ts, kInSync},
      {"ts_wrap.ts", "measured",
       with(ts, R"({"video": {"start_s": -3.018}, "audio": {"start_s": -3.039}})"), kInSync},
      {"ts_discontinuity.ts", "measured", with(ts, R"({"duration_s": 12, "clock_jumps": 1})"),
       kInSync},
      {"audio_gap.mkv", "measured", with(mkv, R"({"audio": {"gaps": 1}})"), kInSync},
      {"video_gap.mkv", "measured", with(mkv, R"({"video": {"gaps": 1, "average_fps": 22.819}})"),
       kInSync},
      // Frame rates.
      {"vfr_phone.mp4", kRefused,
       with(kDrawn, R"({"duration_s": 6, "video": {"average_fps": 23, "variable_rate": true}})")},
      {"real_vfr.mp4", "measured",
       with(mp4, R"({"video": {"average_fps": 23, "variable_rate": true}})"), kInSync},
      {"fps_23976.mp4", kRefused, with(kDrawn, R"({"video": {"average_fps": 23.976}})")},
      {"fps_29970.mp4", kRefused, with(kDrawn, R"({"video": {"average_fps": 29.97}})")},
      {"fps_50.mp4", kRefused, with(kDrawn, R"({"video": {"average_fps": 50}})")},
      {"fps_60.mp4", kRefused, with(kDrawn, R"({"video": {"average_fps": 60}})")},
      {"fps_120.mp4", kRefused, with(kDrawn, R"({"video": {"average_fps": 120}})")},
      {"fps_12.mp4", kRefused, with(kDrawn, R"({"video": {"average_fps": 12}})")},
      {"webm_vfr.webm", kRefused, with(kDrawn, R"({"container": "matroska,webm", "duration_s": 6,
                        "video": {"codec": "vp8", "average_fps": 23, "variable_rate": true,
                                  "start_s": 0.007}, "audio": {"codec": "opus"}})")},
      {"real_vfr.webm", "measured",
       with(mkv, R"({"video": {"codec": "vp8", "average_fps": 23, "variable_rate": true,
                               "start_s": 0.007}, "audio": {"codec": "opus"}})"),
       7},
      {"interlaced_25i.ts", kRefused,
       with(kDrawn, R"({"container": "mpegts", "video": {"codec": "mpeg2video", "start_s": 1.44},
                        "audio": {"codec": "mp2", "start_s": 1.43}})")},
      {"telecine.ts", kRefused,
       with(kDrawn, R"({"container": "mpegts", "video": {"codec": "mpeg2video", "start_s": 1.433,
                                                         "average_fps": 29.97},
                        "audio": {"codec": "mp2", "start_s": 1.423}})")},
      {"real_interlaced_top.ts", "measured",
       with(ts, R"({"video": {"codec": "mpeg2video", "start_s": 1.44},
                    "audio": {"codec": "mp2", "start_s": 1.43}})"),
       kInSync},
      {"real_interlaced_bottom.ts", "measured",
       with(ts, R"({"video": {"codec": "mpeg2video", "start_s": 1.44},
                    "audio": {"codec": "mp2", "start_s": 1.43}})"),
       kInSync},
      {"real_telecine.ts", "measured",
       with(ts, R"({"video": {"codec": "mpeg2video", "start_s": 1.433, "average_fps": 29.97},
                    "audio": {"codec": "mp2", "start_s": 1.423}})"),
       kInSync},
      // Geometry and pixels.
      {"rotate90.mp4", "measured", with(mp4, R"({"video": {"rotation_deg": 90}})"), kInSync},
      {"rotate180.mp4", "measured", with(mp4, R"({"video": {"rotation_deg": 180}})"), kInSync},
      {"rotate270.mp4", "measured", with(mp4, R"({"video": {"rotation_deg": 270}})"), kInSync},
      {"anamorphic.mkv", "measured", with(mkv, R"({"video": {"width": 160, "height": 120}})"),
       kInSync},
      {"tenbit_hdr.mp4", "measured", with(mp4, R"({"video": {"codec": "hevc"}})"), kInSync},
      {"pix_gray.mkv", "measured", with(mkv, R"({"video": {"codec": "ffv1"}})"), kInSync},
      {"pix_444.mkv", "measured", mkv, kInSync},
      {"pix_odd.mkv", "measured|ambiguous",  // the crop cuts off the chin
       with(mkv, R"({"video": {"codec": "ffv1", "width": 158, "height": 118}})")},
      {"real_odd.mkv", "measured",
       with(mkv, R"({"video": {"codec": "ffv1", "width": 359, "height": 287}})"), kInSync},
      {"real_reordered.mp4", "measured", mp4, kInSync},
      {"real_reordered_cut.mp4", "measured",
       with(mp4, R"({"duration_s": 4.7, "video": {"start_s": 0.02}})"), kInSync},
      // Streams.
      {"cover_first.mp4", "measured", mp4, kInSync},
      {"cover_second.mp4", "measured", mp4, kInSync},
      {"still_first.mkv", "measured",
       with(mkv, R"({"video": {"stream": 1}, "audio": {"stream": 2}})"), kInSync},
      {"cover_only.mp3", "no_video", with(mkv, R"({"container": "mp3", "video": null,
                     "audio": {"stream": 0, "codec": "mp3", "start_s": 0.023}})")},
      {"data_stream.mov", "measured", mp4, kInSync},
      {"no_audio.mp4", "no_audio", with(mp4, R"({"audio": null})")},
      {"no_video.m4a", "no_video", with(mp4, R"({"video": null, "audio": {"stream": 0}})")},
      {"silent.mp4", "no_speech", with(mp4, R"({"audio": {"channels": 2}})")},
      {"noise_only.mp4", "no_speech", mp4},
      {"music_only.mp4", "no_speech", with(mp4, R"({"audio": {"sample_rate_hz": 44100}})")},
      {"centre_51.mkv", "measured", with(mkv, R"({"video": {"start_s": 0.005},
                     "audio": {"codec": "ac3", "channels": 6, "channel": "FC"}})"),
       kInSync},
      {"antiphase_stereo.mkv", "measured",
       with(mkv, R"({"audio": {"channels": 2, "channel": "difference"}})"), kInSync},
      {"two_tracks.mkv", "measured",
       with(mkv,
            R"({"duration_s": 6.321, "video": {"start_s": 0.021}, "audio": {"codec": "aac"}})"),
       kInSync},
      {"two_tracks.mkv",
       "measured",
       with(mkv, R"({"duration_s": 6.321, "video": {"start_s": 0.021},
                     "audio": {"codec": "aac", "stream": 2, "start_s": 0.3}})"),
       -300,
       {"--audio-stream", "2"}},
      {"rate_8000.mkv", "measured", with(mkv, R"({"audio": {"sample_rate_hz": 8000}})"), kInSync},
      {"rate_44100.mkv", "measured", with(mkv, R"({"audio": {"sample_rate_hz": 44100}})"), kInSync},
      {"rate_96000.mkv", "measured", with(mkv, R"({"audio": {"sample_rate_hz": 96000}})"), kInSync},
      {"nan_pcm.mkv", "measured", with(mkv, R"({"audio": {"codec": "pcm_f32le"}})"), kInSync},
      {"clipped_dc.mkv", "measured|ambiguous", mkv, kInSync},
      // Damage.
      {"truncated_faststart.mp4", "measured", with(mp4, R"({"truncated": true})"), kInSync},
      {"truncated.ts", "measured", with(ts, R"({"truncated": true, "duration_s": 3.7})"), kInSync},
      {"truncated_no_moov.mp4", "unreadable", kNothing},
      {"bitflips.ts", "measured", ts, kInSync},
      {"empty.mp4", "unreadable", kNothing},
      {"text_named.mp4", "unreadable", kNothing},
      // Degenerate lengths.
      {"short_0.04.mkv", "too_short", with(mkv, R"({"duration_s": 0.04})")},
      {"short_0.12.mkv", "too_short", with(mkv, R"({"duration_s": 0.12})")},
      {"short_0.4.mkv", "ambiguous|no_speech", with(mkv, R"({"duration_s": 0.4})")},
      {"short_1.0.mkv", "measured|ambiguous", with(mkv, R"({"duration_s": 1})")},
      {"audio_shorter.mkv", "measured", mkv, kInSync},
      {"video_shorter.mkv", "measured", mkv, kInSync},
      // Names.
      {"with space.mp4", "measured", mp4, kInSync},
      {"quote'\"&;$(touch pwned).mp4", "measured", mp4, kInSync},
      {"ünï–日本.mp4", "measured", mp4, kInSync},
      {"-dash.mp4", "measured", mp4, kInSync},
      {"pct_%03d.mp4", "measured", mp4, kInSync},
      {"colon:name.mp4", "measured", mp4, kInSync},
      // Content over time.
      {"drift_1ms_per_s.mkv", kRefused,
       with(kDrawn, R"({"container": "matroska,webm", "duration_s": 40,
                        "audio": {"codec": "pcm_s16le"}})")},
      {"offset_jump.mkv", "measured|ambiguous", with(mkv, R"({"duration_s": 12})")},
      {"scene_cuts.mkv", "measured", mkv, kInSync},
      {"two_faces_left_talks.mkv", kRefused,
       with(mkv, R"({"video": {"width": 320, "height": 120}})")},
      {"two_faces_both_move.mkv", kRefused,
       with(mkv, R"({"video": {"width": 320, "height": 120}})")},
      {"narrator_closed_mouth.mkv", kRefused,
       with(mkv, R"({"video": {"width": 160, "height": 120}})")},
      {"no_face.mkv", "no_face", with(mkv, R"({"video": {"width": 160, "height": 120}})")},
      {"face_leaves.mkv", "measured", mkv, kInSync},
      {"small_face.mkv", "no_face", with(mkv, R"({"video": {"width": 320, "height": 256}})")},
      {"frozen.mkv", "ambiguous", mkv},
      {"periodic_4hz.mkv", kRefused, with(kDrawn, R"({"container": "matroska,webm", "duration_s": 6,
                        "audio": {"codec": "pcm_s16le"}})")},
      {"mismatched_speech.mkv", "ambiguous", mkv},
      // 200 times the base, as long as its packets of sound; the last round.
      {"long_20min.mp4",
       "measured",
       with(mp4, R"({"duration_s": 1203.2})"),
       kInSync,
       {"--start", "1193", "--duration", "7"}},
  };
}

bool is_among(const std::string& status, const std::string& choices) {
  std::stringstream stream(choices);
  for (std::string choice; std::getline(stream, choice, '|');) {
    if (choice == status) return true;
  }
  return false;
}

double tolerance_of(const std::string& key) {
  if (key == "duration_s") return 0.1;    // the last picture and the last packet of sound
  if (key == "average_fps") return 0.15;  // a picture more or less in 6 s
  return 0.0011;
}

/// Every value of `expected` is in `actual`, numbers within what time stamps in ms allow.
void expect_holds(const json& actual, const json& expected, const std::string& place) {
  for (const auto& [key, value] : expected.items()) {
    const std::string here = place + "." + key;
    ASSERT_TRUE(actual.contains(key)) << here;
    const json& got = actual.at(key);
    if (value.is_object()) {
      ASSERT_TRUE(got.is_object()) << here << " is " << got;
      expect_holds(got, value, here);
    } else if (value.is_number() && got.is_number()) {
      EXPECT_NEAR(got.get<double>(), value.get<double>(), tolerance_of(key)) << here;
    } else {
      EXPECT_EQ(got, value) << here;
    }
  }
}

void expect_unreadable(const ProgramResult& result, const std::string& file) {
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find(file), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(TrickyFiles, EachGivesTheRightStatusInputAndExitCode) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.file);
    ASSERT_TRUE(fs::exists(folder_ / row.file));
    const ProgramResult result = av_align(row.file, row.options);
    if (row.status == "unreadable") {
      expect_unreadable(result, row.file);
      continue;
    }
    const json report = report_of(result);
    ASSERT_TRUE(report.is_object()) << result.err;
    const std::string status = report.at("status");
    EXPECT_TRUE(is_among(status, row.status)) << status << ": " << report.at("reason");
    EXPECT_EQ(result.exit_code, status == "measured" ? 0 : 2);
    EXPECT_EQ(report.at("input").at("path"), made(row.file));
    expect_holds(report.at("input"), row.input, "input");
    if (!row.offset_ms || status != "measured") continue;
    EXPECT_NEAR(report.at("offset_ms").get<double>() - *base_ms_, *row.offset_ms,
                kOffsetToleranceMs);
  }
  EXPECT_FALSE(fs::exists(folder_ / "pwned")) << "a shell saw a file's name";
}

// ---------------------------------------------------------------- the true offsets

struct TrueOffset {
  std::string file;
  int track = 1;
  double ms = 0;
};

std::vector<TrueOffset> true_offsets() {
  std::vector<TrueOffset> result;
  std::ifstream file(kShared / "cases" / "expected_offsets.tsv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    TrueOffset row;
    std::getline(cells, row.file, '\t');
    std::string cell;
    for (int i = 1; i <= 4; ++i) std::getline(cells, cell, '\t');
    row.ms = std::stod(cell);
    const std::size_t track = row.file.find(" track ");
    if (track != std::string::npos) {
      row.track = std::stoi(row.file.substr(track + 7));
      row.file.resize(track);
    }
    result.push_back(row);
  }
  return result;
}

/// By ffprobe: how much later than 40 ms after the first picture the second one is presented.
double late_second_picture_ms(const std::string& path) {
  const ProgramResult probe = run_program({"ffprobe", "-v", "error", "-select_streams", "V:0",
                                           "-show_entries", "frame=best_effort_timestamp_time",
                                           "-read_intervals", "%+1", "-of", "csv=p=0", path});
  std::stringstream lines(probe.out);
  double first = 0;
  double second = 0;
  char rest[64];
  lines >> first;
  lines.getline(rest, sizeof rest);
  lines >> second;
  EXPECT_FALSE(lines.fail()) << path << ": " << probe.out << probe.err;
  return (second - first - 0.04) * 1000;
}

// The table takes the offset from the time of the first picture. Some muxers store that one picture
// earlier than its distance from all others (see mp4_no_editlist.mp4, fragmented.mp4, avi_mp3.avi);
// what counts then are all others.
TEST_F(TrickyFiles, TrueOffsets) {
  const std::vector<TrueOffset> table = true_offsets();
  EXPECT_EQ(table.size(), 21U);
  int moved = 0;
  for (const TrueOffset& row : table) {
    SCOPED_TRACE(row.file + " track " + std::to_string(row.track));
    const double late_ms = late_second_picture_ms(made(row.file));
    if (std::abs(late_ms) > 1) ++moved;
    std::vector<std::string> options;
    if (row.track != 1) options = {"--audio-stream", std::to_string(row.track)};
    if (std::abs(row.ms) > 900) options = {"--max-offset", "2000"};
    const std::optional<double> offset = offset_of(row.file, options);
    ASSERT_TRUE(offset);
    EXPECT_NEAR(*offset - *base_ms_, row.ms + late_ms, kOffsetToleranceMs);
  }
  EXPECT_EQ(moved, 3);
}

}  // namespace
}  // namespace av_fusion::test
