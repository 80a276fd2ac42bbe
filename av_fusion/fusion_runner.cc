// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "av_fusion/fusion_runner_internal.h"

namespace av_fusion {
namespace {

template <typename... Actions>
struct Overloaded : Actions... {
  using Actions::operator()...;
};
template <typename... Actions>
Overloaded(Actions...) -> Overloaded<Actions...>;

}  // namespace

FusionRunner::FusionRunner(FusionStream& stream, bool on_own_thread) : stream_(stream) {
  if (on_own_thread) thread_.emplace([this] { work(); });
}

FusionRunner::~FusionRunner() {
  is_dropping_ = true;
  join();
}

void FusionRunner::run(Call call) {
  if (!thread_) return do_call(call);
  if (queue_.push(std::move(call))) return;
  join();
  std::rethrow_exception(failure_);
}

void FusionRunner::finish() {
  join();
  if (failure_) std::rethrow_exception(failure_);
}

void FusionRunner::join() {
  if (!thread_) return;
  queue_.push(Stop{});
  thread_->join();
  thread_.reset();
}

void FusionRunner::work() {
  try {
    for (Call call = queue_.pop(); !std::holds_alternative<Stop>(call); call = queue_.pop()) {
      if (!is_dropping_) do_call(call);
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  queue_.close();
}

void FusionRunner::do_call(Call& call) {
  std::visit(Overloaded{[](Stop&) {},
                        [&](Mouths& mouths) { stream_.push_mouths(mouths.chunk, mouths.grid); },
                        [&](Audio& audio) { stream_.push_audio(audio.mel.view()); },
                        [&](AdvanceTo& to) { stream_.advance_to(to.tick); },
                        [&](FinishVideo&) { stream_.finish_video(); },
                        [&](FinishAudio&) { stream_.finish_audio(); }},
             call);
}

}  // namespace av_fusion
