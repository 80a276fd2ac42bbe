// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/multi_head_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "av_fusion/nn/dnnl/attention_core.h"
#include "av_fusion/nn/dnnl/packed_matmul.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

constexpr std::string_view kLayer = "multi_head_attention";

// Bounds strides, offsets and widths, so that positions cannot overflow.
constexpr std::int64_t kMaxBandExtent = std::int64_t{1} << 31;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, kLayer, message);
}

std::string named(std::string_view what) { return std::string(kLayer) + " " + std::string(what); }

void check_heads(std::int64_t embed_dim, int num_heads) {
  if (num_heads < 1) refuse("num_heads must be at least 1, got " + std::to_string(num_heads));
  if (embed_dim % num_heads != 0) {
    refuse("embed_dim " + std::to_string(embed_dim) + " is not divisible by num_heads " +
           std::to_string(num_heads));
  }
}

void check_weight(const Tensor<float>& weight, const Shape& expected, std::string_view name) {
  expect_shape(weight.shape(), expected, named(name));
  if (weight.empty()) refuse("the " + std::string(name) + " is empty");
}

void check_bias(const Tensor<float>& bias, std::int64_t dim, std::string_view name) {
  if (!bias.empty()) expect_shape(bias.shape(), {dim}, named(name));
}

MultiHeadAttention::Params checked(MultiHeadAttention::Params params) {
  check_weight(params.query_weight, {kAny, kAny}, "query_weight");
  const std::int64_t dim = params.query_weight.dim(0);
  check_heads(dim, params.num_heads);
  check_weight(params.key_weight, {dim, kAny}, "key_weight");
  check_weight(params.value_weight, {dim, kAny}, "value_weight");
  check_weight(params.out_weight, {dim, dim}, "out_weight");
  check_bias(params.query_bias, dim, "query_bias");
  check_bias(params.key_bias, dim, "key_bias");
  check_bias(params.value_bias, dim, "value_bias");
  check_bias(params.out_bias, dim, "out_bias");
  return params;
}

MultiHeadAttention::FusedParams checked(MultiHeadAttention::FusedParams params) {
  check_weight(params.out_weight, {kAny, kAny}, "out_weight");
  const std::int64_t dim = params.out_weight.dim(0);
  check_weight(params.out_weight, {dim, dim}, "out_weight");
  check_heads(dim, params.num_heads);
  check_weight(params.qkv_weight, {3 * dim, dim}, "qkv_weight");
  check_bias(params.qkv_bias, 3 * dim, "qkv_bias");
  check_bias(params.out_bias, dim, "out_bias");
  return params;
}

// Part `part` of three along the first axis.
Tensor<float> third_of(const Tensor<float>& whole, int part) {
  if (whole.empty()) return {};
  const std::int64_t rows = whole.dim(0) / 3;
  Tensor<float> result(whole.shape().rank() == 1 ? Shape{rows} : Shape{rows, whole.dim(1)});
  std::copy_n(whole.data() + part * result.num_elements(), result.num_elements(), result.data());
  return result;
}

MultiHeadAttention::Params split(const MultiHeadAttention::FusedParams& fused) {
  return {.num_heads = fused.num_heads,
          .query_weight = third_of(fused.qkv_weight, 0),
          .key_weight = third_of(fused.qkv_weight, 1),
          .value_weight = third_of(fused.qkv_weight, 2),
          .query_bias = third_of(fused.qkv_bias, 0),
          .key_bias = third_of(fused.qkv_bias, 1),
          .value_bias = third_of(fused.qkv_bias, 2),
          .out_weight = fused.out_weight.clone(),
          .out_bias = fused.out_bias.clone()};
}

// Multiplies the first `rows` rows: the scores get their 1/sqrt(d_k) through Q.
Tensor<float> scaled(Tensor<float> tensor, std::int64_t rows, double factor) {
  if (tensor.empty()) return tensor;
  const std::int64_t count = tensor.num_elements() / tensor.dim(0) * rows;
  std::transform(tensor.data(), tensor.data() + count, tensor.data(),
                 [factor](float x) { return static_cast<float>(x * factor); });
  return tensor;
}

double query_scale(std::int64_t embed_dim, int num_heads) {
  return 1.0 / std::sqrt(static_cast<double>(embed_dim) / num_heads);
}

// Extents of one forward pass.
struct Sizes {
  std::int64_t batch = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};

void check_key_lengths(std::span<const std::int64_t> lengths, const Sizes& sizes) {
  if (lengths.empty()) return;
  if (static_cast<std::int64_t>(lengths.size()) != sizes.batch) {
    refuse("key_lengths has " + std::to_string(lengths.size()) + " entries for a batch of " +
           std::to_string(sizes.batch));
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > sizes.keys) {
      refuse("a key length of " + std::to_string(length) + " is outside of 0 to " +
             std::to_string(sizes.keys));
    }
  }
}

void check_band(const BandMask& band) {
  const auto check = [](std::int64_t value, std::int64_t least, const char* name) {
    if (value < least || value > kMaxBandExtent) {
      refuse(std::string("the band's ") + name + " " + std::to_string(value) + " is outside of " +
             std::to_string(least) + " to " + std::to_string(kMaxBandExtent));
    }
  };
  check(band.stride, 0, "stride");
  check(band.width, 0, "width");
  check(band.offset, -kMaxBandExtent, "offset");
}

}  // namespace

class MultiHeadAttention::Impl {
  using Frame = ExecContext::Impl::Frame;

 public:
  explicit Impl(Params params)
      : num_heads_(params.num_heads),
        dim_(params.out_weight.dim(0)),
        query_(kLayer, scaled(std::move(params.query_weight), dim_, scale()),
               scaled(std::move(params.query_bias), dim_, scale()), Activation::kNone),
        key_(kLayer, params.key_weight, std::move(params.key_bias), Activation::kNone),
        value_(kLayer, params.value_weight, std::move(params.value_bias), Activation::kNone),
        out_(kLayer, params.out_weight, std::move(params.out_bias), Activation::kNone) {}

  explicit Impl(FusedParams params) : Impl(split(params)) {
    fused_ = std::make_unique<internal::PackedMatmul>(
        kLayer, scaled(std::move(params.qkv_weight), dim_, scale()),
        scaled(std::move(params.qkv_bias), dim_, scale()), Activation::kNone);
  }

  std::int64_t dim() const noexcept { return dim_; }
  int num_heads() const noexcept { return num_heads_; }

  void cross(ExecContext& context, const TensorView<const float>& query,
             const TensorView<const float>& key, const TensorView<const float>& value,
             const TensorView<float>& out, const Masks& masks, const Details& details) const {
    const Sizes sizes = check(query, key, value, out, masks, details);
    ExecContext::Impl& impl = context.impl();
    ExecContext::Impl::Use use(impl);
    const std::int64_t query_rows = sizes.batch * sizes.queries;
    const std::int64_t key_rows = sizes.batch * sizes.keys;
    const std::int64_t scores = scores_size(sizes, masks, details);
    Frame memory(impl, Frame::rounded(query_rows * dim_) +
                                 2 * Frame::rounded(key_rows * dim_) + Frame::rounded(scores));
    const internal::TokenRows q{memory.take(query_rows * dim_), dim_};
    const internal::TokenRows k{memory.take(key_rows * dim_), dim_};
    const internal::TokenRows v{memory.take(key_rows * dim_), dim_};
    query_.run(impl, query.data(), query_rows, q.data);
    key_.run(impl, key.data(), key_rows, k.data);
    value_.run(impl, value.data(), key_rows, v.data);
    // A block of queries is read before its result is written, so the result may take its place.
    attend(impl, sizes, {.query = q, .key = k, .value = v, .out = q, .scores = memory.take(scores)},
           masks, details);
    out_.run(impl, q.data, query_rows, out.data());
    use.finish();
  }

  void self(ExecContext& context, const TensorView<const float>& sequence,
            const TensorView<float>& out, const Masks& masks, const Details& details) const {
    if (fused_ == nullptr) {
      return cross(context, sequence, sequence, sequence, out, masks, details);
    }
    const Sizes sizes = check(sequence, sequence, sequence, out, masks, details);
    ExecContext::Impl& impl = context.impl();
    ExecContext::Impl::Use use(impl);
    const std::int64_t rows = sizes.batch * sizes.queries;
    const std::int64_t scores = scores_size(sizes, masks, details);
    Frame memory(impl, Frame::rounded(rows * 3 * dim_) + Frame::rounded(rows * dim_) +
                                 Frame::rounded(scores));
    float* const qkv = memory.take(rows * 3 * dim_);
    const internal::TokenRows heads{memory.take(rows * dim_), dim_};
    fused_->run(impl, sequence.data(), rows, qkv);
    attend(impl, sizes,
           {.query = {qkv, 3 * dim_},
            .key = {qkv + dim_, 3 * dim_},
            .value = {qkv + 2 * dim_, 3 * dim_},
            .out = heads,
            .scores = memory.take(scores)},
           masks, details);
    out_.run(impl, heads.data, rows, out.data());
    use.finish();
  }

 private:
  double scale() const { return query_scale(dim_, num_heads_); }

  Sizes check(const TensorView<const float>& query, const TensorView<const float>& key,
              const TensorView<const float>& value, const TensorView<float>& out,
              const Masks& masks, const Details& details) const {
    internal::expect_operand(query, {kAny, kAny, query_.in_features()}, kLayer, "query");
    const Sizes sizes{query.dim(0), query.dim(1), key.rank() == 3 ? key.dim(1) : kAny};
    internal::expect_operand(key, {sizes.batch, sizes.keys, key_.in_features()}, kLayer, "key");
    internal::expect_operand(value, {sizes.batch, sizes.keys, value_.in_features()}, kLayer,
                             "value");
    internal::expect_operand(out, {sizes.batch, sizes.queries, dim_}, kLayer, "output");
    if (query.empty()) refuse("the query " + query.shape().to_string() + " is empty");
    if (key.empty()) refuse("the key " + key.shape().to_string() + " is empty");
    check_key_lengths(masks.key_lengths, sizes);
    if (masks.band) check_band(*masks.band);
    check_details(sizes, masks, details);
    return sizes;
  }

  void check_details(const Sizes& sizes, const Masks& masks, const Details& details) const {
    if (details.weights.data() != nullptr) {
      internal::expect_operand(
          details.weights, {sizes.batch, num_heads_, sizes.queries, sizes.keys}, kLayer, "weights");
    }
    const auto check_lags = [&](const TensorView<float>& view, std::string_view name) {
      if (view.data() == nullptr) return;
      if (!masks.band) refuse(std::string(name) + " needs a band mask");
      internal::expect_operand(
          view, {sizes.batch, num_heads_, sizes.queries, masks.band->num_lags()}, kLayer, name);
    };
    check_lags(details.band_weights, "band_weights");
    check_lags(details.band_logits, "band_logits");
  }

  std::int64_t scores_size(const Sizes& sizes, const Masks& masks, const Details& details) const {
    const bool in_place =
        details.weights.data() != nullptr && !masks.band && masks.key_lengths.empty();
    if (in_place) return 0;
    return internal::scores_floats(num_heads_, sizes.queries, sizes.keys,
                                   masks.band ? &*masks.band : nullptr);
  }

  // Runs the sequences of the batch one by one; `all` holds the token rows of the whole batch.
  void attend(ExecContext::Impl& context, const Sizes& sizes, const internal::AttentionTask& all,
              const Masks& masks, const Details& details) const {
    const BandMask* const band = masks.band ? &*masks.band : nullptr;
    const auto part = [](const TensorView<float>& view, std::int64_t index) {
      return view.data() == nullptr ? nullptr : view.data() + index * view.strides()[0];
    };
    internal::AttentionTask task = all;
    task.num_heads = num_heads_;
    task.head_dim = dim_ / num_heads_;
    task.num_queries = sizes.queries;
    task.num_keys = sizes.keys;
    for (std::int64_t b = 0; b < sizes.batch; ++b) {
      task.valid_keys =
          masks.key_lengths.empty() ? sizes.keys : masks.key_lengths[static_cast<std::size_t>(b)];
      task.query.data = all.query.row(b * sizes.queries);
      task.key.data = all.key.row(b * sizes.keys);
      task.value.data = all.value.row(b * sizes.keys);
      task.out.data = all.out.row(b * sizes.queries);
      task.weights = part(details.weights, b);
      task.band_weights = part(details.band_weights, b);
      task.band_logits = part(details.band_logits, b);
      internal::attend(context, task, band);
    }
  }

  int num_heads_;
  std::int64_t dim_;
  internal::PackedMatmul query_;
  internal::PackedMatmul key_;
  internal::PackedMatmul value_;
  internal::PackedMatmul out_;
  std::unique_ptr<internal::PackedMatmul> fused_;  // Q, K and V at once, for self-attention
};

MultiHeadAttention::MultiHeadAttention(Params params)
    : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
MultiHeadAttention::MultiHeadAttention(FusedParams params)
    : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
MultiHeadAttention::~MultiHeadAttention() = default;
MultiHeadAttention::MultiHeadAttention(MultiHeadAttention&&) noexcept = default;
MultiHeadAttention& MultiHeadAttention::operator=(MultiHeadAttention&&) noexcept = default;

std::int64_t MultiHeadAttention::embed_dim() const noexcept { return impl_->dim(); }
int MultiHeadAttention::num_heads() const noexcept { return impl_->num_heads(); }

void MultiHeadAttention::forward(ExecContext& context, TensorView<const float> query,
                                 TensorView<const float> key, TensorView<const float> value,
                                 TensorView<float> out, const Masks& masks,
                                 const Details& details) const {
  impl_->cross(context, query, key, value, out, masks, details);
}

void MultiHeadAttention::forward(ExecContext& context, TensorView<const float> sequence,
                                 TensorView<float> out, const Masks& masks,
                                 const Details& details) const {
  impl_->self(context, sequence, out, masks, details);
}

}  // namespace av_fusion
