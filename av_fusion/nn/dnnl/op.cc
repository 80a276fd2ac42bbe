// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/dnnl/op.h"

#include <oneapi/dnnl/dnnl_debug.h>

#include <utility>

namespace av_fusion::internal {

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

Error dnnl_error(std::string_view layer, std::string_view what, dnnl_status_t status) {
  return Error(ErrorCode::kInternal, layer,
               "oneDNN cannot run " + std::string(what) + " (" + dnnl_status2str(status) + ")");
}

std::string dims_text(const dnnl::memory::dims& dims) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(dims[axis]);
  }
  return text + "]";
}

Op::Op(std::string_view layer, std::string what, dnnl::primitive primitive,
       const dnnl::memory::desc& scratchpad)
    : layer_(layer),
      what_(std::move(what)),
      primitive_(std::move(primitive)),
      scratch_bytes_(scratchpad.get_size()) {
  if (scratch_bytes_ > 0) bind(DNNL_ARG_SCRATCHPAD, scratchpad);
}

void Op::bind(int arg, const dnnl::memory::desc& desc, const void* data) {
  if (desc.is_zero()) return;
  if (num_args_ == kMaxArgs) throw Error(ErrorCode::kInternal, layer_, "too many arguments");
  memories_[num_args_] = dnnl::memory(desc, cpu_engine(), const_cast<void*>(data));
  args_[num_args_] = {arg, memories_[num_args_].get()};
  bytes_[num_args_] = desc.get_size();
  ++num_args_;
}

std::size_t Op::index_of(int arg) const {
  for (std::size_t i = 0; i < num_args_; ++i) {
    if (args_[i].arg == arg) return i;
  }
  throw Error(ErrorCode::kInternal, layer_, what_ + " has no argument " + std::to_string(arg));
}

void Op::set(int arg, const void* data) {
  memories_[index_of(arg)].set_data_handle(const_cast<void*>(data));
}

void Op::run(const dnnl::stream& stream, void* scratch) {
  if (scratch_bytes_ > 0) set(DNNL_ARG_SCRATCHPAD, scratch);
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), stream.get(),
                                                      static_cast<int>(num_args_), args_.data());
  if (status != dnnl_success) throw dnnl_error(layer_, what_, status);
}

}  // namespace av_fusion::internal
