// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
//
// The network against PyTorch: apps/train_aligner/make_golden.py wrote the files and says what is
// in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/weights_file.h"

namespace av_fusion {
namespace {

constexpr float kTolerance = 1e-5f;

void expect_near(const Tensor<float>& got, const Tensor<float>& expected, const char* what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  double worst = 0;
  for (std::size_t i = 0; i < got.elements().size(); ++i) {
    const float want = expected.elements()[i];
    const float error = std::abs(got.elements()[i] - want) / std::max(1.0f, std::abs(want));
    ASSERT_LE(error, kTolerance) << what << ", element " << i << ": " << got.elements()[i]
                                 << " instead of " << want;
    worst = std::max(worst, static_cast<double>(error));
  }
  ::testing::Test::RecordProperty(std::string("worst ") + what, std::to_string(worst));
}

class ModelGolden : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string path(const std::string& what) {
    return std::string(AV_FUSION_TEST_DATA_DIR) + "/" + GetParam() + "_" + what + ".safetensors";
  }

  const AlignerModel model_ = AlignerModel::load(path("aligner"));
  const WeightsFile golden_ = WeightsFile::open(path("golden"));
  ExecContext context_;
};

TEST_P(ModelGolden, VideoTokens) {
  const Tensor<std::uint8_t> crops = golden_.tensor_u8("crops");
  const Tensor<float> lips = golden_.tensor("lips");
  Tensor<float> tokens({crops.dim(0), model_.geometry().token_dim});
  model_.encode_video(context_, crops.view(), lips.view(), tokens.view());
  expect_near(tokens, golden_.tensor("video_tokens"), "video tokens");
}

TEST_P(ModelGolden, AudioTokens) {
  const Tensor<float> mel = golden_.tensor("mel");
  Tensor<float> tokens({mel.dim(0), model_.geometry().token_dim});
  model_.encode_audio(context_, mel.view(), tokens.view());
  expect_near(tokens, golden_.tensor("audio_tokens"), "audio tokens");
}

TEST_P(ModelGolden, Fusion) {
  const Tensor<float> video = golden_.tensor("video_tokens");
  const Tensor<float> audio = golden_.tensor("audio_tokens");
  int cases = 0;
  for (; golden_.contains("fuse." + std::to_string(cases) + ".width"); ++cases) {
    const std::string prefix = "fuse." + std::to_string(cases) + ".";
    SCOPED_TRACE(prefix);
    const std::int64_t width = golden_.tensor_i64(prefix + "width").elements()[0];
    const std::int64_t first_key = golden_.tensor_i64(prefix + "first_key").elements()[0];
    const std::int64_t lags = 2 * width + 1;
    Tensor<float> logits({video.dim(0), lags});
    Tensor<float> weights({video.dim(0), model_.geometry().num_heads, lags});
    Tensor<float> speaking({video.dim(0)});
    model_.fuse(context_, video.view(), audio.view(), first_key, width, logits.view(),
                weights.view(), speaking.view());
    expect_near(logits, golden_.tensor(prefix + "lag_logits"), "lag logits");
    expect_near(weights, golden_.tensor(prefix + "head_weights"), "head weights");
    expect_near(speaking, golden_.tensor(prefix + "speaking_logits"), "speaking logits");
  }
  EXPECT_EQ(cases, 3);
}

INSTANTIATE_TEST_SUITE_P(Files, ModelGolden, ::testing::Values("small", "tiny"),
                         [](const auto& suite) { return suite.param; });

}  // namespace
}  // namespace av_fusion
