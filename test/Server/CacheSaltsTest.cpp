// RUN: llmir-server-tests --gtest_filter='CacheSalts.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/CacheSalts.h"

#include <gtest/gtest.h>

using namespace llmir::server;

TEST(CacheSalts, HashIsSipHash) {
  // The example in the paper's appendix A: key 00 … 0f, text 00 … 0e.
  const SipHashKey key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  std::string text;
  for (char byte = 0; byte < 15; ++byte)
    text += byte;
  EXPECT_EQ(sipHash(text, key), 0xa129ca6149be45e5u);
  EXPECT_EQ(sipHash("", key), 0x726fdb47dd0e0e31u);
}

TEST(CacheSalts, KeysAndFieldsSeparateClients) {
  const CacheSalts salts;
  EXPECT_EQ(salts.of("", ""), 0u);
  EXPECT_EQ(salts.of("Bearer a", "b"), salts.of("Bearer a", "b"));
  EXPECT_NE(salts.of("Bearer a", ""), salts.of("Bearer b", ""));
  EXPECT_NE(salts.of("Bearer a", ""), salts.of("Bearer a", "b"));
  EXPECT_NE(salts.of("", "b"), salts.of("", "c"));
  EXPECT_NE(salts.of("Bearer a", "b"), salts.of("Bearer ab", ""));
  // Nobody can compute them.
  EXPECT_NE(salts.of("Bearer a", ""), CacheSalts().of("Bearer a", ""));
}
