// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/speech_activity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "av_fusion/core/error.h"
#include "av_fusion/features/log_mel.h"

namespace av_fusion {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kRate = AudioClip::kSampleRateHz;

FeatureSequence<float> mel_of(std::vector<float> samples) {
  const MediaTime end{static_cast<std::int64_t>(samples.size()) * 125 / 2};
  LogMelExtractor extractor({{20'000}, LogMelExtractor::kHop});
  extractor.push({{0}, std::move(samples)});
  extractor.finish(end - MediaDuration{20'000});
  return extractor.take_ready();
}

std::vector<std::uint8_t> activity(const FeatureSequence<float>& mel) {
  SpeechActivity speech;
  speech.push(mel);
  speech.finish();
  return speech.take_ready();
}

double share(const std::vector<std::uint8_t>& decisions, double from_s, double to_s) {
  double sum = 0;
  const auto from = static_cast<std::size_t>(from_s * 100),
             to = static_cast<std::size_t>(to_s * 100);
  for (std::size_t i = from; i < to; ++i) sum += decisions.at(i);
  return sum / static_cast<double>(to - from);
}

// Harmonics of a gliding 120 Hz voice in syllables of a quarter second, whose second formant moves.
float voice(double t) {
  const double syllable = 0.5 - 0.5 * std::cos(2 * kPi * 4 * t);
  const double formant = 1400 + 700 * std::sin(2 * kPi * 2.3 * t);
  double sum = 0;
  for (int h = 1; h <= 30; ++h) {
    const double hz = 120 * h;
    const double gain = std::exp(-std::pow((hz - 500) / 300, 2)) +
                        0.6 * std::exp(-std::pow((hz - formant) / 300, 2));
    sum += gain * std::sin(2 * kPi * h * (120 * t + 2 * std::sin(2 * kPi * 0.7 * t)));
  }
  return static_cast<float>(0.1 * syllable * syllable * sum);
}

std::vector<float> make_sound(double seconds, double noise_level, auto&& signal) {
  std::mt19937 random(3);
  std::normal_distribution<float> noise(0.0F, 1.0F);
  std::vector<float> samples(static_cast<std::size_t>(seconds * kRate));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(noise_level) * noise(random) +
                 static_cast<float>(signal(static_cast<double>(i) / kRate));
  }
  return samples;
}

TEST(SpeechActivity, DigitalSilenceIsNoSpeech) {
  const auto decisions = activity(mel_of(std::vector<float>(3 * kRate, 0.0F)));
  EXPECT_EQ(share(decisions, 0, 2.9), 0);
}

TEST(SpeechActivity, SteadyNoiseIsNoSpeech) {
  for (const double level : {0.0003, 0.003, 0.1}) {
    const auto decisions = activity(mel_of(make_sound(5, level, [](double) { return 0.0; })));
    EXPECT_EQ(share(decisions, 0, 4.9), 0) << level;
  }
}

TEST(SpeechActivity, ASteadyToneIsNoSpeech) {
  for (const double hz : {100.0, 440.0, 3000.0}) {
    const auto tone = [hz](double t) { return 0.3 * std::sin(2 * kPi * hz * t); };
    EXPECT_EQ(share(activity(mel_of(make_sound(4, 0, tone))), 0, 3.9), 0) << hz;
    EXPECT_EQ(share(activity(mel_of(make_sound(4, 0.001, tone))), 0, 3.9), 0) << hz;
  }
}

TEST(SpeechActivity, ABurstOfATrueToneIsNoSpeech) {
  const auto beep = [](double t) {
    return t > 1 && t < 3 ? 0.3 * std::sin(2 * kPi * 1000 * t) : 0.0;
  };
  EXPECT_LT(share(activity(mel_of(make_sound(4, 0, beep))), 0, 3.9), 0.05);
}

TEST(SpeechActivity, AVoiceIsSpeechAndThePausesAroundItAreNot) {
  for (const double level : {0.0, 0.001, 0.005}) {
    const auto talk = [](double t) { return t > 1.5 && t < 4.5 ? voice(t) : 0.0F; };
    const auto decisions = activity(mel_of(make_sound(6, level, talk)));
    EXPECT_GT(share(decisions, 1.6, 4.4), 0.9) << level;
    EXPECT_LT(share(decisions, 0, 1.3), 0.05) << level;
    EXPECT_LT(share(decisions, 4.8, 5.9), 0.05) << level;
  }
}

TEST(SpeechActivity, AVoiceFromTheFirstFrameIsHeard) {
  const auto decisions = activity(mel_of(make_sound(1.2, 0.001, voice)));
  EXPECT_GT(share(decisions, 0, 1.1), 0.9);
}

TEST(SpeechActivity, FramesThatAreNotValidAreNoSpeech) {
  auto mel = mel_of(make_sound(2, 0.001, voice));
  mel.valid.assign(mel.valid.size(), 0);
  EXPECT_EQ(share(activity(mel), 0, 1.9), 0);
}

// Pictures before and after the sound: frames of silence that are not valid.
TEST(SpeechActivity, ThatSoundBeginsAndEndsIsNoSpeech) {
  const auto in_sound = [](double t) { return t > 1 && t < 4; };
  const auto chord = [](double t) {
    return 0.2 * std::sin(2 * kPi * 440 * t) + 0.2 * std::sin(2 * kPi * 554 * t);
  };
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 0.1);
  const auto hiss = [&](double) { return noise(random); };
  const auto cut_out = [&](auto&& signal) {
    auto mel = mel_of(make_sound(5, 0, [&](double t) { return in_sound(t) ? signal(t) : 0; }));
    for (std::size_t i = 0; i < mel.valid.size(); ++i) {
      if (i < 100 || i >= 400) mel.valid[i] = 0;
    }
    return share(activity(mel), 0, 4.9);
  };
  EXPECT_EQ(cut_out(hiss), 0);
  EXPECT_LT(cut_out(chord), 0.01);
  EXPECT_GT(cut_out(voice), 0.55);  // of 0.6
}

TEST(SpeechActivity, AnyCutGivesTheSameDecisionsWithBoundedDelay) {
  const auto talk = [](double t) { return t > 1 && t < 2.5 ? voice(t) : 0.0F; };
  const auto mel = mel_of(make_sound(4, 0.001, talk));
  const auto whole = activity(mel);
  ASSERT_EQ(static_cast<std::int64_t>(whole.size()), mel.length());
  SpeechActivity speech;
  std::vector<std::uint8_t> pieces;
  for (std::int64_t i = 0; i < mel.length(); ++i) {
    FeatureSequence<float> one{Tensor<float>(Shape{1, 80}), mel.timeline, {1}};
    std::copy_n(mel.values.data() + i * 80, 80, one.values.data());
    speech.push(one);
    const auto ready = speech.take_ready();
    pieces.insert(pieces.end(), ready.begin(), ready.end());
    EXPECT_GE(static_cast<std::int64_t>(pieces.size()), i - 62);
  }
  speech.finish();
  const auto rest = speech.take_ready();
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  EXPECT_EQ(pieces, whole);
}

TEST(SpeechActivity, RefusesMisuse) {
  SpeechActivity speech;
  EXPECT_THROW(speech.push({Tensor<float>(Shape{2, 40}), {}, {1, 1}}), Error);
  EXPECT_THROW(speech.push({Tensor<float>(Shape{2, 80}), {}, {1}}), Error);
  speech.finish();
  EXPECT_THROW(speech.push({Tensor<float>(Shape{1, 80}), {}, {1}}), Error);
}

}  // namespace
}  // namespace av_fusion
