// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/model_metadata.h"

#include <gtest/gtest.h>

#include "tests/nn/weights_file_builder.h"

namespace av_fusion {
namespace {

constexpr char kName[] = "small.safetensors";

Bytes small_model() { return read_file(AV_FUSION_TEST_DATA_DIR "/small_aligner.safetensors"); }

ModelMetadata read(const Bytes& bytes) {
  return read_model_metadata(WeightsFile::from_bytes(bytes, kName));
}

void expect_refused(const std::string& from, const std::string& to, ErrorCode code,
                    std::vector<std::string> words) {
  SCOPED_TRACE(from + " -> " + to);
  words.push_back(kName);
  expect_error([&] { read(edit_header(small_model(), from, to)); }, code, words);
}

void expect_corrupt(const std::string& from, const std::string& to,
                    const std::vector<std::string>& words) {
  expect_refused(from, to, ErrorCode::kCorruptData, words);
}

TEST(ModelMetadata, SaysWhatMakeGoldenWrote) {
  const ModelMetadata metadata = read(small_model());
  EXPECT_EQ(metadata.info.name, "small random weights");
  EXPECT_EQ(metadata.info.licence, "Apache-2.0");
  EXPECT_EQ(metadata.info.training_data, "none, random weights");
  EXPECT_EQ(metadata.info.sha256.size(), 64u);
  EXPECT_EQ(metadata.config.token_dim, 32);
  EXPECT_EQ(metadata.config.mouth_height, 32);
  EXPECT_EQ(metadata.config.picture_channels, (std::vector<std::int64_t>{4, 8, 16}));
  EXPECT_EQ(metadata.config.audio_dilations, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(metadata.config.feed_forward, 48);
  EXPECT_EQ(metadata.calibration.evidence_scale, 0.75);
  EXPECT_EQ(metadata.calibration.correlated_ticks, 40);
  EXPECT_EQ(metadata.calibration.outlier_share, 0.02);
  EXPECT_EQ(metadata.calibration.match_scale, 1.5);
  EXPECT_EQ(metadata.calibration.match_bias, -0.25);
  EXPECT_EQ(metadata.calibration.match_ticks, 120);
  EXPECT_EQ(metadata.calibration.speaking_scale, 0.25);
  EXPECT_EQ(metadata.calibration.speaking_head, 0.2);
  EXPECT_EQ(metadata.calibration.speaking_bias, -0.4);
  EXPECT_EQ(metadata.calibration.speaking_start, 0.1);
  EXPECT_EQ(metadata.calibration.speaking_stop, 0.15);
}

TEST(ModelMetadata, GeometryFollowsFromTheConfig) {
  const AlignerModel::Geometry geometry = geometry_of(read(small_model()).config);
  EXPECT_EQ(geometry.token_dim, 32);
  EXPECT_EQ(geometry.num_heads, 2);
  EXPECT_EQ(geometry.mouth_height, 32);
  EXPECT_EQ(geometry.mouth_width, 48);
  EXPECT_EQ(geometry.lip_features, 5);
  EXPECT_EQ(geometry.mel_bands, 20);
  EXPECT_EQ(geometry.audio_per_video, 4);
  // Mean 5, stack 1, two kernels of 5, attention 4. The tests of the model show that this is so.
  EXPECT_EQ(geometry.video_past, 5 + 1 + 2 * 2 + 4);
  EXPECT_EQ(geometry.video_future, geometry.video_past);
  // Stem 2, kernels of 5 with dilations 1 and 2, attention 8.
  EXPECT_EQ(geometry.audio_past, 2 + 2 * (1 + 2) + 8);
  EXPECT_EQ(geometry.audio_future, geometry.audio_past);
}

TEST(ModelMetadata, RefusesANewerSchema) {
  expect_refused(R"("schema_version":"1")", R"("schema_version":"2")", ErrorCode::kUnsupported,
                 {"made by a newer av_fusion (schema 2); this build reads up to 1"});
  for (const char* version : {"", "0", "-1", "1.0", "one", "1 ", "99999999999999"}) {
    expect_corrupt(R"("schema_version":"1")", R"("schema_version":")" + std::string(version) + "\"",
                   {"schema_version"});
  }
}

TEST(ModelMetadata, RefusesOtherKindsOfModels) {
  expect_refused("av_fusion/aligner-model", "other", ErrorCode::kUnsupported,
                 {"not an av_fusion aligner model", "\"other\""});
  expect_refused(R"("format")", R"("formal")", ErrorCode::kUnsupported,
                 {"not an av_fusion aligner model", "missing"});
}

TEST(ModelMetadata, NamesWhatIsMissing) {
  for (const char* key :
       {"schema_version", "name", "config", "calibration", "licence", "training_data"}) {
    expect_corrupt("\"" + std::string(key) + "\"", "\"other\"", {"\"" + std::string(key) + "\""});
  }
  expect_corrupt(R"(\"feed_forward\")", R"(\"fodder\")", {"config", "feed_forward", "missing"});
  expect_corrupt(R"(\"match_bias\")", R"(\"match\")", {"calibration", "match_bias", "missing"});
}

TEST(ModelMetadata, RefusesEntriesThatItDoesNotKnow) {
  expect_corrupt(R"(\"token_dim\")", R"(\"layers\": 3, \"token_dim\")",
                 {"config", "\"layers\"", "not known"});
  expect_corrupt(R"(\"match_bias\")", R"(\"temperature\": 3, \"match_bias\")",
                 {"calibration", "\"temperature\"", "not known"});
}

TEST(ModelMetadata, RefusesAConfigThatCannotBe) {
  const std::string dim = R"(\"token_dim\": 32)";
  for (const char* value :
       {"0", "-32", "32.0", "\\\"32\\\"", "null", "5000", "18446744073709551615", "1e30"}) {
    expect_corrupt(dim, R"(\"token_dim\": )" + std::string(value), {"config", "token_dim"});
  }
  expect_corrupt(R"(\"num_heads\": 2)", R"(\"num_heads\": 5)",
                 {"token_dim", "multiple", "num_heads"});
  expect_corrupt(R"(\"temporal_kernel\": 5)", R"(\"temporal_kernel\": 4)",
                 {"temporal_kernel", "odd"});
  expect_corrupt(R"(\"mouth_height\": 32)", R"(\"mouth_height\": 40)",
                 {"mouth_height", "multiple of 16"});
  expect_corrupt(R"(\"mouth_width\": 48)", R"(\"mouth_width\": 56)",
                 {"mouth_width", "multiple of 16"});
  expect_corrupt(R"([4, 8, 16])", R"([])", {"picture_channels"});
  expect_corrupt(R"([4, 8, 16])", R"([4, 8, 0])", {"picture_channels"});
  expect_corrupt(R"([4, 8, 16])", R"([4, 8, \"x\"])", {"picture_channels"});
  expect_corrupt(R"([4, 8, 16])", R"([1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])", {"picture_channels"});
}

TEST(ModelMetadata, RefusesACalibrationThatCannotBe) {
  for (const char* value : {"0", "-1", "null", "\\\"1\\\"", "1e10"}) {
    expect_corrupt(R"(\"evidence_scale\": 0.75)", R"(\"evidence_scale\": )" + std::string(value),
                   {"calibration", "evidence_scale"});
  }
  expect_corrupt(R"(\"outlier_share\": 0.02)", R"(\"outlier_share\": 1.5)",
                 {"calibration", "outlier_share"});
  expect_corrupt(R"(\"match_bias\": -0.25)", R"(\"match_bias\": NaN)", {"calibration"});
}

}  // namespace
}  // namespace av_fusion
