// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/cross_attention_fusion.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "av_fusion/nn/block_internal.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

using Masks = MultiHeadAttention::Masks;
using Details = MultiHeadAttention::Details;

constexpr std::string_view kLayer = "cross_attention_fusion";

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, kLayer, message);
}

std::string layer_name(std::size_t index) {
  return std::string(kLayer) + " layers[" + std::to_string(index) + "] ";
}

// What all layers have in common.
struct Widths {
  std::int64_t dim = 0;
  std::int64_t audio = 0;
  int num_heads = 0;
};

void check_layer(const CrossAttentionFusion::Layer& layer, const Widths& widths,
                 const std::string& name) {
  const MultiHeadAttention::Params& attention = layer.attention;
  expect_shape(attention.query_weight.shape(), {widths.dim, widths.dim},
               name + "attention query_weight");
  const Shape from_audio{widths.dim, widths.audio};
  expect_shape(attention.key_weight.shape(), from_audio, name + "attention key_weight");
  expect_shape(attention.value_weight.shape(), from_audio, name + "attention value_weight");
  if (attention.num_heads != widths.num_heads) {
    throw Error(ErrorCode::kInvalidArgument, name + "attention",
                std::to_string(attention.num_heads) + " heads, but layers[0] has " +
                    std::to_string(widths.num_heads));
  }
  const auto check_norm = [&](const LayerNorm::Params& norm, std::int64_t width,
                              std::string_view part) {
    expect_shape(norm.scale.shape(), {width}, name + std::string(part));
  };
  if (!layer.query_norm.scale.empty()) {
    check_norm(layer.query_norm, widths.dim, "query_norm scale");
  }
  if (!layer.key_norm.scale.empty()) check_norm(layer.key_norm, widths.audio, "key_norm scale");
  check_norm(layer.feed_forward.norm, widths.dim, "feed_forward norm scale");
}

CrossAttentionFusion::Params checked(CrossAttentionFusion::Params params) {
  if (params.layers.empty()) refuse("there are no layers");
  const MultiHeadAttention::Params& first = params.layers[0].attention;
  expect_shape(first.key_weight.shape(), {kAny, kAny}, layer_name(0) + "attention key_weight");
  const Widths widths{first.key_weight.dim(0), first.key_weight.dim(1), first.num_heads};
  for (std::size_t i = 0; i < params.layers.size(); ++i) {
    check_layer(params.layers[i], widths, layer_name(i));
  }
  return params;
}

std::optional<LayerNorm> make_norm(LayerNorm::Params params) {
  if (params.scale.empty()) return std::nullopt;
  return LayerNorm(std::move(params));
}

}  // namespace

class CrossAttentionFusion::Impl {
  using Frame = ExecContext::Impl::Frame;

  struct Stage {
    explicit Stage(Layer params)
        : query_norm(make_norm(std::move(params.query_norm))),
          key_norm(make_norm(std::move(params.key_norm))),
          attention(std::move(params.attention)),
          feed_forward(std::move(params.feed_forward)) {}

    std::optional<LayerNorm> query_norm;
    std::optional<LayerNorm> key_norm;
    MultiHeadAttention attention;
    FeedForward feed_forward;
  };

 public:
  explicit Impl(Params params) {
    for (Layer& layer : params.layers) {
      stages_.emplace_back(std::move(layer));
      has_key_norm_ = has_key_norm_ || stages_.back().key_norm.has_value();
    }
  }

  const MultiHeadAttention& attention() const noexcept { return stages_[0].attention; }
  std::size_t num_layers() const noexcept { return stages_.size(); }

  void check(const TensorView<const float>& video, const TensorView<const float>& audio,
             const TensorView<float>& fused, std::span<const Details> details) const {
    internal::expect_operand(video, {kAny, kAny, attention().embed_dim()}, kLayer, "video");
    internal::expect_operand(audio, {video.dim(0), kAny, attention().key_width()}, kLayer, "audio");
    internal::expect_operand(fused, video.shape(), kLayer, "fused");
    if (video.empty()) refuse("the video " + video.shape().to_string() + " is empty");
    if (audio.empty()) refuse("the audio " + audio.shape().to_string() + " is empty");
    if (fused.data() != video.data()) internal::expect_disjoint(video, fused, kLayer);
    internal::expect_disjoint(audio, fused, kLayer);
    if (!details.empty() && details.size() != stages_.size()) {
      refuse("details has " + std::to_string(details.size()) + " entries for " +
             std::to_string(stages_.size()) + " layers");
    }
  }

  void forward(ExecContext& context, const TensorView<float>& x,
               const TensorView<const float>& audio, const Masks& masks,
               std::span<const Details> details) const {
    const std::int64_t audio_size = has_key_norm_ ? audio.num_elements() : 0;
    Frame memory(context.impl(), Frame::rounded(x.num_elements()) + Frame::rounded(audio_size));
    const TensorView<float> query(memory.take(x.num_elements()), x.shape());
    const TensorView<float> normed_audio(memory.take(audio_size), audio.shape());
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      normalise(context, stage.query_norm, x, query);
      const TensorView<const float> key = stage.key_norm ? normed_audio : audio;
      if (stage.key_norm) normalise(context, stage.key_norm, audio, normed_audio);
      stage.attention.forward(context, query, key, key, x, masks,
                              details.empty() ? Details{} : details[i], /*accumulate=*/true);
      stage.feed_forward.forward(context, internal::rows_of(x));
    }
  }

 private:
  // `out` = LN(`in`), or a copy of it if there is no norm.
  static void normalise(ExecContext& context, const std::optional<LayerNorm>& norm,
                        const TensorView<const float>& in, const TensorView<float>& out) {
    if (norm) {
      norm->forward(context, internal::rows_of(in), internal::rows_of(out));
    } else {
      std::copy_n(in.data(), in.num_elements(), out.data());
    }
  }

  std::vector<Stage> stages_;
  bool has_key_norm_ = false;
};

CrossAttentionFusion::CrossAttentionFusion(Params params)
    : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
CrossAttentionFusion::~CrossAttentionFusion() = default;
CrossAttentionFusion::CrossAttentionFusion(CrossAttentionFusion&&) noexcept = default;
CrossAttentionFusion& CrossAttentionFusion::operator=(CrossAttentionFusion&&) noexcept = default;

std::int64_t CrossAttentionFusion::dim() const noexcept { return impl_->attention().embed_dim(); }
std::int64_t CrossAttentionFusion::audio_width() const noexcept {
  return impl_->attention().key_width();
}
std::int64_t CrossAttentionFusion::num_layers() const noexcept {
  return static_cast<std::int64_t>(impl_->num_layers());
}
int CrossAttentionFusion::num_heads() const noexcept { return impl_->attention().num_heads(); }

void CrossAttentionFusion::forward(ExecContext& context, TensorView<const float> video,
                                   TensorView<const float> audio, TensorView<float> fused,
                                   const Masks& masks, std::span<const Details> details) const {
  impl_->check(video, audio, fused, details);
  if (fused.data() != video.data()) {
    std::copy_n(video.data(), video.num_elements(), fused.data());
  }
  impl_->forward(context, fused, audio, masks, details);
}

}  // namespace av_fusion
