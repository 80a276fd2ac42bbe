// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "av_fusion/report/model_description.h"

namespace av_fusion {

/// Which program measured, with which libraries. Empty versions are null in the report.
struct ToolDescription {
  std::string name = "av_fusion";
  std::string version;
  std::string onednn;
  std::string ffmpeg;
  std::string opencv;
  std::optional<ModelDescription> model;
};

}  // namespace av_fusion
