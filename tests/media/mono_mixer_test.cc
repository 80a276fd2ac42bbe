// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "av_fusion/media/mono_mixer_internal.h"

namespace av_fusion {
namespace {

// A frame of one sample for each channel.
template <typename T>
FfmpegPtr<AVFrame> frame_of(AVSampleFormat format, const std::vector<T>& channels) {
  FfmpegPtr<AVFrame> frame = own(av_frame_alloc());
  frame->format = format;
  frame->nb_samples = 1;
  frame->sample_rate = 16000;
  frame->ch_layout.order = AV_CHANNEL_ORDER_UNSPEC;
  frame->ch_layout.nb_channels = static_cast<int>(channels.size());
  EXPECT_GE(av_frame_get_buffer(frame.get(), 0), 0);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const bool planar = av_sample_fmt_is_planar(format) != 0;
    std::uint8_t* at = planar ? frame->extended_data[i] : frame->extended_data[0] + i * sizeof(T);
    std::memcpy(at, &channels[i], sizeof(T));
  }
  return frame;
}

template <typename T>
float mixed(AVSampleFormat format, const std::vector<T>& channels,
            const std::string& channel = "downmix") {
  MonoMixer mixer(AudioChannel::parse(channel));
  return mixer.mix(*frame_of(format, channels)).front();
}

TEST(MonoMixerTest, ReadsAllSampleFormats) {
  EXPECT_EQ(mixed<std::uint8_t>(AV_SAMPLE_FMT_U8, {192}), 0.5F);
  EXPECT_EQ(mixed<std::int16_t>(AV_SAMPLE_FMT_S16, {-16384}), -0.5F);
  EXPECT_EQ(mixed<std::int32_t>(AV_SAMPLE_FMT_S32, {1 << 30}), 0.5F);
  EXPECT_EQ(mixed<std::int64_t>(AV_SAMPLE_FMT_S64, {INT64_MIN}), -1.0F);
  EXPECT_EQ(mixed<float>(AV_SAMPLE_FMT_FLT, {0.25F}), 0.25F);
  EXPECT_EQ(mixed<double>(AV_SAMPLE_FMT_DBL, {0.125}), 0.125F);
  EXPECT_EQ(mixed<double>(AV_SAMPLE_FMT_DBLP, {1e300}), 8.0F);
}

TEST(MonoMixerTest, GuessesStereoPackedAndPlanar) {
  EXPECT_NEAR(mixed<std::int16_t>(AV_SAMPLE_FMT_S16, {16384, 8192}), 0.375, 1e-6);
  EXPECT_NEAR(mixed<float>(AV_SAMPLE_FMT_FLTP, {0.5F, 0.25F}), 0.375, 1e-6);
}

TEST(MonoMixerTest, ManyChannelsWithoutNamesWeighTheSame) {
  const std::vector<float> channels = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3};
  EXPECT_NEAR(mixed(AV_SAMPLE_FMT_FLTP, channels), 42.0 / 11, 1e-5);
  EXPECT_NEAR(mixed(AV_SAMPLE_FMT_FLT, channels), 42.0 / 11, 1e-5);
}

TEST(MonoMixerTest, NotFiniteIsSilence) {
  EXPECT_EQ(mixed<float>(AV_SAMPLE_FMT_FLT, {std::nanf(""), 0.5F}), 0.25F);
  EXPECT_EQ(mixed<double>(AV_SAMPLE_FMT_DBL, {INFINITY}), 0.0F);
}

TEST(MonoMixerTest, TakesOneChannelByNumberOrName) {
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};  // FL FR FC LFE BL BR
  for (const AVSampleFormat format : {AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP}) {
    EXPECT_EQ(mixed(format, six, "0"), 1);
    EXPECT_EQ(mixed(format, six, "5"), 6);
    EXPECT_EQ(mixed(format, six, "FC"), 3);
    EXPECT_EQ(mixed(format, six, "LFE"), 4);
  }
  EXPECT_EQ(mixed<float>(AV_SAMPLE_FMT_FLT, {7}, "FC"), 7);
}

TEST(MonoMixerTest, TakesTheDifferenceOfTwo) {
  EXPECT_EQ(mixed<float>(AV_SAMPLE_FMT_FLT, {3, 1}, "difference"), 1);
  EXPECT_EQ(mixed<std::int16_t>(AV_SAMPLE_FMT_S16P, {16384, -16384}, "difference"), 0.5F);
}

TEST(MonoMixerTest, MixesWhenTheChannelIsMissing) {
  MonoMixer mixer(AudioChannel::parse("FC"));
  EXPECT_EQ(mixer.mix(*frame_of<float>(AV_SAMPLE_FMT_FLT, {0, 0, 4, 0, 0, 0})).front(), 4);
  EXPECT_FALSE(mixer.missed_channel());
  EXPECT_EQ(mixer.mix(*frame_of<float>(AV_SAMPLE_FMT_FLT, {2, 4})).front(), 3);
  EXPECT_TRUE(mixer.missed_channel());
}

TEST(MonoMixerTest, NamesChannels) {
  const auto names = [](const AVChannelLayout& layout) {
    std::string list;
    for (const AudioChannel& channel : channels_of(layout)) list += channel.to_string() + " ";
    return list;
  };
  AVChannelLayout layout{};
  av_channel_layout_default(&layout, 6);
  EXPECT_EQ(names(layout), "FL FR FC LFE BL BR ");
  layout = {};
  layout.order = AV_CHANNEL_ORDER_UNSPEC;
  layout.nb_channels = 11;
  EXPECT_EQ(names(layout), "0 1 2 3 4 5 6 7 8 9 10 ");
  AVChannelCustom twins[3] = {};
  twins[0].id = twins[1].id = AV_CHAN_FRONT_LEFT;
  twins[2].id = AV_CHAN_UNUSED;
  layout = {};
  layout.order = AV_CHANNEL_ORDER_CUSTOM;
  layout.nb_channels = 3;
  layout.u.map = twins;
  EXPECT_EQ(names(layout), "FL 1 2 ");
}

}  // namespace
}  // namespace av_fusion
