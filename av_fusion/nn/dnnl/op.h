// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "av_fusion/core/error.h"
#include "av_fusion/nn/dnnl/compat.h"

namespace av_fusion::internal {

/// The engine of the process; immutable and shared by all threads.
const dnnl::engine& cpu_engine();

/// The error that leaves the library when oneDNN refuses `what` ("matmul [25, 128] x [128, 64]").
Error dnnl_error(std::string_view layer, std::string_view what, dnnl_status_t status);

/// Runs `build` and turns what oneDNN throws into an `Error` that names the layer and `what`.
template <typename Build>
auto with_dnnl_errors(std::string_view layer, std::string_view what, const Build& build) {
  try {
    return build();
  } catch (const dnnl::error& error) {
    throw dnnl_error(layer, what, error.status);
  }
}

/// "[2, 3]" of oneDNN's extents, for messages.
std::string dims_text(const dnnl::memory::dims& dims);

/// A primitive with its arguments laid out in advance; a run swaps data pointers and nothing else.
///
/// Goes through oneDNN's C interface for the run, because the C++ one copies the argument map to
/// the heap each time. Belongs to one `ExecContext`.
class Op {
 public:
  static constexpr std::size_t kMaxArgs = 8;

  /// `scratchpad` is the primitive descriptor's `scratchpad_desc()`; `layer` and `what` go into
  /// error messages.
  Op(std::string_view layer, std::string what, dnnl::primitive primitive,
     const dnnl::memory::desc& scratchpad);
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;

  /// Adds an argument; `data` may also come later through `set`. A zero descriptor is left out.
  void bind(int arg, const dnnl::memory::desc& desc, const void* data = nullptr);

  /// Sets the memory of a bound argument. oneDNN has one kind of handle; sources are not written.
  void set(int arg, const void* data);

  /// Memory that a bound argument needs.
  std::size_t bytes_of(int arg) const { return bytes_[index_of(arg)]; }

  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }

  /// `scratch` holds at least `scratch_bytes()`.
  void run(const dnnl::stream& stream, void* scratch);

 private:
  std::size_t index_of(int arg) const;

  std::string layer_;
  std::string what_;
  dnnl::primitive primitive_;
  std::array<dnnl::memory, kMaxArgs> memories_;
  std::array<dnnl_exec_arg_t, kMaxArgs> args_{};
  std::array<std::size_t, kMaxArgs> bytes_{};
  std::size_t num_args_ = 0;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace av_fusion::internal
