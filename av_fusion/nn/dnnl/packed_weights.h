// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "av_fusion/core/tensor.h"
#include "av_fusion/nn/dnnl/compat.h"

namespace av_fusion::internal {

/// The weights of one layer in the layout that oneDNN asked for.
///
/// Packed in the constructor; the plain weights are not kept. oneDNN has chosen one layout for all
/// shapes wherever we looked, but it promises nothing, so a plan that asks for another layout gets
/// a second copy. Thread-safe; pointers stay valid as long as this object.
class PackedWeights {
 public:
  /// `plain` is described by `plain_desc`; it is read here and not kept. The packed weights may
  /// have another element type.
  PackedWeights(std::string_view layer, const float* plain, const dnnl::memory::desc& plain_desc,
                const dnnl::memory::desc& packed_desc);

  const void* packed_as(const dnnl::memory::desc& desc);

 private:
  struct Pack {
    dnnl::memory::desc desc;
    Tensor<std::byte> data;
  };

  const void* add_pack(const void* from, const dnnl::memory::desc& from_desc,
                       const dnnl::memory::desc& to_desc);

  std::string layer_;
  std::mutex mutex_;
  std::deque<Pack> packs_;
};

}  // namespace av_fusion::internal
