// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "tests/report/schema_validator.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace av_fusion::testing {
namespace {

using Json = nlohmann::json;

bool accepts(const char* schema, const char* instance) {
  return SchemaValidator(Json::parse(schema)).validate(Json::parse(instance)).empty();
}

// Each line of expectations follows from the text of the standard, not from our schema.
TEST(SchemaValidator, FollowsTheStandard) {
  EXPECT_TRUE(accepts(R"({"type": "integer"})", "1.0"));
  EXPECT_FALSE(accepts(R"({"type": "integer"})", "1.5"));
  EXPECT_TRUE(accepts(R"({"type": ["string", "null"]})", "null"));
  EXPECT_FALSE(accepts(R"({"type": ["string", "null"]})", "false"));
  EXPECT_TRUE(accepts(R"({"const": {"a": 1}})", R"({"a": 1})"));
  EXPECT_FALSE(accepts(R"({"enum": ["a", null]})", "\"b\""));
  EXPECT_TRUE(accepts(R"({"minimum": 0})", "0"));
  EXPECT_FALSE(accepts(R"({"minimum": 0})", "-0.1"));
  EXPECT_TRUE(accepts(R"({"minimum": 0})", "\"not a number\""));
  EXPECT_FALSE(accepts(R"({"maximum": 1})", "2"));
  EXPECT_FALSE(accepts(R"({"pattern": "^[a-f]+$"})", "\"abg\""));
  EXPECT_TRUE(accepts(R"({"pattern": "b"})", "\"abc\""));
  EXPECT_FALSE(accepts(R"({"minLength": 2})", "\"\u00e9\""));
  EXPECT_FALSE(accepts(R"({"required": ["a"]})", "{}"));
  EXPECT_TRUE(accepts(R"({"required": ["a"]})", "3"));
  EXPECT_TRUE(accepts(R"({"properties": {"a": {"type": "null"}}})", R"({"b": 1})"));
  EXPECT_FALSE(accepts(R"({"properties": {"a": {"type": "null"}}})", R"({"a": 1})"));
  EXPECT_FALSE(accepts(R"({"additionalProperties": false, "properties": {"a": true}})",
                       R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(accepts(R"({"additionalProperties": {"type": "null"}})", R"({"b": 1})"));
  EXPECT_TRUE(accepts(R"({"prefixItems": [{"type": "null"}], "items": false})", "[null]"));
  EXPECT_FALSE(accepts(R"({"prefixItems": [{"type": "null"}], "items": false})", "[null, 1]"));
  EXPECT_FALSE(accepts(R"({"items": {"type": "null"}})", "[null, 1]"));
  EXPECT_FALSE(accepts(R"({"minItems": 2})", "[1]"));
  EXPECT_FALSE(accepts(R"({"maxItems": 2})", "[1, 2, 3]"));
  EXPECT_TRUE(accepts(R"({"anyOf": [{"type": "null"}, {"minimum": 3}]})", "4"));
  EXPECT_FALSE(accepts(R"({"anyOf": [{"type": "null"}, {"minimum": 3}]})", "2"));
  EXPECT_FALSE(accepts(R"({"oneOf": [{"maximum": 5}, {"minimum": 3}]})", "4"));
  EXPECT_TRUE(accepts(R"({"oneOf": [{"maximum": 5}, {"minimum": 3}]})", "2"));
  const char* reference = R"({"$ref": "#/$defs/x", "minimum": 3, "$defs": {"x": {"maximum": 5}}})";
  EXPECT_TRUE(accepts(reference, "4"));
  EXPECT_FALSE(accepts(reference, "6"));
  EXPECT_FALSE(accepts(reference, "2"));
}

TEST(SchemaValidator, RefusesWhatItDoesNotKnow) {
  for (const char* schema :
       {R"({"multipleOf": 2})", R"({"properties": {"a": {"format": "date"}}})",
        R"({"$defs": {"a": {"not": true}}})", R"({"items": {"if": true}})",
        R"({"anyOf": [{"uniqueItems": true}]})", R"({"$ref": "other.json"})"}) {
    EXPECT_THROW(SchemaValidator(Json::parse(schema)), std::logic_error) << schema;
  }
  EXPECT_ANY_THROW(SchemaValidator(Json::parse(R"({"$ref": "#/$defs/missing"})")));
  EXPECT_THROW(accepts(R"({"type": "decimal"})", "1"), std::logic_error);
}

}  // namespace
}  // namespace av_fusion::testing
