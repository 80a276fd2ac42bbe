// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace av_fusion {

/// Which model measured. Empty fields are null in the report.
struct ModelDescription {
  std::string name;
  std::string sha256;  ///< of the file, 64 lower-case hex digits
  std::string licence;
  std::string training_data;
};

}  // namespace av_fusion
