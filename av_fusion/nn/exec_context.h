// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace av_fusion {

/// What one thread needs to run layers: an in-order oneDNN stream, scratch memory and a cache of
/// prepared plans (one for each layer and shape).
///
/// Layers are immutable and may be shared by any number of threads; an `ExecContext` belongs to
/// one thread at a time. After the first call with a shape, running a layer allocates nothing
/// (oneDNN itself makes a short argument table for each primitive it runs); with several threads
/// inside, this holds once each of them has met its shapes.
class ExecContext {
 public:
  struct Options {
    /// Threads inside one primitive; 0 leaves the OpenMP default. The recommended way to use more
    /// cores is one context per clip, each with one thread. Set through OpenMP while a layer runs,
    /// for the calling thread only, and put back afterwards.
    int num_threads = 1;
    /// Plans kept; the least recently used one is dropped.
    std::size_t max_plans = 256;
  };

  ExecContext();
  explicit ExecContext(const Options& options);
  ~ExecContext();
  ExecContext(ExecContext&&) noexcept;
  ExecContext& operator=(ExecContext&&) noexcept;

  int num_threads() const noexcept;
  /// Bytes of scratch memory held at the moment.
  std::size_t scratch_bytes() const noexcept;
  std::size_t num_plans() const noexcept;

  class Impl;  // private: av_fusion/nn/dnnl/
  Impl& impl() noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace av_fusion
