// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/attention_core.h"

#include <algorithm>
#include <memory>
#include <string>

#include "av_fusion/nn/band_softmax_internal.h"

// Tokens stay as the projections wrote them, [T, H * head_dim]; a head is a strided view. oneDNN
// 2.6 takes its fast path only for exactly dense views, hence the batch stride "rows * row stride"
// for a block of rows (the batch extent is 1, so it addresses nothing).
namespace av_fusion::internal {
namespace {

constexpr const char* kLayer = "multi_head_attention";

enum Operation { kQueryKey, kSoftmax, kWeightsValue };

// Rows of the score matrix that are worked on together.
std::int64_t block_rows(std::int64_t num_queries) {
  return std::min<std::int64_t>(num_queries, num_queries < 200 ? 64 : 128);
}

// With more rows a block works on keys that most of its rows do not see, with fewer the matrix
// products get inefficient; 16 to 64 measured alike. At most half of the scores lie outside of the
// band.
std::int64_t band_block_rows(std::int64_t num_queries, const BandMask& band) {
  const std::int64_t stride = std::max<std::int64_t>(band.stride, 1);
  const std::int64_t rows = std::clamp<std::int64_t>(band.num_lags() / stride + 1, 1, 32);
  return std::min(num_queries, rows);
}

// Keys that a block of `rows` queries sees together, if there are that many.
std::int64_t band_block_keys(std::int64_t rows, std::int64_t num_keys, const BandMask& band) {
  return std::min(num_keys, band.num_lags() + (rows - 1) * band.stride);
}

std::shared_ptr<Op> build_matmul(const std::string& what, const OperandDescs& at) {
  return with_dnnl_errors(kLayer, what, [&] {
    const dnnl::matmul::primitive_desc pd = make_matmul(cpu_engine(), at, inference_attr());
    auto op = std::make_shared<Op>(kLayer, what, dnnl::matmul(pd), pd.scratchpad_desc());
    op->bind(DNNL_ARG_SRC, at.src);
    op->bind(DNNL_ARG_WEIGHTS, at.weights);
    op->bind(DNNL_ARG_DST, at.dst);
    return op;
  });
}

std::string sizes(const AttentionTask& task, std::int64_t rows, std::int64_t keys) {
  return std::to_string(task.num_heads) + " heads of " + std::to_string(task.head_dim) + ", " +
         std::to_string(rows) + " queries, " + std::to_string(keys) + " keys";
}

// `count` rows seen as [1, heads, count, head_dim].
dnnl::memory::desc head_view(const AttentionTask& task, std::int64_t count, std::int64_t stride) {
  return strided_f32({1, task.num_heads, count, task.head_dim},
                     {count * stride, task.head_dim, stride, 1});
}

std::shared_ptr<Op> build_query_key(const AttentionTask& task, std::int64_t rows,
                                    std::int64_t keys) {
  const std::int64_t stride = task.key.stride;
  return build_matmul("Q K^T, " + sizes(task, rows, keys),
                      {.src = head_view(task, rows, task.query.stride),
                       .weights = strided_f32({1, task.num_heads, task.head_dim, keys},
                                              {keys * stride, task.head_dim, 1, stride}),
                       .bias = {},
                       .dst = dense_f32({1, task.num_heads, rows, keys})});
}

std::shared_ptr<Op> build_weights_value(const AttentionTask& task, std::int64_t rows,
                                        std::int64_t keys) {
  return build_matmul("softmax(S) V, " + sizes(task, rows, keys),
                      {.src = dense_f32({1, task.num_heads, rows, keys}),
                       .weights = head_view(task, keys, task.value.stride),
                       .bias = {},
                       .dst = head_view(task, rows, task.out.stride)});
}

std::shared_ptr<Op> build_softmax(std::int64_t rows, std::int64_t keys) {
  const std::string what = "softmax " + dims_text({rows, keys});
  return with_dnnl_errors(kLayer, what, [&] {
    const dnnl::memory::desc data = dense_f32({rows, keys});
    const auto pd = make_softmax(cpu_engine(), data, 1, inference_attr());
    auto op = std::make_shared<Op>(kLayer, what, SoftmaxForward(pd), pd.scratchpad_desc());
    op->bind(DNNL_ARG_SRC, data);
    op->bind(DNNL_ARG_DST, data);
    return op;
  });
}

// The products of one block shape: S = Q K^T and O = P V for `rows` queries and `keys` keys.
class BlockPlans {
 public:
  BlockPlans(ExecContext::Impl& context, const AttentionTask& task, std::int64_t rows,
             std::int64_t keys)
      : context_(context) {
    query_key_ = context.plan(
        {.operation = kQueryKey,
         .shape = {task.num_heads, task.head_dim, rows, keys, task.query.stride, task.key.stride}},
        [&] { return build_query_key(task, rows, keys); });
    weights_value_ = context.plan(
        {.operation = kWeightsValue,
         .shape = {task.num_heads, task.head_dim, rows, keys, task.value.stride, task.out.stride}},
        [&] { return build_weights_value(task, rows, keys); });
  }

  void query_times_key(const float* query, const float* key, float* scores) const {
    run(*query_key_, query, key, scores);
  }
  void weights_times_value(const float* weights, const float* value, float* out) const {
    run(*weights_value_, weights, value, out);
  }

 private:
  void run(Op& op, const float* a, const float* b, float* result) const {
    op.set(DNNL_ARG_SRC, a);
    op.set(DNNL_ARG_WEIGHTS, b);
    op.set(DNNL_ARG_DST, result);
    context_.run(op);
  }

  ExecContext::Impl& context_;
  std::shared_ptr<Op> query_key_;
  std::shared_ptr<Op> weights_value_;
};

void zero_out_rows(const AttentionTask& task, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    std::fill_n(task.out.row(i), task.num_heads * task.head_dim, 0.0f);
  }
}

// Copies a block of weights [H, rows, valid_keys] to the caller's array, zeros after them.
void copy_weights(const AttentionTask& task, const float* block, std::int64_t first,
                  std::int64_t rows) {
  for (std::int64_t head = 0; head < task.num_heads; ++head) {
    for (std::int64_t row = 0; row < rows; ++row) {
      float* to = task.weights + (head * task.num_queries + first + row) * task.num_keys;
      to = std::copy_n(block + (head * rows + row) * task.valid_keys, task.valid_keys, to);
      std::fill_n(to, task.num_keys - task.valid_keys, 0.0f);
    }
  }
}

void attend_everywhere(ExecContext::Impl& context, const AttentionTask& task) {
  // Scores of all keys can be made where the caller wants the weights; that takes one block.
  const bool in_place = task.weights != nullptr && task.valid_keys == task.num_keys;
  const std::int64_t step = in_place ? task.num_queries : block_rows(task.num_queries);
  for (std::int64_t first = 0; first < task.num_queries; first += step) {
    const std::int64_t rows = std::min(step, task.num_queries - first);
    const BlockPlans plans(context, task, rows, task.valid_keys);
    const std::int64_t score_rows = task.num_heads * rows;
    const std::shared_ptr<Op> softmax =
        context.plan({.operation = kSoftmax, .shape = {score_rows, task.valid_keys}},
                     [&] { return build_softmax(score_rows, task.valid_keys); });
    float* const scores = in_place ? task.weights : task.scores;
    plans.query_times_key(task.query.row(first), task.key.data, scores);
    softmax->set(DNNL_ARG_SRC, scores);
    softmax->set(DNNL_ARG_DST, scores);
    context.run(*softmax);
    plans.weights_times_value(scores, task.value.data, task.out.row(first));
    if (task.weights != nullptr && !in_place) copy_weights(task, scores, first, rows);
  }
}

struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool empty() const { return begin >= end; }
};

// Attention of one sequence under a band mask, block by block.
class BandAttention {
 public:
  BandAttention(ExecContext::Impl& context, const AttentionTask& task, const BandMask& band)
      : context_(context), task_(task), band_(band) {}

  void run() const {
    const std::int64_t step = band_block_rows(task_.num_queries, band_);
    for (std::int64_t first = 0; first < task_.num_queries; first += step) {
      run_block(first, std::min(step, task_.num_queries - first));
    }
  }

 private:
  // The key of lag -width; may lie outside of the sequence.
  std::int64_t first_lag_key(std::int64_t query) const {
    return query * band_.stride + band_.offset - band_.width;
  }

  KeyRange visible(std::int64_t query) const {
    const std::int64_t first = first_lag_key(query);
    return {std::max<std::int64_t>(first, 0), std::min(first + band_.num_lags(), task_.valid_keys)};
  }

  void run_block(std::int64_t first, std::int64_t rows) const {
    const KeyRange together{visible(first).begin, visible(first + rows - 1).end};
    if (together.empty()) {
      zero_out_rows(task_, first, first + rows);
      write_details(first, rows, nullptr, 0, 0);
      return;
    }
    // The slice of keys keeps its size at the ends of the sequence and slides inwards instead, so
    // that all blocks share one plan.
    const std::int64_t keys = band_block_keys(rows, task_.valid_keys, band_);
    const std::int64_t start =
        std::clamp<std::int64_t>(first_lag_key(first), 0, task_.valid_keys - keys);
    const BlockPlans plans(context_, task_, rows, keys);
    plans.query_times_key(task_.query.row(first), task_.key.row(start), task_.scores);
    if (task_.band_logits != nullptr) {
      copy_lags(task_.band_logits, first, rows, task_.scores, start, keys);
    }
    for (std::int64_t head = 0; head < task_.num_heads; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const KeyRange seen = visible(first + row);
        softmax_in_range(task_.scores + (head * rows + row) * keys, keys, seen.begin - start,
                         seen.end - start);
      }
    }
    plans.weights_times_value(task_.scores, task_.value.row(start), task_.out.row(first));
    write_details(first, rows, task_.scores, start, keys);
  }

  // `block` is [H, rows, keys] and begins at key `start`; null where no query sees a key.
  void write_details(std::int64_t first, std::int64_t rows, const float* block, std::int64_t start,
                     std::int64_t keys) const {
    if (task_.band_weights != nullptr) {
      copy_lags(task_.band_weights, first, rows, block, start, keys);
    }
    if (task_.band_logits != nullptr && block == nullptr) {
      copy_lags(task_.band_logits, first, rows, nullptr, 0, 0);
    }
    if (task_.weights == nullptr) return;
    for (std::int64_t head = 0; head < task_.num_heads; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        float* const to = task_.weights + (head * task_.num_queries + first + row) * task_.num_keys;
        std::fill_n(to, task_.num_keys, 0.0f);
        if (block != nullptr) std::copy_n(block + (head * rows + row) * keys, keys, to + start);
      }
    }
  }

  // Copies what each query sees from [H, rows, keys] to the caller's [H, Tq, num_lags].
  void copy_lags(float* lags, std::int64_t first, std::int64_t rows, const float* block,
                 std::int64_t start, std::int64_t keys) const {
    const std::int64_t num_lags = band_.num_lags();
    for (std::int64_t head = 0; head < task_.num_heads; ++head) {
      for (std::int64_t row = 0; row < rows; ++row) {
        float* const to = lags + (head * task_.num_queries + first + row) * num_lags;
        std::fill_n(to, num_lags, 0.0f);
        const KeyRange seen = visible(first + row);
        if (block == nullptr || seen.empty()) continue;
        const float* const from = block + (head * rows + row) * keys + (seen.begin - start);
        std::copy_n(from, seen.end - seen.begin, to + (seen.begin - first_lag_key(first + row)));
      }
    }
  }

  ExecContext::Impl& context_;
  const AttentionTask& task_;
  const BandMask& band_;
};

void attend_nowhere(const AttentionTask& task, const BandMask* band) {
  zero_out_rows(task, 0, task.num_queries);
  const std::int64_t rows = task.num_heads * task.num_queries;
  const std::int64_t num_lags = band == nullptr ? 0 : band->num_lags();
  if (task.weights != nullptr) std::fill_n(task.weights, rows * task.num_keys, 0.0f);
  if (task.band_weights != nullptr) std::fill_n(task.band_weights, rows * num_lags, 0.0f);
  if (task.band_logits != nullptr) std::fill_n(task.band_logits, rows * num_lags, 0.0f);
}

}  // namespace

std::int64_t scores_floats(std::int64_t num_heads, std::int64_t num_queries, std::int64_t num_keys,
                           const BandMask* band) {
  if (band == nullptr) return num_heads * block_rows(num_queries) * num_keys;
  const std::int64_t rows = band_block_rows(num_queries, *band);
  return num_heads * rows * band_block_keys(rows, num_keys, *band);
}

void attend(ExecContext::Impl& context, const AttentionTask& task, const BandMask* band) {
  if (task.valid_keys == 0) {
    attend_nowhere(task, band);
  } else if (band != nullptr) {
    BandAttention(context, task, *band).run();
  } else {
    attend_everywhere(context, task);
  }
}

}  // namespace av_fusion::internal
