// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/packed_weights.h"

#include "av_fusion/nn/dnnl/op.h"
#include "av_fusion/nn/dnnl/openmp_threads.h"

namespace av_fusion::internal {

PackedWeights::PackedWeights(std::string_view layer, const float* plain,
                             const dnnl::memory::desc& plain_desc,
                             const dnnl::memory::desc& packed_desc)
    : layer_(layer) {
  add_pack(plain, plain_desc, packed_desc);
}

const void* PackedWeights::packed_as(const dnnl::memory::desc& desc) {
  const std::lock_guard lock(mutex_);
  for (const Pack& pack : packs_) {
    if (pack.desc == desc) return pack.data.data();
  }
  return add_pack(packs_.front().data.data(), packs_.front().desc, desc);
}

const void* PackedWeights::add_pack(const void* from, const dnnl::memory::desc& from_desc,
                                    const dnnl::memory::desc& to_desc) {
  return with_dnnl_errors(layer_, "the packing of the weights", [&] {
    const OpenMpThreads one_thread(1);
    Tensor<std::byte> data(Shape{static_cast<std::int64_t>(to_desc.get_size())});
    const dnnl::reorder::primitive_desc reorder(cpu_engine(), from_desc, cpu_engine(), to_desc,
                                                inference_attr());
    Op op(layer_, "the packing of the weights", dnnl::reorder(reorder), reorder.scratchpad_desc());
    op.bind(DNNL_ARG_FROM, from_desc, from);
    op.bind(DNNL_ARG_TO, to_desc, data.data());
    Tensor<std::byte> scratch(Shape{static_cast<std::int64_t>(op.scratch_bytes())});
    dnnl::stream stream(cpu_engine());
    op.run(stream, scratch.data());
    stream.wait();
    packs_.push_back({to_desc, std::move(data)});
    return static_cast<const void*>(packs_.back().data.data());
  });
}

}  // namespace av_fusion::internal
