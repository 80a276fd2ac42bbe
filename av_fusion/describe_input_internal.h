// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/media/media_reader.h"
#include "av_fusion/report/input_description.h"

namespace av_fusion {

/// What `reader` knows of its source, which the user calls `name`, after what it has read so far.
InputDescription describe_input(const MediaReader& reader, const std::string& name);

}  // namespace av_fusion
