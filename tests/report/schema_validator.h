// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace av_fusion::testing {

/// A validator for the part of JSON Schema 2020-12 that our schema uses. Unlike the standard it
/// throws `std::logic_error` at a keyword it does not know, so that nothing is silently unchecked.
class SchemaValidator {
 public:
  explicit SchemaValidator(nlohmann::json schema);

  /// What is wrong with `instance`: one line "/path: problem" each; empty if it is valid.
  std::vector<std::string> validate(const nlohmann::json& instance) const;

 private:
  using Json = nlohmann::json;
  using Problems = std::vector<std::string>;

  void check_keywords(const Json& schema) const;
  const Json& resolve(const std::string& reference) const;
  void check(const Json& schema, const Json& instance, const std::string& path,
             Problems& problems) const;
  void check_value(const Json& schema, const Json& instance, const std::string& path,
                   Problems& problems) const;
  void check_object(const Json& schema, const Json& instance, const std::string& path,
                    Problems& problems) const;
  void check_array(const Json& schema, const Json& instance, const std::string& path,
                   Problems& problems) const;
  void check_branches(const Json& schema, const Json& instance, const std::string& path,
                      Problems& problems) const;

  Json schema_;
};

}  // namespace av_fusion::testing
