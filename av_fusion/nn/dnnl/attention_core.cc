// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/attention_core.h"

#include <algorithm>
#include <cmath>

#include "av_fusion/nn/dnnl/attention_products.h"
#include "av_fusion/nn/dnnl/packed_matmul.h"

namespace av_fusion::internal {
namespace {

// Scores of a block that stay in the second-level cache with the operands around them.
constexpr std::int64_t kCachedScores = 128 * 1024;
constexpr std::int64_t kPackedScores = 64 * 1024;  // where heads can be taken one by one
constexpr std::int64_t kKeptScores = 1024 * 1024;
constexpr std::int64_t kCachedWeights = 256 * 1024;  // what a caller may still find in the cache
constexpr std::int64_t kMaxRows = 256;
constexpr std::int64_t kPackedRows = 128;
constexpr std::int64_t kMinRows = 32;  // fewer make the matrix products inefficient
constexpr std::int64_t kMinKeys = 128;
constexpr std::int64_t kMaxKeys = 1024;
constexpr std::int64_t kPackedKeys = 256;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// `total` in equal parts of at most `most`, each a multiple of `step` but for the last.
std::int64_t equal_parts(std::int64_t total, std::int64_t most, std::int64_t step) {
  const std::int64_t part = ceil_div(total, ceil_div(total, most));
  return std::min(total, ceil_div(part, step) * step);
}

// Keys that `rows` consecutive queries see together, if there are that many.
std::int64_t keys_seen_by(std::int64_t rows, const BandMask& band) {
  return band.num_lags() + (rows - 1) * band.stride;
}

std::int64_t band_rows(const BandMask& band) {
  // With more rows a block works on keys that most of its rows do not see; 16 to 64 measured alike.
  // At most half of the scores lie outside of the band.
  const std::int64_t stride = std::max<std::int64_t>(band.stride, 1);
  return std::clamp<std::int64_t>(band.num_lags() / stride + 1, 1, kMinRows);
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::clamp<std::int64_t>(most, 1, number);
  while (number % divisor != 0) --divisor;
  return divisor;
}

// Row `index` of keys or values of `width` numbers a head, from head `head` on.
const void* token_at(const AttentionSequence& sequence, const void* tokens, std::int64_t index,
                     std::int64_t width, std::int64_t head = 0) {
  const bool shared = sequence.layout == HeadLayout::kShared;
  const std::int64_t length = shared ? width : sequence.num_heads * width;
  return static_cast<const char*>(tokens) +
         (index * length + head * width) * operand_bytes(sequence.precision);
}

// A block of queries of some heads on its way through its keys.
class QueryBlock {
 public:
  QueryBlock(ExecContext::Impl& context, const AttentionSequence& sequence,
             const AttentionTiling& tiling, std::int64_t first, std::int64_t rows)
      : context_(context),
        sequence_(sequence),
        tiling_(tiling),
        first_(first),
        rows_(rows),
        frame_(context, frame_size()) {
    scores_ = frame_.take(kept_blocks() * block_scores());
    references_ = frame_.take(kept_blocks() * score_rows());
    visible_ = reinterpret_cast<KeyRange*>(frame_.take(kFloatsPerRange * rows_));
    if (rounds())
      rounded_ = reinterpret_cast<std::uint16_t*>(frame_.take((block_scores() + 1) / 2));
    if (!is_packed()) return;
    query_ = frame_.take(score_rows() * sequence_.key_width);
    out_ = frame_.take(score_rows() * sequence_.value_width);
  }

  // All heads; arguments as those of `attend`.
  void run(const void* query, float* out, float* sums) {
    for (head_ = 0; head_ < sequence_.num_heads; head_ += tiling_.heads) {
      sums_ = sums + head_ * rows_;
      if (!is_packed()) {
        run_heads(query, out);
      } else {
        copy_query(static_cast<const float*>(query));
        run_heads(query_, out_);
        copy_out(out);
      }
    }
  }

 private:
  static constexpr std::int64_t kFloatsPerRange = sizeof(KeyRange) / sizeof(float);

  bool rounds() const { return sequence_.precision == Precision::kBf16; }
  bool is_packed() const { return sequence_.layout == HeadLayout::kPacked; }
  std::int64_t score_rows() const { return tiling_.heads * rows_; }
  std::int64_t block_scores() const { return score_rows() * tiling_.keys; }
  // Blocks of scores that are kept until the sums are known: all, where somebody wants weights.
  std::int64_t kept_blocks() const {
    if (!sequence_.details.any() || tiling_.sliding) return 1;
    return std::max<std::int64_t>(tiling_.key_blocks(sequence_), 1);
  }
  std::int64_t frame_size() const {
    using Frame = ExecContext::Impl::Frame;
    std::int64_t size = Frame::rounded(kept_blocks() * block_scores()) +
                        Frame::rounded(kept_blocks() * score_rows()) +
                        Frame::rounded(kFloatsPerRange * rows_);
    if (rounds()) size += Frame::rounded((block_scores() + 1) / 2);
    if (is_packed()) {
      size += Frame::rounded(score_rows() * sequence_.key_width) +
              Frame::rounded(score_rows() * sequence_.value_width);
    }
    return size;
  }
  // Steps in the results of the products: rows of tokens, or one head after the other.
  std::int64_t out_head_step() const {
    return sequence_.value_width * (sequence_.layout == HeadLayout::kTokens ? 1 : rows_);
  }
  std::int64_t out_row_step() const {
    return sequence_.value_width * (sequence_.layout == HeadLayout::kTokens ? tiling_.heads : 1);
  }

  // From rows of tokens to [heads, rows, key_width].
  void copy_query(const float* tokens) {
    const std::int64_t width = sequence_.key_width;
    float* to = query_;
    for (std::int64_t head = head_; head < head_ + tiling_.heads; ++head) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        to = std::copy_n(tokens + (i * sequence_.num_heads + head) * width, width, to);
      }
    }
  }
  // From [heads, rows, value_width] to rows of tokens.
  void copy_out(float* tokens) const {
    const std::int64_t width = sequence_.value_width;
    const float* from = out_;
    for (std::int64_t head = head_; head < head_ + tiling_.heads; ++head) {
      for (std::int64_t i = 0; i < rows_; ++i, from += width) {
        std::copy_n(from, width, tokens + (i * sequence_.num_heads + head) * width);
      }
    }
  }

  void run_heads(const void* query, float* out) {
    const KeyRange seen = seen_together();
    write_zeros();
    if (seen.empty()) {
      std::fill_n(sums_, score_rows(), 0.0f);
      std::fill_n(out, score_rows() * sequence_.value_width, 0.0f);
      return;
    }
    for (KeyRange keys = first_keys(seen); !keys.empty(); keys = next_keys(keys, seen)) {
      step(query, out, keys, keys.begin <= seen.begin);
    }
    if (sequence_.details.any()) {
      for (KeyRange keys = first_keys(seen); !keys.empty(); keys = next_keys(keys, seen)) {
        write_details(keys);
      }
      finish_writes_past_cache();
    }
    divide_by_sums(out);
  }

  // Keys that are seen by one query or another.
  KeyRange seen_together() const {
    return {sequence_.mask.visible(first_).begin, sequence_.mask.visible(first_ + rows_ - 1).end};
  }
  KeyRange first_keys(const KeyRange& seen) const {
    if (tiling_.sliding) {
      // At the ends of the sequence the slice of keys keeps its size and slides inwards, so that
      // all blocks share one plan.
      const std::int64_t begin = std::min(seen.begin, sequence_.mask.valid_keys - tiling_.keys);
      return {begin, begin + tiling_.keys};
    }
    const std::int64_t begin = seen.begin / tiling_.keys * tiling_.keys;
    return {begin, std::min(begin + tiling_.keys, sequence_.mask.valid_keys)};
  }
  KeyRange next_keys(const KeyRange& keys, const KeyRange& seen) const {
    if (tiling_.sliding || keys.end >= seen.end) return {};
    return {keys.end, std::min(keys.end + tiling_.keys, sequence_.mask.valid_keys)};
  }

  // Of the blocks that are kept.
  std::int64_t kept_index(const KeyRange& keys) const {
    return kept_blocks() == 1 ? 0 : keys.begin / tiling_.keys;
  }
  float* scores_of(const KeyRange& keys) const {
    return scores_ + kept_index(keys) * block_scores();
  }
  float* references_of(const KeyRange& keys) const {
    return references_ + kept_index(keys) * score_rows();
  }

  const void* key_at(std::int64_t index) const {
    if (!is_packed()) return token_at(sequence_, sequence_.key, index, sequence_.key_width);
    return static_cast<const std::byte*>(sequence_.key) +
           sequence_.packed.key(index / tiling_.keys, head_ / tiling_.heads);
  }
  const void* value_at(std::int64_t index) const {
    if (!is_packed()) return token_at(sequence_, sequence_.value, index, sequence_.value_width);
    return static_cast<const std::byte*>(sequence_.key) +
           sequence_.packed.value(index / tiling_.keys, head_ / tiling_.heads);
  }

  void step(const void* query, float* out, const KeyRange& keys, bool is_first) {
    const std::int64_t count = keys.end - keys.begin;
    const AttentionProducts products(context_, sequence_, tiling_, rows_, count);
    float* const scores = scores_of(keys);
    float* const references = references_of(keys);
    products.query_times_key(query, key_at(keys.begin), scores);
    const bool all_visible = set_visible(keys);
    if (sequence_.details.band_logits != nullptr) {
      write_lags(sequence_.details.band_logits, keys, [](auto, auto) { return 1.0f; });
    }
    if (kept_blocks() > 1 && !is_first) {
      std::copy_n(references - score_rows(), score_rows(), references);
    }
    ScoreBlock block{.heads = tiling_.heads,
                     .rows = rows_,
                     .keys = count,
                     .scores = scores,
                     .visible = all_visible ? nullptr : visible_,
                     .reference = references,
                     .sum = sums_,
                     .first = is_first,
                     .out = out,
                     .out_head_step = out_head_step(),
                     .out_row_step = out_row_step(),
                     .out_width = sequence_.value_width,
                     .rounded = rounded_};
    if (const SequenceMask& mask = sequence_.mask; mask.additive != nullptr) {
      block.additive = mask.additive + head_ * mask.additive_head_step +
                       first_ * sequence_.num_keys + keys.begin;
      block.additive_head_step = mask.additive_head_step;
      block.additive_row_step = sequence_.num_keys;
    }
    accumulate_softmax(block);
    const void* const weights = rounds() ? static_cast<const void*>(rounded_) : scores;
    products.weights_times_value(weights, value_at(keys.begin), out, !is_first);
    last_references_ = references;
  }

  // What each row sees of `keys`, relative to their begin; true if that is everything.
  bool set_visible(const KeyRange& keys) {
    bool all = true;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const KeyRange seen = sequence_.mask.visible(first_ + i);
      visible_[i] = {std::max(seen.begin, keys.begin) - keys.begin,
                     std::min(seen.end, keys.end) - keys.begin};
      if (visible_[i].empty()) visible_[i] = {};
      all = all && visible_[i].begin == 0 && visible_[i].end == keys.end - keys.begin;
    }
    return all;
  }

  void divide_by_sums(float* out) const {
    for (std::int64_t head = 0; head < tiling_.heads; ++head) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        const float sum = sums_[head * rows_ + i];
        float* const row = out + head * out_head_step() + i * out_row_step();
        if (sum == 0.0f) {  // may hold 0 * NaN of a value that others see
          std::fill_n(row, sequence_.value_width, 0.0f);
          continue;
        }
        const float factor = 1.0f / sum;
        for (std::int64_t c = 0; c < sequence_.value_width; ++c) row[c] *= factor;
      }
    }
  }

  // What makes a kept row of exponentials a row of weights.
  float weight_factor(std::int64_t head, std::int64_t i, const KeyRange& keys) const {
    const std::int64_t at = head * rows_ + i;
    if (sums_[at] == 0.0f) return 0.0f;
    const float then = references_of(keys)[at];
    const float now = last_references_[at];
    return (then == now ? 1.0f : std::exp(then - now)) / sums_[at];
  }

  const float* score_row(std::int64_t head, std::int64_t i, const KeyRange& keys) const {
    return scores_of(keys) + (head * rows_ + i) * (keys.end - keys.begin);
  }
  // Of the caller's weights [H, Tq, Tk].
  float* weights_row(std::int64_t head, std::int64_t i) const {
    return sequence_.details.weights +
           ((head_ + head) * sequence_.num_queries + first_ + i) * sequence_.num_keys;
  }
  float* mean_row(std::int64_t i) const {
    return sequence_.details.mean_weights + (first_ + i) * sequence_.num_keys;
  }

  // Weights of keys that no query of the block sees, and what others are added to.
  void write_zeros() const {
    const SequenceDetails& details = sequence_.details;
    const KeyRange seen = seen_together();
    const KeyRange keys = seen.empty() ? KeyRange{} : written_together(seen);
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t head = 0; details.weights != nullptr && head < tiling_.heads; ++head) {
        float* const row = weights_row(head, i);
        std::fill_n(row, keys.begin, 0.0f);
        std::fill(row + keys.end, row + sequence_.num_keys, 0.0f);
      }
      if (details.mean_weights != nullptr && head_ == 0) {
        std::fill_n(mean_row(i), sequence_.num_keys, 0.0f);
      }
    }
    if (!seen.empty()) return;
    std::fill_n(visible_, rows_, KeyRange{});
    for (float* const lags : {details.band_weights, details.band_logits}) {
      if (lags != nullptr) write_lags(lags, {}, [](auto, auto) { return 0.0f; });
    }
  }
  KeyRange written_together(const KeyRange& seen) const {
    KeyRange all = first_keys(seen);
    for (KeyRange keys = all; !keys.empty(); keys = next_keys(keys, seen)) all.end = keys.end;
    return all;
  }

  // Weights of one block of keys, once the sums are known.
  void write_details(const KeyRange& keys) const {
    const SequenceDetails& details = sequence_.details;
    const std::int64_t count = keys.end - keys.begin;
    const bool past_cache =
        sequence_.num_heads * sequence_.num_queries * sequence_.num_keys > kCachedWeights;
    for (std::int64_t head = 0; head < tiling_.heads; ++head) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        const float* const from = score_row(head, i, keys);
        const float factor = weight_factor(head, i, keys);
        if (details.weights != nullptr) {
          copy_scaled(from, count, factor, past_cache, weights_row(head, i) + keys.begin);
        }
        if (details.mean_weights != nullptr) {
          const float share = factor / static_cast<float>(sequence_.num_heads);
          float* const mean = mean_row(i) + keys.begin;
          for (std::int64_t j = 0; j < count; ++j) mean[j] += from[j] * share;
        }
      }
    }
    if (details.band_weights == nullptr) return;
    write_lags(details.band_weights, keys,
               [&](std::int64_t head, std::int64_t i) { return weight_factor(head, i, keys); });
  }

  // Copies what each query sees of its scores to the caller's [H, Tq, num_lags], times
  // factor(head, row).
  template <typename Factor>
  void write_lags(float* lags, const KeyRange& keys, const Factor& factor) const {
    const SequenceMask& mask = sequence_.mask;
    const std::int64_t num_lags = mask.band->num_lags();
    for (std::int64_t head = 0; head < tiling_.heads; ++head) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        float* const to = lags + ((head_ + head) * sequence_.num_queries + first_ + i) * num_lags;
        std::fill_n(to, num_lags, 0.0f);
        const KeyRange& seen = visible_[i];
        if (seen.empty()) continue;
        copy_scaled(score_row(head, i, keys) + seen.begin, seen.end - seen.begin, factor(head, i),
                    false, to + (keys.begin + seen.begin - mask.first_lag_key(first_ + i)));
      }
    }
  }

  ExecContext::Impl& context_;
  const AttentionSequence& sequence_;
  const AttentionTiling& tiling_;
  std::int64_t first_;
  std::int64_t rows_;
  std::int64_t head_ = 0;  // the first of those that are worked on
  float* sums_ = nullptr;  // theirs
  ExecContext::Impl::Frame frame_;
  float* scores_ = nullptr;      // of the kept blocks
  float* references_ = nullptr;  // likewise
  const float* last_references_ = nullptr;
  KeyRange* visible_ = nullptr;
  std::uint16_t* rounded_ = nullptr;
  float* query_ = nullptr;  // with packed keys: [heads, rows, width]
  float* out_ = nullptr;    // likewise
};

}  // namespace

KeyRange SequenceMask::visible(std::int64_t query) const {
  KeyRange range{0, valid_keys};
  if (band != nullptr) {
    const std::int64_t first = first_lag_key(query);
    range = {std::max<std::int64_t>(first, 0), std::min(first + band->num_lags(), valid_keys)};
  }
  if (causal != nullptr) {
    range.end = std::min(range.end, query * causal->stride + causal->offset + 1);
  }
  return range;
}

AttentionTiling attention_tiling(const AttentionSequence& sequence, int threads) {
  AttentionTiling tiling;
  tiling.heads = sequence.num_heads;
  const std::int64_t valid = std::max<std::int64_t>(sequence.mask.valid_keys, 1);
  const bool details = sequence.details.any();
  const auto set_rows = [&](std::int64_t most) {
    tiling.rows = equal_parts(sequence.num_queries,
                              std::min(most, ceil_div(sequence.num_queries, threads)), 1);
  };
  if (sequence.mask.band != nullptr) {
    set_rows(band_rows(*sequence.mask.band));
    const std::int64_t seen = keys_seen_by(tiling.rows, *sequence.mask.band);
    tiling.keys = std::min(seen, valid);
    // All sequences of a batch have to agree, whatever their valid keys.
    const std::int64_t most = std::min(seen, sequence.num_keys);
    tiling.sliding = details || sequence.num_heads * tiling.rows * most <= kCachedScores;
    if (tiling.sliding) return tiling;
  }
  // With bfloat16 oneDNN 2.6 asks for a layout but copies all the same.
  tiling.packed = sequence.precision == Precision::kF32 && sequence.layout == HeadLayout::kTokens &&
                  sequence.num_queries > (details ? kPackedRows : kMaxRows);
  if (tiling.packed) {
    set_rows(kPackedRows);
    tiling.keys = equal_parts(valid, kPackedKeys, 16);
    const std::int64_t kept = details ? valid : tiling.keys;
    tiling.heads = largest_divisor(sequence.num_heads, kPackedScores / (tiling.rows * kept));
    return tiling;
  }
  // Where all scores of a row are kept, fewer rows stay in the cache.
  const std::int64_t heads = sequence.num_heads;
  set_rows(details ? std::clamp(kKeptScores / (heads * sequence.num_keys), kMinRows, kMaxRows)
                   : kMaxRows);
  const std::int64_t cached = kCachedScores / (heads * tiling.rows);
  tiling.keys = equal_parts(valid, std::clamp(cached, kMinKeys, kMaxKeys), 16);
  return tiling;
}

PackedPlaces packed_places(ExecContext::Impl& context, const AttentionSequence& sequence,
                           const AttentionTiling& tiling) {
  PackedPlaces places{.groups = sequence.num_heads / tiling.heads};
  const auto widen = [](std::size_t& bytes, std::size_t needed) {
    bytes = std::max(bytes, (needed + 63) / 64 * 64);
  };
  // The last block may have fewer keys, but more padding.
  for (const std::int64_t keys :
       {std::min(tiling.keys, sequence.mask.valid_keys), sequence.mask.valid_keys % tiling.keys}) {
    if (keys == 0) continue;
    const AttentionProducts products(context, sequence, tiling, tiling.rows, keys);
    widen(places.key_bytes, products.key_packing()->bytes_of(DNNL_ARG_TO));
    widen(places.value_bytes, products.value_packing()->bytes_of(DNNL_ARG_TO));
  }
  return places;
}

void pack_block(ExecContext::Impl& context, const AttentionSequence& sequence,
                const AttentionTiling& tiling, const PackedPlaces& places, std::int64_t index,
                std::byte* to) {
  const std::int64_t begin = index * tiling.keys;
  const std::int64_t keys = std::min(tiling.keys, sequence.mask.valid_keys - begin);
  const AttentionProducts products(context, sequence, tiling, tiling.rows, keys);
  const auto pack = [&](Op& op, const void* from, std::size_t place) {
    op.set(DNNL_ARG_FROM, from);
    op.set(DNNL_ARG_TO, to + place);
    context.run(op);
  };
  for (std::int64_t group = 0; group < places.groups; ++group) {
    const std::int64_t head = group * tiling.heads;
    pack(*products.key_packing(), token_at(sequence, sequence.key, begin, sequence.key_width, head),
         places.key(index, group));
    pack(*products.value_packing(),
         token_at(sequence, sequence.value, begin, sequence.value_width, head),
         places.value(index, group));
  }
}

void attend(ExecContext::Impl& context, const AttentionSequence& sequence,
            const AttentionTiling& tiling, std::int64_t first_query, std::int64_t rows,
            const void* query, float* out, float* sums) {
  QueryBlock(context, sequence, tiling, first_query, rows).run(query, out, sums);
}

}  // namespace av_fusion::internal
