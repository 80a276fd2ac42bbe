// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion {

/// The number format of matrix products. Inputs, outputs, sums and the softmax are f32 in any case.
enum class Precision {
  kF32,
  /// Operands rounded to bfloat16 (8 bits of precision): about half the time, results to about two
  /// digits.
  kBf16,
};

/// Whether the processor has instructions for `precision`. bf16 needs AVX512_BF16 or better;
/// without them it would be slower than f32, so layers refuse it.
bool is_native(Precision precision);

}  // namespace av_fusion
