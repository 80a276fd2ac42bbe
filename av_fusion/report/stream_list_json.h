// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "av_fusion/report/stream_list_description.h"

namespace av_fusion {

/// The list as strict JSON that follows `assets/schema/stream-list-1.schema.json`: indented by two
/// spaces, with a final newline. Equal inputs give equal bytes. What does not exist or is not
/// finite is null; bytes that are not UTF-8 become U+FFFD. Throws nothing but `std::bad_alloc`.
///
/// `describe_streams` (describe_streams.h) makes the description of a file.
std::string to_json(const StreamListDescription& list);

}  // namespace av_fusion
