// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
// What the tests of the built av_align share.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/apps/program.h"

namespace av_fusion::test {

/// The clip in assets/samples, a front-to-back MP4.
inline const std::string kSample = AV_FUSION_ASSETS_DIR "/samples/talking_face.mp4";

/// By the way the sample was made.
double true_sample_offset_ms();

/// Runs av_align.
ProgramResult av_align(std::vector<std::string> arguments, const ProgramInput& input = NoInput{});

/// The JSON on stdout; fails the test if it does not follow this schema of assets/schema.
nlohmann::json checked_json(const ProgramResult& result, const std::string& schema);

/// The report on stdout; fails the test if it does not follow its schema.
nlohmann::json report_of(const ProgramResult& result);

/// The report on a file.
nlohmann::json report_on(const std::string& input, std::vector<std::string> options = {});

std::size_t lines_of(const std::string& text);

/// Expects one sentence on stderr, nothing on stdout.
void expect_complaint(const ProgramResult& result, int exit_code, const std::string& about);

}  // namespace av_fusion::test
