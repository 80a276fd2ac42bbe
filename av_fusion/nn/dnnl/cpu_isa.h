// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion::internal {

/// Instruction sets as oneDNN sees them: what the processor has, capped by ONEDNN_MAX_CPU_ISA.
bool has_avx2();    ///< with FMA
bool has_avx512();  ///< F, BW, DQ, VL
bool has_bf16();    ///< native products of bfloat16

}  // namespace av_fusion::internal
