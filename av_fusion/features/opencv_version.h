// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace av_fusion {

/// The version of OpenCV that runs, for example "4.10.0".
std::string opencv_version();

}  // namespace av_fusion
