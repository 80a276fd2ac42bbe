// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/cpu_isa.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "av_fusion/nn/precision.h"

namespace av_fusion {
namespace internal {
namespace {

// oneDNN numbers its instruction sets such that a set contains the bits of all that it implies.
bool has(dnnl::cpu_isa isa) {
  const auto wanted = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

}  // namespace

bool has_avx2() { return has(dnnl::cpu_isa::avx2); }
bool has_avx512() { return has(dnnl::cpu_isa::avx512_core); }
bool has_bf16() { return has(dnnl::cpu_isa::avx512_core_bf16); }

}  // namespace internal

bool is_native(Precision precision) { return precision == Precision::kF32 || internal::has_bf16(); }

}  // namespace av_fusion
