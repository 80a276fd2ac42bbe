// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#include "av_fusion/model/private/sha256.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace av_fusion {
namespace {

std::string digest(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

// The examples that NIST publishes for FIPS 180-4.
TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(digest(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Lengths around the edges of a block and of its padding; digests from Python's hashlib.
TEST(Sha256, PadsEveryLength) {
  EXPECT_EQ(digest(std::string(55, 'q')),
            "85528b5baff5639cb8e7daca79d085ac29ac0978e873ed7527158616b2b6c379");
  EXPECT_EQ(digest(std::string(56, 'q')),
            "f8ce2f8d6990c639668fe404262f35ed72d8bb145ad6bae786af7284447386df");
  EXPECT_EQ(digest(std::string(63, 'q')),
            "9b49777003a4143d8c3f4d3002eb631c6bda8b030a3ccc87f8a21d5f61c89e87");
  EXPECT_EQ(digest(std::string(64, 'q')),
            "ee8e658590c9a5e119400a774415a01db104de1ee6e2c29ec69aa73ef46544d2");
  EXPECT_EQ(digest(std::string(65, 'q')),
            "2b6c3f7f12b1b12fc5409626dc4e5302d8d37082cbeddea7755eac43aba039c8");
  EXPECT_EQ(digest(std::string(119, 'q')),
            "c8bc8a6e9626586bb888ad131d44ed2bd37fc608e902904ade3c566c4208e6ca");
  EXPECT_EQ(digest(std::string(120, 'q')),
            "77a2d49d72a11e41678c51f8f0cb67f5cb570f30370c3aeffe266a0d1ee43209");
}

}  // namespace
}  // namespace av_fusion
