// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/exec_context.h"

namespace av_fusion {

/// The audio-visual network: two encoders and the cross-attention in which the pictures of a mouth
/// ask the sound. Immutable and safe to share between threads.
class AlignerModel {
 public:
  /// What a model file says about itself.
  struct Info {
    std::string name;
    std::string sha256;  ///< of the file
    std::string licence;
    std::string training_data;
  };

  /// The numbers a caller needs to feed the model.
  struct Geometry {
    std::int64_t token_dim = 0;  ///< D
    std::int64_t num_heads = 0;
    std::int64_t mouth_height = 0;  ///< rows of a crop
    std::int64_t mouth_width = 0;   ///< columns of a crop
    std::int64_t lip_features = 0;  ///< numbers of lip geometry a picture
    std::int64_t mel_bands = 0;
    std::int64_t audio_per_video = 0;  ///< audio frames in the time of one picture tick
    std::int64_t video_past = 0;       ///< picture ticks before a tick that its token depends on
    std::int64_t video_future = 0;
    std::int64_t audio_past = 0;  ///< audio frames before a frame that its token depends on
    std::int64_t audio_future = 0;
  };

  /// How raw evidence becomes a probability; fitted on data that did not train the network.
  struct Calibration {
    double evidence_scale = 1;      ///< multiplies summed logits of a short window
    double correlated_ticks = 1e9;  ///< scale / (1 + n / correlated_ticks) for n valid ticks
    double outlier_share = 0.01;    ///< probability spread evenly over all lags
    double match_scale = 1;         ///< slope of `LagPosterior::match_log_odds` over the contrast
    double match_bias = 0;          ///< and its value without contrast
    double match_ticks = 150;       ///< more ticks than this hardly add to the log-odds
    double speaking_scale = 0;      ///< `SpeakingCalibration` says what these five are
    double speaking_head = 1;
    double speaking_bias = 0;
    double speaking_start = 0.5;
    double speaking_stop = 0.5;
  };

  /// Throws `Error` naming the file (and the tensor) if it is missing, damaged, of a newer schema
  /// or not a model of this kind.
  static AlignerModel load(const std::filesystem::path& file);
  static AlignerModel load(std::span<const std::byte> bytes, const std::string& name);

  ~AlignerModel();
  AlignerModel(AlignerModel&&) noexcept;
  AlignerModel& operator=(AlignerModel&&) noexcept;

  const Info& info() const noexcept;
  const Geometry& geometry() const noexcept;
  const Calibration& calibration() const noexcept;

  /// Mouth pictures to video tokens. `crops` [T, mouth_height, mouth_width] grey 0..255, `lips`
  /// [T, lip_features], `tokens` [T, D]. Rows closer than `video_past` / `video_future` to an end
  /// of the input are exact only if that end is an end of the track. T = 0 does nothing.
  ///
  /// All views of this and the next two functions are dense and owned by the caller; they throw
  /// `Error(kShapeMismatch)` or `Error(kInvalidArgument)` naming the view that does not fit.
  void encode_video(ExecContext& context, TensorView<const std::uint8_t> crops,
                    TensorView<const float> lips, TensorView<float> tokens) const;

  /// Log-mel frames to audio tokens. `mel` [T, mel_bands], `tokens` [T, D].
  void encode_audio(ExecContext& context, TensorView<const float> mel,
                    TensorView<float> tokens) const;

  /// The fusion. `video` [Tv, D], `audio` [Ta, D]; audio token `first_key + audio_per_video * i` is
  /// heard at the tick of video token i; lags run over -width .. width audio frames. Outputs:
  /// `lag_logits` [Tv, 2 width + 1] (sums over heads), `head_weights` [Tv, H, 2 width + 1],
  /// `speaking_logits` [Tv]. Frames outside the audio are not heard: logit 0, weight 0; so are all
  /// if Ta = 0.
  void fuse(ExecContext& context, TensorView<const float> video, TensorView<const float> audio,
            std::int64_t first_key, std::int64_t width, TensorView<float> lag_logits,
            TensorView<float> head_weights, TensorView<float> speaking_logits) const;

 private:
  class Impl;
  explicit AlignerModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
