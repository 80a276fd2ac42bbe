// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/apps/av_align_program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/apps/media_folder.h"
#include "tests/report/schema_validator.h"

namespace av_fusion::test {

using nlohmann::json;

double true_sample_offset_ms() {
  return json::parse(read_file(AV_FUSION_ASSETS_DIR "/samples/talking_face.json"))
      .at("offset_ms")
      .get<double>();
}

ProgramResult av_align(std::vector<std::string> arguments, const ProgramInput& input) {
  arguments.insert(arguments.begin(), AV_FUSION_AV_ALIGN);
  return run_program(arguments, input);
}

json checked_json(const ProgramResult& result, const std::string& schema) {
  const json content = json::parse(result.out, nullptr, false);
  EXPECT_FALSE(content.is_discarded()) << "stdout is not JSON alone: " << result.out << result.err;
  const av_fusion::testing::SchemaValidator validator(
      json::parse(read_file(AV_FUSION_ASSETS_DIR "/schema/" + schema)));
  EXPECT_EQ(validator.validate(content), std::vector<std::string>{});
  return content;
}

json report_of(const ProgramResult& result) {
  return checked_json(result, "alignment-report-1.schema.json");
}

json report_on(const std::string& input, std::vector<std::string> options) {
  options.insert(options.end(), {"-o", "-", "--", input});
  return report_of(av_align(options));
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void expect_complaint(const ProgramResult& result, int exit_code, const std::string& about) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err), 1U) << result.err;
  EXPECT_NE(result.err.find(about), std::string::npos) << result.err;
}

}  // namespace av_fusion::test
