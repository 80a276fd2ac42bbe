// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace av_fusion {

/// The version of oneDNN that runs, for example "3.7.2".
std::string onednn_version();

}  // namespace av_fusion
