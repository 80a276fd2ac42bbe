// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/media/media_reader.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/media/channel_choice_internal.h"
#include "av_fusion/media/clip_builder_internal.h"
#include "av_fusion/media/container_timing_internal.h"
#include "av_fusion/media/decoder_internal.h"
#include "av_fusion/media/input_file_internal.h"
#include "av_fusion/media/luma_converter_internal.h"
#include "av_fusion/media/mono_mixer_internal.h"
#include "av_fusion/media/packet_queue_internal.h"
#include "av_fusion/media/picture_clock_internal.h"
#include "av_fusion/media/sound_timeline_internal.h"
#include "av_fusion/media/stream_choice_internal.h"

namespace av_fusion {
namespace {

// How long before the wanted time to enter the file, tried in turn. Decoders and resamplers need a
// little to settle, and some containers do not know where their key frames are.
constexpr std::int64_t kEntryMarginsUs[] = {1'000'000, 10'000'000, 60'000'000};
constexpr std::int64_t kDraftPixels = 1280 * 720;
constexpr std::int64_t kSettlingUs = 200'000;

MediaReader::Options checked(MediaReader::Options options, const std::string& name) {
  const auto require = [&](bool good, const char* text) {
    if (!good) throw Error(ErrorCode::kInvalidArgument, name, text);
  };
  require(!options.start || options.start->us >= 0, "the start must not be negative");
  require(!options.duration || options.duration->us >= 0, "the duration must not be negative");
  require(options.decoder_threads >= 1, "the number of decoder threads must be at least 1");
  require(options.max_pixels >= 1, "the largest number of pixels must be at least 1");
  return options;
}

// A stream that is to hold moving pictures by its packets, but has only one.
void mark_stills(MediaInfo& info, PacketQueue& packets) {
  const std::vector<int> candidates = streams_to_probe(info);
  if (candidates.empty()) return;
  std::map<int, int> counts;
  for (const int stream : candidates) counts[stream] = 0;
  packets.look_ahead([&](const AVPacket& packet) {
    const auto found = counts.find(packet.stream_index);
    if (found != counts.end()) ++found->second;
    return std::all_of(counts.begin(), counts.end(), [](const auto& c) { return c.second > 1; });
  });
  for (const auto& [stream, count] : counts) {
    if (count < 2) info.streams[static_cast<std::size_t>(stream)].is_still = true;
  }
}

void refuse_huge_pictures(const StreamInfo& stream, std::int64_t max_pixels,
                          const std::string& name) {
  const std::int64_t pixels = std::max(std::int64_t{stream.coded_width} * stream.coded_height,
                                       std::int64_t{stream.display_width} * stream.display_height);
  if (pixels <= max_pixels) return;
  throw Error(ErrorCode::kUnsupported, name,
              "stream " + std::to_string(stream.index) + ": pictures of " +
                  std::to_string(stream.display_width) + " x " +
                  std::to_string(stream.display_height) + " pixels are above the limit of " +
                  std::to_string(max_pixels));
}

// Corrects the start of the sound by its first packet: some containers count priming in.
void refine_start(StreamInfo& audio, PacketQueue& packets, const AVStream& stream) {
  packets.look_ahead([&](const AVPacket& packet) {
    if (packet.stream_index != audio.index) return false;
    if (packet.pts == AV_NOPTS_VALUE || audio.sample_rate_hz <= 0) return true;
    const std::int64_t skip = av_rescale_q(priming_samples(packet, *stream.codecpar),
                                           AVRational{1, audio.sample_rate_hz}, stream.time_base);
    if (skip > 0) audio.start = MediaTime{to_us(av_sat_add64(packet.pts, skip), stream.time_base)};
    return true;
  });
}

bool has_usable_rate(const AVFrame& frame) {
  return frame.sample_rate >= AudioResampler::kLowestRateHz &&
         frame.sample_rate <= AudioResampler::kHighestRateHz;
}

MediaTime find_origin(const MediaInfo& info) {
  std::optional<MediaTime> origin;
  for (const std::optional<int>& chosen : {info.video, info.audio}) {
    if (!chosen) continue;
    const std::optional<MediaTime> start = info.streams[static_cast<std::size_t>(*chosen)].start;
    if (start) origin = std::min(origin.value_or(*start), *start);
  }
  return origin.value_or(MediaTime{});
}

}  // namespace

class MediaReader::Impl {
 public:
  Impl(MediaSource source, Options options)
      : options_(checked(std::move(options), source.name())),
        file_(source, options_.max_pixels),
        packets_(file_),
        luma_(file_.name(), options_.max_pixels) {
    choose_streams();
    find_timing(file_, packets_, info_, source, options_.max_pixels);
    origin_ = find_origin(info_);
    if (options_.start) begin_ = origin_ + *options_.start;
    if (options_.duration) end_ = begin_.value_or(origin_) + *options_.duration;
    open_decoders();
    if (begin_) enter_file();
  }

  const MediaInfo& info() const { return info_; }
  MediaTime origin() const { return origin_; }
  const Stats& stats() const { return stats_; }

  std::optional<Event> next() {
    if (looks_for_channel_) choose_channel();
    while (events_.empty() && !finished_) step();
    update_stats();
    if (events_.empty()) return std::nullopt;
    std::optional<Event> event = std::move(events_.front());
    events_.pop_front();
    note(*event);
    return event;
  }

 private:
  void choose_streams();
  void open_decoders();
  void open_sound();
  void choose_channel();
  void listen_to(const AudioChannel& channel);
  void enter_file();
  bool try_entry(std::int64_t time_us);
  void step();
  void on_picture(const AVFrame& frame);
  void on_sound(const AVFrame& frame);
  void finish(bool at_end);
  void update_stats();
  void note(const Event& event);
  void log(LogLevel level, const std::string& text) const {
    if (options_.log) options_.log(level, file_.name() + ": " + text);
  }
  Decoder::Limits decoder_limits() const { return {options_.max_pixels, file_.frame_memory()}; }
  bool video_done() const { return !video_decoder_ || video_past_end_; }
  bool audio_done() const { return !audio_decoder_ || clips_->past_end(); }

  Options options_;
  InputFile file_;
  PacketQueue packets_;
  LumaConverter luma_;
  MonoMixer mixer_;
  MediaInfo info_;
  MediaTime origin_;
  std::optional<MediaTime> begin_;
  std::optional<MediaTime> end_;
  std::optional<Decoder> video_decoder_;
  std::optional<Decoder> audio_decoder_;
  std::optional<PictureClock> picture_clock_;
  Orientation orientation_;
  std::optional<ClipBuilder> clips_;
  std::optional<SoundTimeline> sound_;
  std::deque<Event> events_;
  Stats stats_;
  std::int64_t unreadable_frames_ = 0;
  bool looks_for_channel_ = false;  // until the first `next`
  bool wait_for_key_ = false;
  bool video_past_end_ = false;
  bool finished_ = false;
};

void MediaReader::Impl::choose_streams() {
  info_ = describe(file_);
  mark_stills(info_, packets_);
  info_.can_seek = file_.can_seek();
  info_.video = choose_stream(info_, StreamInfo::Kind::kVideo, options_.video_stream, file_.name());
  info_.audio = choose_stream(info_, StreamInfo::Kind::kAudio, options_.audio_stream, file_.name());
  if (info_.video) {
    const StreamInfo& video = info_.streams[static_cast<std::size_t>(*info_.video)];
    refuse_huge_pictures(video, options_.max_pixels, file_.name());
  }
  if (info_.audio) {
    StreamInfo& audio = info_.streams[static_cast<std::size_t>(*info_.audio)];
    refine_start(audio, packets_, *file_.stream(*info_.audio));
  }
  for (const StreamInfo& stream : info_.streams) {
    if (stream.kind == StreamInfo::Kind::kOther || stream.decodable) continue;
    log(LogLevel::kWarning, "stream " + std::to_string(stream.index) +
                                " is passed over: this FFmpeg has no decoder for " + stream.codec);
  }
}

void MediaReader::Impl::open_decoders() {
  if (info_.video && options_.decode_video) {
    AVStream& stream = *file_.stream(*info_.video);
    const AVCodecParameters& codec = *stream.codecpar;
    const bool is_large = std::int64_t{codec.width} * codec.height >= kDraftPixels;
    const auto quality =
        options_.draft_pictures && is_large ? Decoder::Quality::kDraft : Decoder::Quality::kFull;
    video_decoder_.emplace(stream, options_.decoder_threads, decoder_limits(), file_.name(),
                           quality);
    picture_clock_.emplace(stream.time_base, stream.avg_frame_rate);
    orientation_ = orientation_of(display_matrix(stream));
  }
  if (info_.audio && options_.decode_audio) open_sound();
}

void MediaReader::Impl::open_sound() {
  AVStream& stream = *file_.stream(*info_.audio);
  audio_decoder_.emplace(stream, options_.decoder_threads, decoder_limits(), file_.name());
  clips_.emplace(begin_, end_, [this](AudioClip clip) { events_.emplace_back(std::move(clip)); });
  sound_.emplace([this](SamplePosition position, std::span<const float> samples) {
    clips_->add(position, samples);
  });
  const AVChannelLayout& layout = stream.codecpar->ch_layout;
  const AudioChannel channel = check_channel(layout, options_.audio_channel, file_.name());
  if (channel.kind != AudioChannel::Kind::kAutomatic) {
    listen_to(channel);
  } else if (layout.nb_channels > 1) {
    looks_for_channel_ = true;
  } else {
    listen_to({.kind = AudioChannel::Kind::kDownmix});
  }
}

void MediaReader::Impl::listen_to(const AudioChannel& channel) {
  mixer_ = MonoMixer(channel);
  stats_.audio_channel = channel.to_string();
}

// With a decoder of its own, so that the real one begins with the first packet.
void MediaReader::Impl::choose_channel() {
  looks_for_channel_ = false;
  ChannelChoice choice;
  Decoder decoder(*file_.stream(*info_.audio), 1, decoder_limits(), file_.name());
  packets_.look_ahead([&](const AVPacket& packet) {
    if (packet.stream_index != *info_.audio) return false;
    decoder.decode(&packet, [&](const AVFrame& frame) {
      if (has_usable_rate(frame)) choice.add(frame);
    });
    return choice.enough();
  });
  const ChannelChoice::Answer answer = choice.answer();
  listen_to(answer.channel);
  if (answer.channel.kind == AudioChannel::Kind::kDownmix) return;
  if (answer.cancels) {
    log(LogLevel::kWarning,
        "the channels of the sound cancel each other when mixed; channel used: " +
            stats_.audio_channel);
  } else {
    log(LogLevel::kInfo, "speech is clearer in one channel than in the mix of all; channel used: " +
                             stats_.audio_channel);
  }
}

// Without a picture the file is decoded from its beginning: sound is quick, and formats that hold
// only sound often guess their time stamps after a seek.
void MediaReader::Impl::enter_file() {
  if (!info_.video || !file_.can_seek()) return;
  bool moved = false;
  for (const std::int64_t margin_us : kEntryMarginsUs) {
    const std::int64_t entry_us = begin_->us - margin_us;
    if (entry_us <= origin_.us) break;
    moved = true;
    if (try_entry(entry_us)) return;
  }
  wait_for_key_ = false;
  if (moved && !packets_.seek(-1, origin_.us)) {
    throw Error(ErrorCode::kIo, file_.name(), "cannot go back to the beginning of the file");
  }
}

// True if a key frame and sound from before the wanted time lie ahead.
bool MediaReader::Impl::try_entry(std::int64_t time_us) {
  if (!packets_.seek(*info_.video, time_us)) return false;
  std::optional<std::int64_t> key_us;
  std::optional<std::int64_t> sound_us;
  packets_.look_ahead([&](const AVPacket& packet) {
    const std::int64_t stamp = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if (stamp == AV_NOPTS_VALUE) return false;
    const std::int64_t us = to_us(stamp, file_.stream(packet.stream_index)->time_base);
    const bool key = (packet.flags & AV_PKT_FLAG_KEY) != 0;
    if (packet.stream_index == *info_.video && key && !key_us) key_us = us;
    if (info_.audio && packet.stream_index == *info_.audio && !sound_us) sound_us = us;
    return key_us && (sound_us || !info_.audio);
  });
  wait_for_key_ = true;
  const bool sound_fits = !audio_decoder_ || (sound_us && *sound_us <= begin_->us - kSettlingUs);
  return key_us && *key_us <= begin_->us && sound_fits;
}

void MediaReader::Impl::step() {
  if (video_done() && audio_done()) return finish(false);
  const FfmpegPtr<AVPacket> packet = packets_.next();
  if (packet == nullptr) return finish(true);
  if (video_decoder_ && packet->stream_index == *info_.video && !video_past_end_) {
    if (wait_for_key_ && (packet->flags & AV_PKT_FLAG_KEY) == 0) return;
    wait_for_key_ = false;
    video_decoder_->decode(packet.get(), [this](const AVFrame& frame) { on_picture(frame); });
  } else if (audio_decoder_ && packet->stream_index == *info_.audio && !audio_done()) {
    audio_decoder_->decode(packet.get(), [this](const AVFrame& frame) { on_sound(frame); });
  }
}

void MediaReader::Impl::on_picture(const AVFrame& frame) {
  const std::optional<MediaTime> time = picture_clock_->time_of(frame);
  if (!time) {
    ++stats_.dropped_pictures;
    return;
  }
  if (end_ && *time >= *end_) video_past_end_ = true;
  if (video_past_end_ || (begin_ && *time < *begin_)) return;
  AVFrame& picture = const_cast<AVFrame&>(frame);  // FFmpeg only reads it
  const AVRational aspect =
      av_guess_sample_aspect_ratio(file_.format(), file_.stream(*info_.video), &picture);
  try {
    LumaConverter::Picture shown = luma_.convert(frame, aspect, orientation_);
    const MediaDuration wait{shown.is_second_field ? picture_clock_->duration_of(frame).us / 2 : 0};
    events_.emplace_back(VideoFrame{*time + wait, std::move(shown.luma)});
  } catch (const Error& error) {
    if (unreadable_frames_++ == 0) log(LogLevel::kWarning, error.what());
  }
}

void MediaReader::Impl::on_sound(const AVFrame& frame) {
  const std::span<const float> samples = mixer_.mix(frame);
  if (samples.empty() || !has_usable_rate(frame)) {
    ++unreadable_frames_;
    return;
  }
  const AVRational time_base = file_.stream(*info_.audio)->time_base;
  const std::int64_t stamp = frame.pts != AV_NOPTS_VALUE ? frame.pts : frame.best_effort_timestamp;
  std::optional<MediaTime> time;
  if (stamp != AV_NOPTS_VALUE) time = MediaTime{to_us(stamp, time_base)};
  sound_->add(samples, frame.sample_rate, time, MediaDuration{to_us(1, time_base)});
}

void MediaReader::Impl::finish(bool at_end) {
  finished_ = true;
  if (video_decoder_ && !video_past_end_) {
    video_decoder_->decode(nullptr, [this](const AVFrame& frame) { on_picture(frame); });
  }
  if (audio_decoder_) {
    if (!audio_done()) {
      audio_decoder_->decode(nullptr, [this](const AVFrame& frame) { on_sound(frame); });
    }
    sound_->finish();
    clips_->finish();
  }
  stats_.truncated = at_end && packets_.truncated();
  if (mixer_.missed_channel()) {
    log(LogLevel::kWarning, "parts of the sound have no channel " + stats_.audio_channel +
                                "; all of their channels were mixed");
  }
  const int jumps = packets_.clock_jumps();
  if (jumps > 0) {
    log(LogLevel::kWarning, "the clock of the file jumps " +
                                (jumps == 1 ? "once" : std::to_string(jumps) + " times") +
                                "; the parts were joined");
  }
}

void MediaReader::Impl::update_stats() {
  stats_.decode_errors = unreadable_frames_;
  if (video_decoder_) stats_.decode_errors += video_decoder_->errors();
  if (audio_decoder_) stats_.decode_errors += audio_decoder_->errors();
  if (picture_clock_) {
    stats_.variable_rate = picture_clock_->variable_rate();
    stats_.video_gaps = picture_clock_->gaps();
  }
  stats_.clock_jumps = packets_.clock_jumps();
  if (sound_) stats_.audio_gaps = sound_->gaps();
}

void MediaReader::Impl::note(const Event& event) {
  if (const auto* frame = std::get_if<VideoFrame>(&event)) {
    ++stats_.pictures;
    if (!stats_.first_picture) stats_.first_picture = frame->time;
    stats_.last_picture = frame->time;
    return;
  }
  const auto& clip = std::get<AudioClip>(event);
  const auto count = static_cast<std::int64_t>(clip.samples.size());
  ++stats_.audio_clips;
  stats_.samples += count;
  if (!stats_.first_sample) stats_.first_sample = clip.start;
  stats_.end_of_sound = SamplePosition{clip.start, count}.time();
}

MediaReader::MediaReader(MediaSource source) : MediaReader(std::move(source), Options{}) {}
MediaReader::MediaReader(MediaSource source, Options options)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(options))) {}
MediaReader::~MediaReader() = default;
MediaReader::MediaReader(MediaReader&&) noexcept = default;
MediaReader& MediaReader::operator=(MediaReader&&) noexcept = default;

const MediaInfo& MediaReader::info() const noexcept { return impl_->info(); }
MediaTime MediaReader::origin() const noexcept { return impl_->origin(); }
std::optional<MediaReader::Event> MediaReader::next() { return impl_->next(); }
const MediaReader::Stats& MediaReader::stats() const noexcept { return impl_->stats(); }

}  // namespace av_fusion
