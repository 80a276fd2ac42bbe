// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "av_fusion/core/error.h"
#include "av_fusion/core/in_quotes.h"
#include "av_fusion/media/channel_choice_internal.h"
#include "av_fusion/media/mono_mixer_internal.h"
#include "av_fusion/media/sound_timeline_internal.h"
#include "av_fusion/media/speech_meter_internal.h"

namespace av_fusion {
namespace {

using Kind = AudioChannel::Kind;

constexpr std::size_t kMostChannels = 16;
constexpr std::size_t kEnoughFrames = 2000;
constexpr std::size_t kFewestFrames = 200;
constexpr double kCancelled = 0.1;
constexpr double kSpeechDb = -14;
constexpr double kCentreGainDb = 2;
constexpr double kGainDb = 4;
constexpr double kDifferenceGainDb = 8;
constexpr double kSinglePenaltyDb = 2;  // against the difference
constexpr double kSoft = 1e-3;          // of the loudest channel: -30 dB
constexpr double kBleed = 1e-2;         // of the channel taken: -20 dB
constexpr double kFewLoud = 0.15;       // a bang in silence is no speech
constexpr double kAudible = 1e-7;       // -70 dB

// A centre that the file names, beside others: a guess by the number of channels is no proof.
bool is_centre(const AVChannelLayout& layout, const AudioChannel& channel) {
  return channel.name == "FC" && layout.nb_channels >= 3 && layout.order != AV_CHANNEL_ORDER_UNSPEC;
}

// What was found out about one part.
struct Finding {
  AudioChannel channel;
  bool is_centre = false;
  double downmix_weight = 0;
  double power = 0;
  double speech_db = SpeechMeter::kNone;
  double loud_share = 0;

  bool holds_speech() const { return speech_db >= kSpeechDb && loud_share >= kFewLoud; }
};

class Judge {
 public:
  explicit Judge(std::vector<Finding> findings) : all_(std::move(findings)) {
    for (const Finding& finding : channels()) loudest_ = std::max(loudest_, finding.power);
  }

  ChannelChoice::Answer answer() const {
    if (loudest_ < kAudible) return {downmix().channel};
    if (cancels()) return {best_of_the_rest(true).channel, true};
    if (const Finding* centre = this->centre()) return {centre->channel};
    for (const bool difference_counts : {true, false}) {
      const Finding& best = best_of_the_rest(difference_counts);
      if (is_better(best) && !leaves_speech_out(best)) return {best.channel};
    }
    return {downmix().channel};
  }

 private:
  const Finding& downmix() const { return all_.front(); }

  std::span<const Finding> channels() const {
    const bool has_difference = all_.back().channel.kind == Kind::kDifference;
    return std::span(all_).subspan(1, all_.size() - (has_difference ? 2 : 1));
  }

  bool is_candidate(const Finding& finding) const {
    return finding.holds_speech() && finding.power >= kSoft * loudest_;
  }

  // The difference of good stereo, too, may be clearer than its mix, but is faint and odd.
  double needed_gain_db(const Finding& finding) const {
    if (finding.is_centre) return kCentreGainDb;
    return finding.channel.kind == Kind::kDifference ? kDifferenceGainDb : kGainDb;
  }

  bool is_better(const Finding& finding) const {
    const double gain_db = finding.speech_db - downmix().speech_db;
    return is_candidate(finding) && gain_db >= needed_gain_db(finding);
  }

  bool cancels() const {
    double independent = 0;
    for (const Finding& finding : channels()) {
      independent += finding.downmix_weight * finding.downmix_weight * finding.power;
    }
    return independent >= kAudible && downmix().power < kCancelled * independent;
  }

  // The centre of a film, if it is better.
  const Finding* centre() const {
    for (const Finding& finding : channels()) {
      if (finding.is_centre && is_better(finding)) return &finding;
    }
    return nullptr;
  }

  // Never the down-mix. Speech counts first, then the level.
  const Finding& best_of_the_rest(bool difference_counts) const {
    const std::span<const Finding> rest =
        difference_counts ? std::span(all_).subspan(1) : channels();
    const auto merit = [&](const Finding& finding) {
      const bool single = finding.channel.kind != Kind::kDifference;
      const double db = finding.speech_db - (single ? kSinglePenaltyDb : 0);
      const bool speaks = is_candidate(finding);
      return std::tuple(speaks, speaks ? db : 0, finding.power * (single ? 0.5 : 1));
    };
    return *std::max_element(rest.begin(), rest.end(), [&](const Finding& a, const Finding& b) {
      return merit(a) < merit(b);
    });
  }

  // The difference leaves nothing out but what both channels share.
  bool leaves_speech_out(const Finding& taken) const {
    if (taken.channel.kind == Kind::kDifference) return false;
    const std::span<const Finding> all = channels();
    return std::any_of(all.begin(), all.end(), [&](const Finding& other) {
      return other.channel != taken.channel && other.holds_speech() &&
             other.power >= kBleed * taken.power;
    });
  }

  std::vector<Finding> all_;
  double loudest_ = 0;
};

std::string list_channels(const AVChannelLayout& layout) {
  const std::vector<AudioChannel> channels = channels_of(layout);
  std::string list;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (i > 0) list += ", ";
    list += std::to_string(i);
    if (channels[i].kind == Kind::kName) list += " (" + channels[i].name + ")";
  }
  return list;
}

}  // namespace

struct ChannelChoice::Part {
  Part(AudioChannel what, double weight)
      : channel(what), downmix_weight(weight), mixer(std::move(what)) {}

  AudioChannel channel;
  double downmix_weight;  // of a single channel in the down-mix
  MonoMixer mixer;
  SpeechMeter meter;
  SoundTimeline timeline{
      [this](SamplePosition, std::span<const float> samples) { meter.add(samples); }};
};

ChannelChoice::ChannelChoice() = default;
ChannelChoice::~ChannelChoice() { av_channel_layout_uninit(&layout_); }

void ChannelChoice::begin(const AVFrame& frame) {
  if (av_channel_layout_copy(&layout_, &frame.ch_layout) < 0) throw std::bad_alloc();
  rate_hz_ = frame.sample_rate;
  const AudioChannel downmix{.kind = Kind::kDownmix};
  const std::vector<float> weights = mix_weights(layout_, downmix);
  std::vector<AudioChannel> channels = channels_of(layout_);
  parts_.push_back(std::make_unique<Part>(downmix, 0));
  for (std::size_t i = 0; i < std::min(channels.size(), kMostChannels); ++i) {
    parts_.push_back(std::make_unique<Part>(channels[i], weights[i]));
  }
  if (channels.size() == 2) {
    parts_.push_back(std::make_unique<Part>(AudioChannel{.kind = Kind::kDifference}, 0));
  }
}

// The time stamps are left out: holes are no silence for the purpose.
void ChannelChoice::add(const AVFrame& frame) {
  if (parts_.empty() && frame.ch_layout.nb_channels > 0) begin(frame);
  if (frame.sample_rate != rate_hz_ || av_channel_layout_compare(&layout_, &frame.ch_layout) != 0) {
    return;
  }
  for (const std::unique_ptr<Part>& part : parts_) {
    part->timeline.add(part->mixer.mix(frame), rate_hz_, std::nullopt, MediaDuration{});
  }
  for (; counted_ < parts_.front()->meter.frames(); ++counted_) {
    const auto sounds = [&](const auto& part) { return part->meter.sounds(counted_); };
    if (std::any_of(parts_.begin(), parts_.end(), sounds)) ++sounding_;
  }
}

bool ChannelChoice::enough() const {
  return sounding_ >= kEnoughFrames || counted_ >= SpeechMeter::kMaxFrames;
}

ChannelChoice::Answer ChannelChoice::answer() {
  if (sounding_ < kFewestFrames) return {AudioChannel{.kind = Kind::kDownmix}};
  std::size_t first = 0;
  const auto sounds = [&](const auto& part) { return part->meter.sounds(first); };
  while (first < counted_ && std::none_of(parts_.begin(), parts_.end(), sounds)) ++first;
  std::vector<Finding> findings;
  for (const std::unique_ptr<Part>& part : parts_) {
    const SpeechMeter& meter = part->meter;
    findings.push_back({part->channel, is_centre(layout_, part->channel), part->downmix_weight,
                        meter.power(first), meter.speech_db(first), meter.loud_share(first)});
  }
  return Judge(std::move(findings)).answer();
}

AudioChannel check_channel(const AVChannelLayout& layout, const AudioChannel& asked,
                           const std::string& name) {
  if (asked.kind == Kind::kAutomatic || asked.kind == Kind::kDownmix) return asked;
  const std::vector<float> weights = mix_weights(layout, asked);
  if (weights.empty()) {
    const std::string which = asked.kind == Kind::kDifference
                                  ? "there is a difference of two channels only"
                                  : "the sound has no channel " + in_quotes(asked.to_string());
    throw Error(ErrorCode::kNotFound, name, which + "; channels are: " + list_channels(layout));
  }
  if (asked.kind != Kind::kNumber) return asked;
  return channels_of(layout)[static_cast<std::size_t>(asked.number)];
}

}  // namespace av_fusion
