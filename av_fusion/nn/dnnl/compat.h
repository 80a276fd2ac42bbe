// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

// The differences between oneDNN 2.6 and 3.x that concern av_fusion. The only file that asks for
// the version: 2.x builds an operation descriptor first, 3.x passes everything to the primitive
// descriptor. Scales are not abstracted; av_fusion folds them into weights.
namespace av_fusion::internal {

/// Operands of a primitive; a default-constructed (zero) `bias` means "none".
struct OperandDescs {
  dnnl::memory::desc src;
  dnnl::memory::desc weights;
  dnnl::memory::desc bias;
  dnnl::memory::desc dst;
};

struct ConvGeometry {
  dnnl::memory::dims stride;
  dnnl::memory::dims dilation;  ///< as PyTorch counts: 1 is a dense kernel; oneDNN counts from 0
  dnnl::memory::dims padding;   ///< on either side
};

/// Attributes of every primitive here: the caller owns the scratchpad. With the library's own
/// scratchpad, primitives of Debian 12's build crash when a second thread runs them.
inline dnnl::primitive_attr inference_attr(const dnnl::post_ops& ops = {}) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_post_ops(ops);
  return attr;
}

inline void append_eltwise(dnnl::post_ops& ops, dnnl::algorithm algorithm, float alpha,
                           float beta) {
#if DNNL_VERSION_MAJOR >= 3
  ops.append_eltwise(algorithm, alpha, beta);
#else
  ops.append_eltwise(1.0f, algorithm, alpha, beta);
#endif
}

inline dnnl::matmul::primitive_desc make_matmul(const dnnl::engine& engine, const OperandDescs& at,
                                                const dnnl::primitive_attr& attr) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, at.src, at.weights, at.bias, at.dst, attr};
#else
  return {dnnl::matmul::desc(at.src, at.weights, at.bias, at.dst), attr, engine};
#endif
}

inline dnnl::convolution_forward::primitive_desc make_conv(const dnnl::engine& engine,
                                                           const OperandDescs& at,
                                                           const ConvGeometry& geometry,
                                                           const dnnl::primitive_attr& attr) {
  constexpr auto kProp = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  dnnl::memory::dims zero_based = geometry.dilation;
  for (auto& step : zero_based) step -= 1;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kProp,           kAlgorithm, at.src,           at.weights,       at.bias,
          at.dst, geometry.stride, zero_based, geometry.padding, geometry.padding, attr};
#else
  return {dnnl::convolution_forward::desc(kProp, kAlgorithm, at.src, at.weights, at.bias, at.dst,
                                          geometry.stride, zero_based, geometry.padding,
                                          geometry.padding),
          attr, engine};
#endif
}

/// Over the last axis, with scale and shift; 2.x knows one layout for source and result.
inline dnnl::layer_normalization_forward::primitive_desc make_layer_norm(
    const dnnl::engine& engine, const dnnl::memory::desc& data, float epsilon,
    const dnnl::primitive_attr& attr) {
  constexpr auto kProp = dnnl::prop_kind::forward_inference;
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kProp, data, data, epsilon, flags, attr};
#else
  return {dnnl::layer_normalization_forward::desc(kProp, data, epsilon, flags), attr, engine};
#endif
}

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

/// An array of the given strides in elements; no memory is attached.
inline dnnl::memory::desc strided(const dnnl::memory::dims& dims, const dnnl::memory::dims& strides,
                                  dnnl::memory::data_type type) {
  return {dims, type, strides};
}
inline dnnl::memory::desc strided_f32(const dnnl::memory::dims& dims,
                                      const dnnl::memory::dims& strides) {
  return strided(dims, strides, dnnl::memory::data_type::f32);
}

/// A row-major array.
inline dnnl::memory::desc dense(const dnnl::memory::dims& dims, dnnl::memory::data_type type) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * dims[axis];
  }
  return strided(dims, strides, type);
}
inline dnnl::memory::desc dense_f32(const dnnl::memory::dims& dims) {
  return dense(dims, dnnl::memory::data_type::f32);
}

/// An array whose layout oneDNN chooses.
inline dnnl::memory::desc any_layout(const dnnl::memory::dims& dims, dnnl::memory::data_type type) {
  return {dims, type, dnnl::memory::format_tag::any};
}
inline dnnl::memory::desc any_f32(const dnnl::memory::dims& dims) {
  return any_layout(dims, dnnl::memory::data_type::f32);
}

}  // namespace av_fusion::internal
