// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/multi_head_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "av_fusion/nn/dnnl/attention_core.h"
#include "av_fusion/nn/dnnl/packed_heads.h"
#include "av_fusion/nn/dnnl/packed_matmul.h"
#include "av_fusion/nn/validate_internal.h"

namespace av_fusion {
namespace {

constexpr std::string_view kLayer = "multi_head_attention";

// Bounds strides, offsets and widths of masks, so that positions cannot overflow.
constexpr std::int64_t kMaxMaskExtent = std::int64_t{1} << 31;

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

void check_precision(Precision precision) {
  if (is_native(precision)) return;
  throw Error(ErrorCode::kUnsupported, kLayer, "this processor has no bfloat16 products");
}

MultiHeadAttention::Params checked(MultiHeadAttention::Params params) {
  check_precision(params.precision);
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
  check_precision(params.precision);
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
          .out_bias = fused.out_bias.clone(),
          .precision = fused.precision};
}

// The scores get their 1/sqrt(d_k) through Q.
Tensor<float> scaled(Tensor<float> tensor, double factor) {
  for (float& x : tensor.elements()) x = static_cast<float>(x * factor);
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

void check_extent(std::int64_t value, std::int64_t least, const char* mask, const char* name) {
  if (value >= least && value <= kMaxMaskExtent) return;
  refuse("the " + std::string(mask) + "'s " + name + " " + std::to_string(value) +
         " is outside of " + std::to_string(least) + " to " + std::to_string(kMaxMaskExtent));
}

void check_band(const BandMask& band) {
  check_extent(band.stride, 0, "band", "stride");
  check_extent(band.width, 0, "band", "width");
  check_extent(band.offset, -kMaxMaskExtent, "band", "offset");
}

void check_causal(const CausalMask& causal) {
  check_extent(causal.stride, 0, "causal mask", "stride");
  check_extent(causal.offset, -kMaxMaskExtent, "causal mask", "offset");
}

Shape additive_shape(int rank, std::int64_t heads, const Sizes& sizes) {
  if (rank == 2) return {sizes.queries, sizes.keys};
  if (rank == 3) return {sizes.batch, sizes.queries, sizes.keys};
  return {sizes.batch, heads, sizes.queries, sizes.keys};
}

}  // namespace

class MultiHeadAttention::Impl {
  using Frame = ExecContext::Impl::Frame;

 public:
  explicit Impl(const Params& params)
      : num_heads_(params.num_heads),
        dim_(params.out_weight.dim(0)),
        precision_(params.precision),
        value_bias_(params.value_bias.clone()),
        query_(kLayer, scaled(params.query_weight.clone(), query_scale(dim_, num_heads_)),
               scaled(params.query_bias.clone(), query_scale(dim_, num_heads_)), to_operands()),
        key_(kLayer, params.key_weight, params.key_bias.clone(), to_operands()),
        value_(kLayer, params.value_weight, params.value_bias.clone(), to_operands()),
        out_(kLayer, params.out_weight, params.out_bias.clone(), {.operands = precision_}),
        query_to_key_(kLayer, params.key_weight, num_heads_,
                      internal::PackedHeads::Direction::kToInput, precision_, precision_),
        mean_to_value_(kLayer, params.value_weight, num_heads_,
                       internal::PackedHeads::Direction::kToTokens, precision_, Precision::kF32) {}

  std::int64_t dim() const noexcept { return dim_; }
  std::int64_t query_width() const noexcept { return query_.in_features(); }
  std::int64_t key_width() const noexcept { return key_.in_features(); }
  std::int64_t value_width() const noexcept { return value_.in_features(); }
  int num_heads() const noexcept { return num_heads_; }

  void forward(ExecContext& context, const TensorView<const float>& query,
               const TensorView<const float>& key, const TensorView<const float>& value,
               const TensorView<float>& out, const Masks& masks, const Details& details,
               bool accumulate) const {
    const Call call{check(query, key, value, out, masks, details), masks, details};
    ExecContext::Impl& impl = context.impl();
    ExecContext::Impl::Use use(impl);
    const std::int64_t rows = call.sizes.batch * call.sizes.queries;
    Frame frame(impl, tokens_size(rows, query_width()) + 2 * tokens_size(rows, dim_) +
                          Frame::rounded(rows * dim_));
    void* const queries = frame.take(floats(rows * dim_));
    query_.run(impl, as_operand(query, frame), rows, queries);
    float* const heads = frame.take(rows * dim_);
    if (few_queries(call)) {
      attend_few(impl, call, queries, key, value, heads);
    } else {
      attend_all(impl, call, queries, key, value, heads);
    }
    out_.run(impl, as_operand({heads, {rows, dim_}}, frame), rows, out.data(), accumulate);
    use.finish();
  }

 private:
  struct Call {
    Sizes sizes;
    const Masks& masks;
    const Details& details;
  };

  internal::PackedMatmul::Options to_operands() const {
    return {.operands = precision_, .result = precision_};
  }

  // Memory for `count` operands, in floats.
  std::int64_t floats(std::int64_t count) const {
    return precision_ == Precision::kBf16 ? (count + 1) / 2 : count;
  }
  std::int64_t tokens_size(std::int64_t rows, std::int64_t width) const {
    return Frame::rounded(floats(rows * width));
  }
  const void* operand_at(const void* operands, std::int64_t index) const {
    return static_cast<const char*>(operands) + index * internal::operand_bytes(precision_);
  }
  // The numbers as matrix products want them: themselves, or rounded into the frame.
  const void* as_operand(const TensorView<const float>& view, Frame& frame) const {
    if (precision_ == Precision::kF32) return view.data();
    auto* const rounded = reinterpret_cast<std::uint16_t*>(frame.take(floats(view.num_elements())));
    internal::round_to_bf16(view.data(), view.num_elements(), rounded);
    return rounded;
  }

  // Whether it is cheaper to take the queries to the keys than to project all keys. Multiplications
  // for one sequence; the margin is for what the smaller products lose.
  bool few_queries(const Call& call) const {
    if (call.details.band_logits.data() != nullptr) return false;  // they contain the key bias
    const auto width = static_cast<double>(key_width() + value_width());
    const auto dim = static_cast<double>(dim_);
    const auto queries = static_cast<double>(call.sizes.queries);
    const auto keys = static_cast<double>(call.sizes.keys);
    double seen = keys;
    if (const auto& band = call.masks.band) {
      seen = std::min(keys, static_cast<double>(band->num_lags()) +
                                queries * static_cast<double>(band->stride));
    }
    const double all = keys * dim * width + 2 * queries * seen * dim;
    const double few = queries * dim * width + queries * num_heads_ * seen * width;
    return few < 0.85 * all;
  }

  void attend_all(ExecContext::Impl& impl, const Call& call, const void* queries,
                  const TensorView<const float>& key, const TensorView<const float>& value,
                  float* heads) const {
    const std::int64_t rows = call.sizes.batch * call.sizes.keys;
    Frame frame(impl, 2 * tokens_size(rows, dim_) + operand_copies(rows));
    void* const keys = frame.take(floats(rows * dim_));
    void* const values = frame.take(floats(rows * dim_));
    key_.run(impl, as_operand(key, frame), rows, keys);
    value_.run(impl, as_operand(value, frame), rows, values);
    const std::int64_t head_dim = dim_ / num_heads_;
    internal::AttentionSequence all = sequence(call, head_dim, head_dim);
    all.key = keys;
    all.value = values;
    for_each_block(impl, call, all, [&](ExecContext::Impl& worker, const Block& block) {
      Frame scratch(worker, Frame::rounded(num_heads_ * block.rows));
      internal::attend(worker, block.sequence, block.tiling, block.first, block.rows,
                       operand_at(queries, block.token * dim_), heads + block.token * dim_,
                       scratch.take(num_heads_ * block.rows));
    });
  }

  void attend_few(ExecContext::Impl& impl, const Call& call, const void* queries,
                  const TensorView<const float>& key, const TensorView<const float>& value,
                  float* heads) const {
    Frame frame(impl, operand_copies(call.sizes.batch * call.sizes.keys));
    internal::AttentionSequence all = sequence(call, key_width(), value_width());
    all.layout = internal::HeadLayout::kShared;
    all.key = as_operand(key, frame);
    all.value = as_operand(value, frame);
    for_each_block(impl, call, all, [&](ExecContext::Impl& worker, const Block& block) {
      const std::int64_t rows = num_heads_ * block.rows;
      Frame scratch(worker, tokens_size(rows, key_width()) + Frame::rounded(rows * value_width()) +
                                tokens_size(rows, value_width()) + Frame::rounded(rows));
      void* const asking = scratch.take(floats(rows * key_width()));
      float* const means = scratch.take(rows * value_width());
      float* const sums = scratch.take(rows);
      query_to_key_.run(worker, operand_at(queries, block.token * dim_), block.rows, asking);
      internal::attend(worker, block.sequence, block.tiling, block.first, block.rows, asking, means,
                       sums);
      float* const to = heads + block.token * dim_;
      mean_to_value_.run(worker, as_operand({means, {rows, value_width()}}, scratch), block.rows,
                         to);
      add_value_bias(block.rows, sums, to);
    });
  }

  // The weights of a query that sees a key add up to 1, so its mean value has the whole bias.
  void add_value_bias(std::int64_t rows, const float* sums, float* heads) const {
    if (value_bias_.empty()) return;
    const std::int64_t head_dim = dim_ / num_heads_;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t c = 0; c < dim_; ++c) {
        if (sums[c / head_dim * rows + i] != 0.0f) heads[i * dim_ + c] += value_bias_.data()[c];
      }
    }
  }

  // Rounded copies of the keys and values; none in f32.
  std::int64_t operand_copies(std::int64_t rows) const {
    if (precision_ == Precision::kF32) return 0;
    return tokens_size(rows, key_width()) + tokens_size(rows, value_width());
  }

  // What the sequences of a call have in common.
  internal::AttentionSequence sequence(const Call& call, std::int64_t key_width,
                                       std::int64_t value_width) const {
    internal::AttentionSequence result;
    result.num_heads = num_heads_;
    result.num_queries = call.sizes.queries;
    result.num_keys = call.sizes.keys;
    result.key_width = key_width;
    result.value_width = value_width;
    result.precision = precision_;
    result.mask.band = call.masks.band ? &*call.masks.band : nullptr;
    result.mask.causal = call.masks.causal ? &*call.masks.causal : nullptr;
    return result;
  }

  // `all`, which holds keys and values of the whole batch, made that of sequence `b`.
  internal::AttentionSequence sequence_of(const internal::AttentionSequence& all, const Call& call,
                                          std::int64_t b) const {
    const auto part = [b](const auto& view) {
      return view.data() == nullptr ? nullptr : view.data() + b * view.strides()[0];
    };
    internal::AttentionSequence one = all;
    const std::int64_t groups = all.layout == internal::HeadLayout::kShared ? 1 : num_heads_;
    one.key = operand_at(all.key, b * call.sizes.keys * groups * all.key_width);
    one.value = operand_at(all.value, b * call.sizes.keys * groups * all.value_width);
    one.mask.valid_keys = call.masks.key_lengths.empty()
                              ? call.sizes.keys
                              : call.masks.key_lengths[static_cast<std::size_t>(b)];
    const TensorView<const float>& additive = call.masks.additive;
    one.mask.additive = additive.rank() > 2 ? part(additive) : additive.data();
    one.mask.additive_head_step = additive.rank() == 4 ? additive.strides()[1] : 0;
    one.details = {.weights = part(call.details.weights),
                   .mean_weights = part(call.details.mean_weights),
                   .band_weights = part(call.details.band_weights),
                   .band_logits = part(call.details.band_logits)};
    return one;
  }

  struct Block {
    const internal::AttentionSequence& sequence;
    const internal::AttentionTiling& tiling;
    std::int64_t first = 0;  // query within the sequence
    std::int64_t rows = 0;
    std::int64_t token = 0;  // query within the batch
  };

  // Runs `task(worker, block)` for all blocks of queries of all sequences, on all threads.
  template <typename Task>
  void for_each_block(ExecContext::Impl& impl, const Call& call,
                      const internal::AttentionSequence& all, const Task& task) const {
    const std::int64_t batch = call.sizes.batch;
    const auto threads_each = static_cast<int>((impl.threads() + batch - 1) / batch);
    const auto tiling_of = [&](const internal::AttentionSequence& sequence) {
      return internal::attention_tiling(sequence, threads_each);
    };
    const auto run = [&](ExecContext::Impl& worker, const internal::AttentionSequence& sequence,
                         const internal::AttentionTiling& tiling, std::int64_t b,
                         std::int64_t index) {
      const std::int64_t first = index * tiling.rows;
      task(worker, Block{.sequence = sequence,
                         .tiling = tiling,
                         .first = first,
                         .rows = std::min(tiling.rows, call.sizes.queries - first),
                         .token = b * call.sizes.queries + first});
    };
    const internal::AttentionSequence any = sequence_of(all, call, 0);
    const std::int64_t blocks = tiling_of(any).query_blocks(any);
    if (!tiling_of(any).packed) {
      return impl.for_each(batch * blocks, [&](ExecContext::Impl& worker, std::int64_t index) {
        const internal::AttentionSequence sequence = sequence_of(all, call, index / blocks);
        run(worker, sequence, tiling_of(sequence), index / blocks, index % blocks);
      });
    }
    for (std::int64_t b = 0; b < batch; ++b) {
      internal::AttentionSequence sequence = sequence_of(all, call, b);
      const internal::AttentionTiling tiling = tiling_of(sequence);
      const internal::PackedPlaces places = internal::packed_places(impl, sequence, tiling);
      const std::int64_t key_blocks = tiling.key_blocks(sequence);
      const auto floats_needed =
          static_cast<std::int64_t>(places.key(key_blocks, 0) / sizeof(float));
      Frame frame(impl, floats_needed);
      auto* const packed = reinterpret_cast<std::byte*>(frame.take(floats_needed));
      impl.for_each(key_blocks, [&](ExecContext::Impl& worker, std::int64_t index) {
        internal::pack_block(worker, sequence, tiling, places, index, packed);
      });
      sequence.layout = internal::HeadLayout::kPacked;
      sequence.key = packed;
      sequence.packed = places;
      impl.for_each(blocks, [&](ExecContext::Impl& worker, std::int64_t index) {
        run(worker, sequence, tiling, b, index);
      });
    }
  }

  Sizes check(const TensorView<const float>& query, const TensorView<const float>& key,
              const TensorView<const float>& value, const TensorView<float>& out,
              const Masks& masks, const Details& details) const {
    internal::expect_operand(query, {kAny, kAny, query_width()}, kLayer, "query");
    const Sizes sizes{query.dim(0), query.dim(1), key.rank() == 3 ? key.dim(1) : kAny};
    internal::expect_operand(key, {sizes.batch, sizes.keys, key_width()}, kLayer, "key");
    internal::expect_operand(value, {sizes.batch, sizes.keys, value_width()}, kLayer, "value");
    internal::expect_operand(out, {sizes.batch, sizes.queries, dim_}, kLayer, "output");
    if (query.empty()) refuse("the query " + query.shape().to_string() + " is empty");
    if (key.empty()) refuse("the key " + key.shape().to_string() + " is empty");
    check_key_lengths(masks.key_lengths, sizes);
    if (masks.band) check_band(*masks.band);
    if (masks.causal) check_causal(*masks.causal);
    if (masks.additive.data() != nullptr) {
      internal::expect_operand(masks.additive,
                               additive_shape(masks.additive.rank(), num_heads_, sizes), kLayer,
                               "additive mask");
    }
    check_details(sizes, masks, details);
    return sizes;
  }

  void check_details(const Sizes& sizes, const Masks& masks, const Details& details) const {
    const auto check = [&](const TensorView<float>& view, const Shape& shape, const char* name) {
      if (view.data() != nullptr) internal::expect_operand(view, shape, kLayer, name);
    };
    check(details.weights, {sizes.batch, num_heads_, sizes.queries, sizes.keys}, "weights");
    check(details.mean_weights, {sizes.batch, sizes.queries, sizes.keys}, "mean_weights");
    const auto check_lags = [&](const TensorView<float>& view, const char* name) {
      if (view.data() == nullptr) return;
      if (!masks.band) refuse(std::string(name) + " needs a band mask");
      check(view, {sizes.batch, num_heads_, sizes.queries, masks.band->num_lags()}, name);
    };
    check_lags(details.band_weights, "band_weights");
    check_lags(details.band_logits, "band_logits");
  }

  int num_heads_;
  std::int64_t dim_;
  Precision precision_;
  Tensor<float> value_bias_;
  internal::PackedMatmul query_;
  internal::PackedMatmul key_;
  internal::PackedMatmul value_;
  internal::PackedMatmul out_;
  internal::PackedHeads query_to_key_;   // with few queries, in place of key_
  internal::PackedHeads mean_to_value_;  // and of value_
};

MultiHeadAttention::MultiHeadAttention(Params params)
    : impl_(std::make_unique<Impl>(checked(std::move(params)))) {}
MultiHeadAttention::MultiHeadAttention(FusedParams params)
    : impl_(std::make_unique<Impl>(split(checked(std::move(params))))) {}
MultiHeadAttention::~MultiHeadAttention() = default;
MultiHeadAttention::MultiHeadAttention(MultiHeadAttention&&) noexcept = default;
MultiHeadAttention& MultiHeadAttention::operator=(MultiHeadAttention&&) noexcept = default;

std::int64_t MultiHeadAttention::embed_dim() const noexcept { return impl_->dim(); }
std::int64_t MultiHeadAttention::query_width() const noexcept { return impl_->query_width(); }
std::int64_t MultiHeadAttention::key_width() const noexcept { return impl_->key_width(); }
std::int64_t MultiHeadAttention::value_width() const noexcept { return impl_->value_width(); }
int MultiHeadAttention::num_heads() const noexcept { return impl_->num_heads(); }

void MultiHeadAttention::forward(ExecContext& context, TensorView<const float> query,
                                 TensorView<const float> key, TensorView<const float> value,
                                 TensorView<float> out, const Masks& masks, const Details& details,
                                 bool accumulate) const {
  impl_->forward(context, query, key, value, out, masks, details, accumulate);
}

}  // namespace av_fusion
