// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "av_fusion/core/log_sink.h"
#include "av_fusion/core/media_time.h"
#include "av_fusion/media/audio_channel.h"
#include "av_fusion/media/audio_clip.h"
#include "av_fusion/media/media_info.h"
#include "av_fusion/media/media_source.h"
#include "av_fusion/media/video_frame.h"

namespace av_fusion {

/// Decodes one video and one audio stream of a media file into pictures and sound on one timeline.
///
///     MediaReader reader(MediaSource::from_path("talk.mp4"));
///     while (auto event = reader.next()) {
///       if (auto* frame = std::get_if<VideoFrame>(&*event)) { ... }
///       if (auto* clip = std::get_if<AudioClip>(&*event)) { ... }
///     }
///
/// All times are presentation times of the container: start times, edit lists and signalled
/// priming are obeyed, and a frame rate is never used as a clock.
///
/// Pictures: each has the time its container gives it; times rise strictly (a picture that does
/// not is dropped). Luma of any pixel format, always stretched to 0 (black) .. 255 (white);
/// turned upright, scaled to square pixels; of interlaced ones the field of that time. The size may
/// change within a stream.
///
/// Sound: one channel as `Options::audio_channel` says, or mixed to mono (centre 1, left and right
/// 0.71, surrounds 0.5, no LFE, divided by the sum); resampled to `AudioClip::kSampleRateHz`. Clips
/// rise in time and last at most one second; a clip that follows without a hole starts where the
/// one before ended, to within a sample. Holes in the timestamps become silence up to 10 s; a
/// longer hole leaves a hole between two clips. NaN and infinity become 0, and values are limited
/// to -8 .. 8.
///
/// The automatic channel: the first `next` looks at 20 s with sound of a stream with two channels
/// or more, as far as they come within 60 s, 4096 packets and 64 MiB, which it reads ahead and
/// keeps. The down-mix is taken unless its channels cancel each other (antiphase) or another part
/// is clearly better to understand: the centre beside music, the one side that speaks, the
/// difference. Two channels that both speak stay mixed. `Stats::audio_channel` and a remark in the
/// log say so. For a live source name the channel, else the first picture waits for that look.
///
/// Damaged data is skipped and counted (`stats`), never thrown. Memory is bounded and does not grow
/// with the length of the file. Movable; one thread at a time; a moved-from reader may only be
/// assigned to or destroyed.
///
/// FFmpeg has a log of its own for the whole process, which av_fusion does not touch by itself:
/// see ffmpeg_log.h.
class MediaReader {
 public:
  struct Options {
    std::optional<int> video_stream;  ///< container stream number; default: the best moving picture
    std::optional<int> audio_stream;  ///< container stream number; default: the best sound
    AudioChannel audio_channel;       ///< which channel of the sound; default: automatic
    bool decode_video = true;         ///< false: no pictures are handed out
    bool decode_audio = true;         ///< false: no sound is handed out
    std::optional<MediaDuration> start;     ///< begin this long after `origin()`; >= 0
    std::optional<MediaDuration> duration;  ///< stop this long after the beginning; >= 0
    int decoder_threads = 1;                ///< >= 1
    /// Decodes a tenth faster: in large pictures (from 1280 x 720 on) that no other is made from,
    /// the edges of the codec's blocks are not smoothed. Nothing drifts.
    bool draft_pictures = false;
    std::int64_t max_pixels = std::int64_t{8192} * 8192;  ///< larger pictures are refused
    LogSink log;                                          ///< remarks; may be empty
  };

  /// Measured so far, on the handed-out part of the file; final once `next` has returned nothing.
  struct Stats {
    std::int64_t pictures = 0;
    std::int64_t audio_clips = 0;
    std::int64_t samples = 0;  ///< at `AudioClip::kSampleRateHz`
    std::optional<MediaTime> first_picture;
    std::optional<MediaTime> last_picture;
    std::optional<MediaTime> first_sample;
    std::optional<MediaTime> end_of_sound;  ///< one sample after the last
    std::string audio_channel;              ///< `AudioChannel::to_string` of what is handed out;
                                            ///< empty: no sound, or not decided yet
    int audio_gaps = 0;                     ///< holes in the sound of more than 20 ms
    int video_gaps = 0;   ///< distances between pictures of over 250 ms and 4 usual ones
    int clock_jumps = 0;  ///< places where the container's clock restarts; the parts were joined
    std::int64_t decode_errors = 0;     ///< packets or frames skipped because of damage
    std::int64_t dropped_pictures = 0;  ///< pictures whose time did not rise
    bool truncated = false;      ///< the file ended early: a read error, or less than it promised
    bool variable_rate = false;  ///< over 2 % of the distances between pictures are unusual
  };

  using Event = std::variant<VideoFrame, AudioClip>;

  /// Opens `source`, chooses the streams and goes to `options.start`. Without a moving picture or
  /// without sound the reader works and `info()` says so.
  ///
  /// Throws `Error`: kNotFound (no such file, or no such stream or channel: the text lists those
  /// there are), kIo (cannot be read, is a directory), kCorruptData (empty, damaged, or not a media
  /// file), kUnsupported (no decoder, a picture above `max_pixels`, more than 500 streams, a
  /// playlist), kInvalidArgument (an option out of range), and whatever the source's callbacks
  /// throw.
  explicit MediaReader(MediaSource source);
  MediaReader(MediaSource source, Options options);
  ~MediaReader();
  MediaReader(MediaReader&&) noexcept;
  MediaReader& operator=(MediaReader&&) noexcept;

  const MediaInfo& info() const noexcept;

  /// The start of the chosen video or audio stream, whichever is earlier, as the container tells
  /// it; `Options::start` counts from here. Does not depend on what is decoded.
  MediaTime origin() const noexcept;

  /// The next picture or clip in the order of decoding, or nothing at the end. Throws only what the
  /// source's callbacks throw, `Error(kIo)` if reading the file fails, `Error(kUnsupported)` if the
  /// decoded pictures or sound held at a time take more memory than a file of its size can ask for
  /// (310 MiB, or 256 times its size up to 2 GiB), `Error(kCorruptData)` if a header on the way
  /// asks for absurdly much, `Error(kInternal)`, and `std::bad_alloc`.
  std::optional<Event> next();

  const Stats& stats() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
