// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/model_metadata.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "av_fusion/core/error.h"
#include "av_fusion/core/in_quotes.h"
#include "av_fusion/model/private/sha256.h"

namespace av_fusion {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "av_fusion/aligner-model";
constexpr int kSchemaVersion = 1;
constexpr std::size_t kMaxLayers = 16;

[[noreturn]] void fail(const WeightsFile& file, const std::string& message) {
  throw Error(ErrorCode::kCorruptData, file.name(), message);
}

const std::string& text(const WeightsFile& file, std::string_view key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) fail(file, "the metadata lack " + in_quotes(key));
  return found->second;
}

/// A JSON object that is stored as a text in the metadata, read entry by entry.
class Section {
 public:
  Section(const WeightsFile& file, std::string_view key)
      : file_(file), key_(key), object_(json::parse(text(file, key), nullptr, false)) {
    if (!object_.is_object()) {
      fail(file, "the metadata's " + in_quotes(key) + " is not a JSON object");
    }
  }

  /// An integer in [lowest, highest].
  std::int64_t integer(const char* name, std::int64_t lowest, std::int64_t highest) {
    return check_integer(entry(name), name, lowest, highest);
  }

  /// A list of such integers.
  std::vector<std::int64_t> integers(const char* name, std::size_t least, std::int64_t lowest,
                                     std::int64_t highest) {
    const json& list = entry(name);
    if (!list.is_array() || list.size() < least || list.size() > kMaxLayers) {
      refuse(name, "is not a list of " + std::to_string(least) + " to " +
                       std::to_string(kMaxLayers) + " numbers");
    }
    std::vector<std::int64_t> values;
    for (const json& item : list) values.push_back(check_integer(item, name, lowest, highest));
    return values;
  }

  /// A finite number in [lowest, highest].
  double number(const char* name, double lowest, double highest) {
    const json& item = entry(name);
    const double value = item.is_number() ? item.get<double>() : std::nan("");
    if (!(value >= lowest && value <= highest)) {
      refuse(name, "is not a number from " + json(lowest).dump() + " to " + json(highest).dump());
    }
    return value;
  }

  [[noreturn]] void refuse(std::string_view name, const std::string& message) const {
    fail(file_, "the metadata's " + key_ + ": " + in_quotes(name) + " " + message);
  }

  /// Refuses entries that nobody asked for: they would change what the model means.
  void expect_all_read() const {
    for (const auto& [name, value] : object_.items()) {
      if (std::find(read_.begin(), read_.end(), name) == read_.end()) {
        refuse(name, "is not known to this build");
      }
    }
  }

 private:
  const json& entry(const char* name) {
    if (!object_.contains(name)) refuse(name, "is missing");
    read_.emplace_back(name);
    return object_[name];
  }

  std::int64_t check_integer(const json& item, const char* name, std::int64_t lowest,
                             std::int64_t highest) const {
    const bool small = item.is_number_integer() &&
                       (!item.is_number_unsigned() ||
                        item.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (!small || item.get<std::int64_t>() < lowest || item.get<std::int64_t>() > highest) {
      refuse(name, "is not a whole number from " + std::to_string(lowest) + " to " +
                       std::to_string(highest));
    }
    return item.get<std::int64_t>();
  }

  const WeightsFile& file_;
  std::string key_;
  json object_;
  std::vector<std::string> read_;
};

void check_format(const WeightsFile& file) {
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kFormat) {
    throw Error(ErrorCode::kUnsupported, file.name(),
                "not an av_fusion aligner model: the metadata's \"format\" is " +
                    (format == file.metadata().end() ? "missing" : in_quotes(format->second)));
  }
  const std::string& version = text(file, "schema_version");
  int number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size() || number < 1) {
    fail(file, "the metadata's \"schema_version\" is " + in_quotes(version) +
                   ", not a whole number from 1");
  }
  if (number > kSchemaVersion) {
    throw Error(ErrorCode::kUnsupported, file.name(),
                "the model was made by a newer av_fusion (schema " + version +
                    "); this build reads up to " + std::to_string(kSchemaVersion));
  }
}

ModelConfig read_config(const WeightsFile& file) {
  Section section(file, "config");
  ModelConfig config;
  config.token_dim = section.integer("token_dim", 1, 4096);
  config.num_heads = section.integer("num_heads", 1, 256);
  config.mouth_height = section.integer("mouth_height", 1, 1024);
  config.mouth_width = section.integer("mouth_width", 1, 1024);
  config.lip_features = section.integer("lip_features", 1, 1024);
  config.mel_bands = section.integer("mel_bands", 1, 1024);
  config.audio_per_video = section.integer("audio_per_video", 1, 64);
  config.mean_radius = section.integer("mean_radius", 0, 128);
  config.stack_radius = section.integer("stack_radius", 0, 32);
  config.picture_pool = section.integer("picture_pool", 1, 8);
  config.picture_channels = section.integers("picture_channels", 1, 1, 4096);
  config.lip_channels = section.integer("lip_channels", 1, 4096);
  config.temporal_kernel = section.integer("temporal_kernel", 1, 63);
  config.video_blocks = section.integer("video_blocks", 0, kMaxLayers);
  config.video_attention_width = section.integer("video_attention_width", 1, 4096);
  config.audio_dilations = section.integers("audio_dilations", 0, 1, 1024);
  config.audio_attention_width = section.integer("audio_attention_width", 1, 4096);
  config.feed_forward = section.integer("feed_forward", 1, 16384);
  section.expect_all_read();

  if (config.token_dim % config.num_heads != 0) {
    section.refuse("token_dim", "is not a multiple of \"num_heads\"");
  }
  if (config.temporal_kernel % 2 == 0) section.refuse("temporal_kernel", "is not odd");
  const std::int64_t shrink = config.picture_pool << config.picture_channels.size();
  const std::string divisor =
      "is not a multiple of " + std::to_string(shrink) +
      ", the factor by which \"picture_pool\" and \"picture_channels\" shrink it";
  if (config.mouth_height % shrink != 0) section.refuse("mouth_height", divisor);
  if (config.mouth_width % shrink != 0) section.refuse("mouth_width", divisor);
  return config;
}

AlignerModel::Calibration read_calibration(const WeightsFile& file) {
  Section section(file, "calibration");
  AlignerModel::Calibration calibration;
  calibration.evidence_scale = section.number("evidence_scale", 1e-9, 1e9);
  calibration.correlated_ticks = section.number("correlated_ticks", 1e-9, 1e300);
  calibration.outlier_share = section.number("outlier_share", 0, 1);
  calibration.match_scale = section.number("match_scale", -1e9, 1e9);
  calibration.match_bias = section.number("match_bias", -1e9, 1e9);
  calibration.match_ticks = section.number("match_ticks", 1e-9, 1e300);
  calibration.speaking_scale = section.number("speaking_scale", -1e9, 1e9);
  calibration.speaking_head = section.number("speaking_head", -1e9, 1e9);
  calibration.speaking_bias = section.number("speaking_bias", -1e9, 1e9);
  calibration.speaking_start = section.number("speaking_start", 1e-9, 1 - 1e-9);
  calibration.speaking_stop = section.number("speaking_stop", 1e-9, 1 - 1e-9);
  section.expect_all_read();
  return calibration;
}

}  // namespace

ModelMetadata read_model_metadata(const WeightsFile& file) {
  check_format(file);
  ModelMetadata metadata;
  metadata.info = {text(file, "name"), sha256_hex(file.bytes()), text(file, "licence"),
                   text(file, "training_data")};
  metadata.config = read_config(file);
  metadata.calibration = read_calibration(file);
  return metadata;
}

AlignerModel::Geometry geometry_of(const ModelConfig& config) {
  const std::int64_t kernel_radius = config.temporal_kernel / 2;
  // A token depends on as many steps before as after it: every layer looks equally far both ways.
  const std::int64_t video = config.mean_radius + config.stack_radius +
                             config.video_blocks * kernel_radius + config.video_attention_width;
  std::int64_t audio = kernel_radius + config.audio_attention_width;
  for (const std::int64_t dilation : config.audio_dilations) audio += dilation * kernel_radius;
  return {.token_dim = config.token_dim,
          .num_heads = config.num_heads,
          .mouth_height = config.mouth_height,
          .mouth_width = config.mouth_width,
          .lip_features = config.lip_features,
          .mel_bands = config.mel_bands,
          .audio_per_video = config.audio_per_video,
          .video_past = video,
          .video_future = video,
          .audio_past = audio,
          .audio_future = audio};
}

}  // namespace av_fusion
