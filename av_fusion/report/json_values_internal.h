// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// How all JSON of this room writes its values: what is unknown or not finite is null.
namespace av_fusion::json_values {

/// Keeps the fields in the order in which they are written.
using Json = nlohmann::ordered_json;

inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// A number cut to what it is worth, so that reports stay short and comparable.
inline Json rounded(double value, double steps_per_unit) {
  return number(std::round(value * steps_per_unit) / steps_per_unit + 0.0);
}

inline Json seconds(double value) { return rounded(value, 1e6); }
inline Json text(std::string_view value) { return value.empty() ? Json(nullptr) : Json(value); }
inline Json positive(int value) { return value > 0 ? Json(value) : Json(nullptr); }

template <typename T, typename Write>
Json optional(const std::optional<T>& value, Write write) {
  return value ? Json(write(*value)) : Json(nullptr);
}

template <typename T, typename Write>
Json array(const std::vector<T>& values, Write write) {
  Json result = Json::array();
  for (const T& value : values) result.push_back(write(value));
  return result;
}

/// The text with a final newline; `indent` -1: on one line. Bytes that are not UTF-8 become U+FFFD.
inline std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace av_fusion::json_values
