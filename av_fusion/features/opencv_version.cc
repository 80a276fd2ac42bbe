// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/features/opencv_version.h"

#include <opencv2/core/utility.hpp>

namespace av_fusion {

std::string opencv_version() { return cv::getVersionString(); }

}  // namespace av_fusion
