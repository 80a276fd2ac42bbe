// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "av_fusion/align/alignment.h"
#include "av_fusion/report/report_context.h"

namespace av_fusion {

/// The report as strict JSON that follows `assets/schema/alignment-report-1.schema.json`: indented
/// by two spaces, with a final newline. Equal inputs give equal bytes. What does not exist or is
/// not finite is null; bytes that are not UTF-8 become U+FFFD. Throws nothing but `std::bad_alloc`.
std::string to_json(const Alignment& alignment, const ReportContext& context);

/// The same, handed to `write` in pieces of a few kilobytes: no second copy of a long report is
/// held. What `write` throws comes through.
void write_json(const Alignment& alignment, const ReportContext& context,
                const std::function<void(std::string_view)>& write);

/// The same as `to_json` on a single line, with a final newline: one record of JSON Lines.
std::string to_json_line(const Alignment& alignment, const ReportContext& context);

}  // namespace av_fusion
