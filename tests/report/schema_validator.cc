// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/report/schema_validator.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <stdexcept>
#include <utility>

namespace av_fusion::testing {
namespace {

using Json = nlohmann::json;

bool has_type(const Json& instance, const std::string& type) {
  if (type == "null") return instance.is_null();
  if (type == "boolean") return instance.is_boolean();
  if (type == "object") return instance.is_object();
  if (type == "array") return instance.is_array();
  if (type == "string") return instance.is_string();
  if (type == "number") return instance.is_number();
  if (type == "integer") {
    return instance.is_number() && std::floor(instance.get<double>()) == instance.get<double>();
  }
  throw std::logic_error("schema: unknown type " + type);
}

bool has_some_type(const Json& instance, const Json& types) {
  if (types.is_string()) return has_type(instance, types.get<std::string>());
  return std::any_of(types.begin(), types.end(),
                     [&](const Json& type) { return has_type(instance, type.get<std::string>()); });
}

/// Characters, not bytes.
std::size_t length_of(const std::string& utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

SchemaValidator::SchemaValidator(Json schema) : schema_(std::move(schema)) {
  check_keywords(schema_);
}

/// Throws unless every keyword of `schema` and of the schemas in it is one that `check` looks at.
void SchemaValidator::check_keywords(const Json& schema) const {
  if (schema.is_boolean()) return;
  static const std::set<std::string> kPlain = {
      "$schema", "$id",     "title",   "description", "type",     "required", "const",
      "enum",    "pattern", "minimum", "maximum",     "minItems", "maxItems", "minLength"};
  static const std::set<std::string> kOne = {"items", "additionalProperties"};
  static const std::set<std::string> kList = {"anyOf", "oneOf", "prefixItems"};
  static const std::set<std::string> kMap = {"properties", "$defs"};
  for (const auto& [keyword, value] : schema.items()) {
    if (keyword == "$ref") {
      resolve(value.get<std::string>());
    } else if (kOne.contains(keyword)) {
      check_keywords(value);
    } else if (kList.contains(keyword) || kMap.contains(keyword)) {
      for (const Json& inner : value) check_keywords(inner);
    } else if (!kPlain.contains(keyword)) {
      throw std::logic_error("schema: unknown keyword " + keyword);
    }
  }
}

const Json& SchemaValidator::resolve(const std::string& reference) const {
  if (!reference.starts_with("#/")) throw std::logic_error("schema: cannot follow " + reference);
  return schema_.at(Json::json_pointer(reference.substr(1)));
}

std::vector<std::string> SchemaValidator::validate(const Json& instance) const {
  Problems problems;
  check(schema_, instance, "", problems);
  return problems;
}

void SchemaValidator::check(const Json& schema, const Json& instance, const std::string& path,
                            Problems& problems) const {
  if (schema.is_boolean()) {
    if (!schema.get<bool>()) problems.push_back(path + ": must not exist");
    return;
  }
  if (schema.contains("$ref")) {
    check(resolve(schema["$ref"].get<std::string>()), instance, path, problems);
  }
  check_value(schema, instance, path, problems);
  if (instance.is_object()) check_object(schema, instance, path, problems);
  if (instance.is_array()) check_array(schema, instance, path, problems);
  check_branches(schema, instance, path, problems);
}

void SchemaValidator::check_value(const Json& schema, const Json& instance, const std::string& path,
                                  Problems& problems) const {
  const auto require = [&](bool good, const std::string& keyword) {
    if (!good) problems.push_back(path + ": " + keyword + ", got " + instance.dump());
  };
  if (schema.contains("type")) require(has_some_type(instance, schema["type"]), "type");
  if (schema.contains("const")) require(instance == schema["const"], "const");
  if (schema.contains("enum")) {
    const Json& values = schema["enum"];
    require(std::find(values.begin(), values.end(), instance) != values.end(), "enum");
  }
  if (instance.is_number()) {
    if (schema.contains("minimum")) require(instance >= schema["minimum"], "minimum");
    if (schema.contains("maximum")) require(instance <= schema["maximum"], "maximum");
  }
  if (instance.is_string()) {
    const std::string text = instance.get<std::string>();
    if (schema.contains("pattern")) {
      require(std::regex_search(text, std::regex(schema["pattern"].get<std::string>())), "pattern");
    }
    if (schema.contains("minLength")) require(length_of(text) >= schema["minLength"], "minLength");
  }
}

void SchemaValidator::check_object(const Json& schema, const Json& instance,
                                   const std::string& path, Problems& problems) const {
  for (const Json& name : schema.value("required", Json::array())) {
    if (!instance.contains(name.get<std::string>())) {
      problems.push_back(path + ": lacks " + name.get<std::string>());
    }
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, value] : instance.items()) {
    const std::string inner = path + "/" + name;
    if (properties.contains(name)) {
      check(properties[name], value, inner, problems);
    } else if (schema.contains("additionalProperties")) {
      check(schema["additionalProperties"], value, inner, problems);
    }
  }
}

void SchemaValidator::check_array(const Json& schema, const Json& instance, const std::string& path,
                                  Problems& problems) const {
  const std::size_t size = instance.size();
  if (size < schema.value("minItems", std::size_t{0})) problems.push_back(path + ": minItems");
  if (size > schema.value("maxItems", size)) problems.push_back(path + ": maxItems");
  const Json prefix = schema.value("prefixItems", Json::array());
  for (std::size_t i = 0; i < size; ++i) {
    const std::string inner = path + "/" + std::to_string(i);
    if (i < prefix.size()) {
      check(prefix[i], instance[i], inner, problems);
    } else if (schema.contains("items")) {
      check(schema["items"], instance[i], inner, problems);
    }
  }
}

void SchemaValidator::check_branches(const Json& schema, const Json& instance,
                                     const std::string& path, Problems& problems) const {
  for (const char* keyword : {"anyOf", "oneOf"}) {
    if (!schema.contains(keyword)) continue;
    std::size_t matches = 0;
    Problems inner;
    for (const Json& branch : schema[keyword]) {
      const std::size_t before = inner.size();
      check(branch, instance, path, inner);
      if (inner.size() == before) ++matches;
    }
    const bool good = keyword == std::string("anyOf") ? matches > 0 : matches == 1;
    if (good) continue;
    problems.push_back(path + ": " + keyword + " has " + std::to_string(matches) + " matches");
    problems.insert(problems.end(), inner.begin(), inner.end());
  }
}

}  // namespace av_fusion::testing
