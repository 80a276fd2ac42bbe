// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion::internal {

/// Sets the OpenMP thread count of the calling thread while it lives.
///
/// oneDNN reads the count when a primitive is created and when it runs; there is no setting of its
/// own. OpenMP keeps the count for each thread separately, so other threads notice nothing. The
/// functions are looked up in the OpenMP runtime that oneDNN itself is bound to; with a oneDNN
/// built on another runtime (TBB, sequential) this class does nothing.
class OpenMpThreads {
 public:
  /// 0 leaves the count alone.
  explicit OpenMpThreads(int num_threads) noexcept;
  ~OpenMpThreads();
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int restore_ = 0;  // 0: nothing to restore
};

}  // namespace av_fusion::internal
