// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/report/summary.h"

#include <gtest/gtest.h>

namespace av_fusion {
namespace {

Alignment measured(double ms) {
  Alignment alignment;
  alignment.status = AlignmentStatus::kMeasured;
  alignment.reason = "measured from 9.00 s of 2 faces";
  alignment.offset = Offset{ms, ms - 8, ms + 7, 0.97};
  FaceTrack listener;
  listener.id = 1;
  listener.end = {4'000'000};
  FaceTrack speaker;
  speaker.id = 2;
  speaker.start = {1'000'000};
  speaker.end = {9'000'000};
  speaker.box[0] = 10, speaker.box[1] = 20, speaker.box[2] = 64, speaker.box[3] = 65;
  speaker.speaking = {{{1'000'000}, {3'500'000}, 0.9}, {{5'000'000}, {6'000'000}, 0.8}};
  alignment.tracks = {listener, speaker};
  return alignment;
}

TEST(Summary, IsOneSentenceInWords) {
  EXPECT_EQ(summarize(measured(119.6)), "sound 120 ms early (confidence 0.97)");
  EXPECT_EQ(summarize(measured(-80.2)), "sound 80 ms late (confidence 0.97)");
  EXPECT_EQ(summarize(measured(-1.9)), "in sync (sound 2 ms late, confidence 0.97)");
  EXPECT_EQ(summarize(measured(-0.3)), "in sync (0 ms, confidence 0.97)");
  Alignment none;
  none.status = AlignmentStatus::kNoFace;
  none.reason = "a face was seen in 3 of 120 pictures";
  EXPECT_EQ(summarize(none), "not measured: a face was seen in 3 of 120 pictures");
}

TEST(Explain, SoundEarlyIsCorrectedByDelayingTheSound) {
  EXPECT_EQ(explain(measured(120), find_tolerance("ebu-r37")),
            "face: number 2 of 2, 1.0 s to 9.0 s, 64 x 65 pixels at (10, 20)\n"
            "speech: 3.5 s spoken by faces in view, which were followed for 12.0 s\n"
            "interval: +112 ms to +127 ms (95 %; more than 0 is sound early)\n"
            "tolerance: ebu-r37 (EBU R37 (2007), output feeding transmitters), -60 ms to +40 ms: "
            "fail\n"
            "to correct: delay the sound by 120 ms, for example\n"
            "  ffmpeg -i INPUT -itsoffset 0.120 -i INPUT -map 0:v -map 1:a -c copy OUTPUT\n");
}

TEST(Explain, SoundLateIsCorrectedByDelayingThePicture) {
  const std::string text = explain(measured(-1080));
  EXPECT_NE(text.find("to correct: delay the picture by 1080 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("-itsoffset 1.080 -i INPUT -map 1:v -map 0:a"), std::string::npos) << text;
  EXPECT_NE(text.find("interval: -1088 ms to -1073 ms"), std::string::npos) << text;
  EXPECT_EQ(text.find("tolerance"), std::string::npos);
}

TEST(Explain, InSyncNeedsNoCorrection) {
  const std::string text = explain(measured(2));
  EXPECT_NE(text.find("to correct: nothing"), std::string::npos) << text;
  EXPECT_EQ(text.find("ffmpeg"), std::string::npos);
}

TEST(Explain, SaysThatOnlyPartsWereAnalysed) {
  Alignment alignment = measured(2);
  EXPECT_EQ(explain(alignment).find("analysed"), std::string::npos);
  alignment.parts = {{{20'000'000}, {32'000'000}}, {{100'000'000}, {112'000'000}}};
  EXPECT_NE(explain(alignment).find("analysed: 24.0 s in 2 parts, from 20.0 s to 112.0 s"),
            std::string::npos)
      << explain(alignment);
}

TEST(Explain, NotMeasuredOffersNoCorrection) {
  Alignment alignment = measured(120);
  alignment.status = AlignmentStatus::kAmbiguous;
  alignment.offset.reset();
  const std::string text = explain(alignment, find_tolerance("ebu-r37"));
  EXPECT_NE(text.find("face: number 2"), std::string::npos) << text;
  EXPECT_EQ(text.find("correct"), std::string::npos);
  EXPECT_EQ(text.find("interval"), std::string::npos);
  EXPECT_EQ(explain(Alignment()), "");
}

}  // namespace
}  // namespace av_fusion
