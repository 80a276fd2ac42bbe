// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "av_fusion/media/channel_choice_internal.h"
#include "made_sound.h"
#include "media_test_util.h"

namespace av_fusion {
namespace {

using Channels = std::vector<std::vector<float>>;

FfmpegPtr<AVFrame> frame_of(const Channels& channels, const AVChannelLayout& layout,
                            std::size_t from, std::size_t count) {
  FfmpegPtr<AVFrame> frame = own(av_frame_alloc());
  frame->format = AV_SAMPLE_FMT_FLTP;
  frame->nb_samples = static_cast<int>(count);
  frame->sample_rate = 16000;
  EXPECT_GE(av_channel_layout_copy(&frame->ch_layout, &layout), 0);
  EXPECT_GE(av_frame_get_buffer(frame.get(), 0), 0);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    std::memcpy(frame->extended_data[i], channels[i].data() + from, count * sizeof(float));
  }
  return frame;
}

AVChannelLayout layout_for(std::size_t channels) {
  AVChannelLayout layout{};
  av_channel_layout_default(&layout, static_cast<int>(channels));
  return layout;
}

// The choice, with "!" if the down-mix cancels.
std::string choice(const Channels& channels, const AVChannelLayout& layout,
                   std::size_t step = 1024) {
  ChannelChoice chooser;
  const std::size_t length = channels.front().size();
  for (std::size_t at = 0; at < length && !chooser.enough(); at += step) {
    chooser.add(*frame_of(channels, layout, at, std::min(step, length - at)));
  }
  const ChannelChoice::Answer answer = chooser.answer();
  return answer.channel.to_string() + (answer.cancels ? "!" : "");
}

std::string choice(const Channels& channels) {
  return choice(channels, layout_for(channels.size()));
}

class ChannelChoiceTest : public testing::Test {
 protected:
  static constexpr double kLength = 12;

  static const std::vector<float>& speech() {
    static const std::vector<float> kSpeech = sample_speech(kLength);
    return kSpeech;
  }
  static const std::vector<float>& music() {
    static const std::vector<float> kMusic = made_music(kLength, 112);
    return kMusic;
  }
  static const std::vector<float>& other_music() {
    static const std::vector<float> kMusic = made_music(kLength, 97);
    return kMusic;
  }
  // Somebody else, who says the same later.
  static std::vector<float> other_speech() {
    std::vector<float> other = speech();
    std::rotate(other.begin(), other.begin() + 50000, other.end());
    return other;
  }
  static std::vector<float> silence() { return std::vector<float>(speech().size()); }
  static std::vector<float> noise(unsigned seed) { return made_noise(kLength, seed); }
};

TEST_F(ChannelChoiceTest, OrdinaryStereoIsMixed) {
  EXPECT_EQ(choice({speech(), speech()}), "downmix");
  EXPECT_EQ(choice({speech(), scaled(speech(), 0.3)}), "downmix");
  EXPECT_EQ(
      choice({sum_of(speech(), scaled(noise(1), 0.1)), sum_of(speech(), scaled(noise(2), 0.1))}),
      "downmix");
  // A voice in the middle, music at the sides.
  EXPECT_EQ(choice({sum_of(speech(), scaled(music(), 0.7)),
                    sum_of(speech(), scaled(other_music(), 0.7))}),
            "downmix");
  // A voice aside, which the difference would free of the music.
  EXPECT_EQ(choice({sum_of(scaled(speech(), 1.3), scaled(music(), 0.6)),
                    sum_of(scaled(speech(), 0.7), scaled(music(), 0.6))}),
            "downmix");
  // A pair of microphones a foot apart.
  std::vector<float> late = speech();
  std::rotate(late.begin(), late.end() - 16, late.end());
  EXPECT_EQ(choice({speech(), late}), "downmix");
}

TEST_F(ChannelChoiceTest, SoundWithoutSpeechIsMixed) {
  EXPECT_EQ(choice({music(), other_music()}), "downmix");
  EXPECT_EQ(choice({music(), silence()}), "downmix");
  EXPECT_EQ(choice({noise(1), noise(2)}), "downmix");
  EXPECT_EQ(choice({silence(), silence()}), "downmix");
  EXPECT_EQ(choice({music(), music(), noise(1), silence(), music(), other_music()}), "downmix");
}

TEST_F(ChannelChoiceTest, TwoWhoSpeakAreMixed) {
  EXPECT_EQ(choice({speech(), other_speech()}), "downmix");
  std::vector<float> first = speech();
  std::vector<float> second = other_speech();  // they take turns of 3 s
  for (std::size_t i = 0; i < first.size(); ++i) (i / 48000 % 2 == 0 ? second : first)[i] *= 0.001F;
  EXPECT_EQ(choice({first, second}), "downmix");
}

TEST_F(ChannelChoiceTest, ASilentChannelDoesNotMatter) {
  EXPECT_EQ(choice({speech(), silence()}), "downmix");
  EXPECT_EQ(choice({silence(), speech()}), "downmix");
}

TEST_F(ChannelChoiceTest, ABangInASilentChannelIsNoSpeech) {
  std::vector<float> bang = silence();
  const std::vector<float> burst = made_noise(0.2, 4);
  std::copy(burst.begin(), burst.end(), bang.begin() + 50000);
  EXPECT_EQ(choice({music(), scaled(bang, 4)}), "downmix");
}

TEST_F(ChannelChoiceTest, AntiphaseIsTheDifference) {
  EXPECT_EQ(choice({speech(), scaled(speech(), -1)}), "difference!");
  EXPECT_EQ(choice({speech(), scaled(speech(), -0.9)}), "difference!");
  EXPECT_EQ(choice({music(), scaled(music(), -1)}), "difference!");
  // What is left of the down-mix is not nothing, but the music.
  EXPECT_EQ(choice({sum_of(speech(), music()), sum_of(scaled(speech(), -1), music())}),
            "difference");
}

TEST_F(ChannelChoiceTest, TheSideThatSpeaks) {
  EXPECT_EQ(choice({speech(), music()}), "FL");
  EXPECT_EQ(choice({music(), speech()}), "FR");
  EXPECT_EQ(choice({scaled(speech(), 0.3), music()}), "FL");
  EXPECT_EQ(choice({noise(1), speech()}), "FR");
  EXPECT_EQ(choice({speech(), scaled(music(), 0.1)}), "downmix");  // -20 dB do no harm
}

TEST_F(ChannelChoiceTest, TheCentreThatSpeaks) {
  const std::vector<float> surround = scaled(other_music(), 0.5);
  AVChannelLayout surround_layout{};
  ASSERT_EQ(av_channel_layout_from_mask(&surround_layout, AV_CH_LAYOUT_SURROUND), 0);
  EXPECT_EQ(choice({music(), other_music(), speech(), silence(), surround, surround}), "FC");
  EXPECT_EQ(choice({music(), other_music(), speech()}, surround_layout), "FC");
  // The sides may hold voices of a crowd.
  EXPECT_EQ(
      choice({sum_of(music(), other_speech()), music(), speech(), silence(), surround, surround}),
      "FC");
  EXPECT_EQ(choice({silence(), silence(), speech(), silence(), silence(), silence()}), "downmix");
}

TEST_F(ChannelChoiceTest, NamesThatAreGuessedAreNoReasonForTheCentre) {
  AVChannelLayout layout{};
  layout.order = AV_CHANNEL_ORDER_UNSPEC;
  layout.nb_channels = 4;  // the third would be the centre
  // Two microphones of four speak.
  EXPECT_EQ(choice({other_speech(), music(), speech(), other_music()}, layout), "downmix");
}

TEST_F(ChannelChoiceTest, ChannelsWithoutNamesAreNumbered) {
  AVChannelLayout layout{};
  layout.order = AV_CHANNEL_ORDER_UNSPEC;
  layout.nb_channels = 9;
  EXPECT_EQ(
      choice({music(), music(), music(), music(), speech(), music(), music(), music(), music()},
             layout),
      "4");
}

TEST_F(ChannelChoiceTest, DoesNotDependOnHowTheSoundIsCut) {
  const Channels sides = {speech(), sum_of(music(), scaled(speech(), 0.1))};
  for (const std::size_t step : {160U, 1152U, 16000U, 100000U}) {
    EXPECT_EQ(choice(sides, layout_for(2), step), "FL") << step;
  }
}

TEST_F(ChannelChoiceTest, LooksAtTwentySecondsWithSoundOrAMinute) {
  const auto seconds_looked_at = [](const Channels& channels) {
    ChannelChoice chooser;
    std::size_t at = 0;
    for (; at < channels.front().size() && !chooser.enough(); at += 16000) {
      chooser.add(*frame_of(channels, layout_for(2), at, 16000));
    }
    return at / 16000;
  };
  const std::vector<float> nothing(90 * 16000);
  EXPECT_EQ(seconds_looked_at({nothing, nothing}), 60U);
  std::vector<float> late = nothing;
  const std::vector<float> sound = made_noise(40, 1);
  std::copy(sound.begin(), sound.end(), late.begin() + 15 * 16000);
  EXPECT_EQ(seconds_looked_at({nothing, late}), 35U);
}

TEST_F(ChannelChoiceTest, TooLittleSoundIsMixed) {
  const auto piece = [](const std::vector<float>& sound) {
    return std::vector<float>(sound.begin(), sound.begin() + 24000);
  };
  EXPECT_EQ(choice({piece(speech()), piece(scaled(speech(), -1))}), "downmix");
}

}  // namespace
}  // namespace av_fusion
