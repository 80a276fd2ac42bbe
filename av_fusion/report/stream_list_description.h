// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "av_fusion/report/stream_description.h"

namespace av_fusion {

/// What an input holds, as far as its container says.
struct StreamListDescription {
  std::string path;       ///< as given; bytes that are not UTF-8 are replaced in the list
  std::string container;  ///< short name of the format; empty if unknown
  std::optional<double> duration_s;  ///< as promised
  std::vector<StreamDescription> streams;
};

}  // namespace av_fusion
