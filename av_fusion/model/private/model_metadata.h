// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "av_fusion/model/aligner_model.h"
#include "av_fusion/nn/weights_file.h"

namespace av_fusion {

/// The sizes of the network: the fields of `Config` in apps/train_aligner/model.py, where they are
/// explained.
struct ModelConfig {
  std::int64_t token_dim = 0;
  std::int64_t num_heads = 0;
  std::int64_t mouth_height = 0;
  std::int64_t mouth_width = 0;
  std::int64_t lip_features = 0;
  std::int64_t mel_bands = 0;
  std::int64_t audio_per_video = 0;
  std::int64_t mean_radius = 0;
  std::int64_t stack_radius = 0;
  std::int64_t picture_pool = 0;
  std::vector<std::int64_t> picture_channels;
  std::int64_t lip_channels = 0;
  std::int64_t temporal_kernel = 0;
  std::int64_t video_blocks = 0;
  std::int64_t video_attention_width = 0;
  std::vector<std::int64_t> audio_dilations;
  std::int64_t audio_attention_width = 0;
  std::int64_t feed_forward = 0;
};

/// What the metadata of a model file says (apps/train_aligner/export.py describes it).
struct ModelMetadata {
  AlignerModel::Info info;  ///< with the digest of the file
  ModelConfig config;
  AlignerModel::Calibration calibration;
};

/// Throws `Error` naming the file: `kUnsupported` if it is not a model of this kind or of a newer
/// schema, `kCorruptData` if an entry is missing, unknown or out of range.
ModelMetadata read_model_metadata(const WeightsFile& file);

/// Sizes and the receptive field that follow from `config`.
AlignerModel::Geometry geometry_of(const ModelConfig& config);

}  // namespace av_fusion
