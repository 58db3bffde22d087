// RUN: llmir-driver-tests --gtest_filter='Stages*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Driver/Stages.h"

#include <gtest/gtest.h>

using namespace llmir;

TEST(Stages, NamesLeadBackToTheStage) {
#define LLMIR_STAGE(Enum, name, doc)                                           \
  EXPECT_EQ(stageFromName(name), Stage::Enum);                                 \
  EXPECT_STREQ(stageName(Stage::Enum), name);                                  \
  EXPECT_STREQ(stageSentence(Stage::Enum), doc);                               \
  EXPECT_NE(allStageNames().find(name), std::string::npos);
#include "llmir/Driver/Stages.def"
  EXPECT_FALSE(stageFromName("lowered"));
  EXPECT_FALSE(stageFromName(""));
}

TEST(Stages, FormsAreMadeByTheirStage) {
#define LLMIR_FORM(Enum, name, stage, doc)                                     \
  EXPECT_EQ(formFromName(name), Form::Enum);                                   \
  EXPECT_EQ(stageOfForm(Form::Enum), Stage::stage);                            \
  EXPECT_NE(allFormNames().find(name), std::string::npos);
#include "llmir/Driver/Stages.def"
  EXPECT_FALSE(formFromName("object"));
}
