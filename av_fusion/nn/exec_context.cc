// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/nn/exec_context.h"

#include "av_fusion/core/error.h"
#include "av_fusion/nn/dnnl/exec_context_impl.h"

namespace av_fusion {
namespace {

const ExecContext::Options& checked(const ExecContext::Options& options) {
  if (options.num_threads < 0) {
    throw Error(ErrorCode::kInvalidArgument, "exec_context",
                "num_threads must be 0 or more, got " + std::to_string(options.num_threads));
  }
  if (options.max_plans == 0) {
    throw Error(ErrorCode::kInvalidArgument, "exec_context", "max_plans must be 1 or more, got 0");
  }
  return options;
}

dnnl::stream make_stream() {
  return internal::with_dnnl_errors("exec_context", "a CPU stream",
                                    [] { return dnnl::stream(internal::cpu_engine()); });
}

}  // namespace

ExecContext::Impl::Impl(const Options& options)
    : options_(checked(options)), stream_(make_stream()), plans_(options.max_plans) {}

int ExecContext::Impl::threads() const noexcept {
  return options_.num_threads > 0 ? options_.num_threads : internal::default_threads();
}

void ExecContext::Impl::prepare_workers(int count) {
  while (static_cast<int>(workers_.size()) < count) {
    workers_.push_back(
        std::make_unique<Impl>(Options{.num_threads = 1, .max_plans = options_.max_plans}));
  }
}

std::size_t ExecContext::Impl::scratch_bytes() const noexcept {
  std::size_t bytes = scratchpad_.bytes();
  for (const internal::ScratchArena& frame : frames_) bytes += frame.bytes();
  for (const auto& worker : workers_) bytes += worker->scratch_bytes();
  return bytes;
}

std::size_t ExecContext::Impl::num_plans() const noexcept {
  std::size_t plans = plans_.size();
  for (const auto& worker : workers_) plans += worker->num_plans();
  return plans;
}

ExecContext::ExecContext() : ExecContext(Options{}) {}
ExecContext::ExecContext(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
ExecContext::~ExecContext() = default;
ExecContext::ExecContext(ExecContext&&) noexcept = default;
ExecContext& ExecContext::operator=(ExecContext&&) noexcept = default;

int ExecContext::num_threads() const noexcept { return impl_->options().num_threads; }
std::size_t ExecContext::scratch_bytes() const noexcept { return impl_->scratch_bytes(); }
std::size_t ExecContext::num_plans() const noexcept { return impl_->num_plans(); }

}  // namespace av_fusion
