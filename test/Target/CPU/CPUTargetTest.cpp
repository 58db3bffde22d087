// RUN: llmir-target-tests --gtest_filter='CPUTarget*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code generation and linking by themselves: what is refused, and that one
// failure does not spoil what follows.
//
//===----------------------------------------------------------------------===//

#include "llmir/Target/CPU/CPUTarget.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Pipelines/Registration.h"

#include "mlir/Parser/Parser.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace llmir;

namespace {

/// A module of the LLVM dialect with an empty step, and more.
Expected<CPUCodeGenerator> generatorFor(mlir::MLIRContext &context,
                                        const std::string &more,
                                        const char *level = "x86-64-v3") {
  std::string text = "llvm.func @llmir_step(%ctx: !llvm.ptr, %worker: i64, "
                     "%workers: i64) { llvm.return }\n" +
                     more;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return Status(StatusCode::Internal, "the test's module does not parse");
  return CPUCodeGenerator::create(*module, *findCPULevel(level));
}

class CPUTarget : public testing::Test {
protected:
  std::unique_ptr<mlir::MLIRContext> context = createCompilerContext();
};

} // namespace

TEST_F(CPUTarget, EmptyStepBecomesAnImage) {
  auto generator = generatorFor(*context, "");
  ASSERT_TRUE(generator) << generator.status().message();
  generator->optimize();
  EXPECT_NE(generator->llvmText().find("define void @llmir_step"),
            std::string::npos);
  auto assembly = generator->assembly();
  ASSERT_TRUE(assembly);
  EXPECT_NE(assembly->find("llmir_step:"), std::string::npos);
  auto object = generator->object();
  ASSERT_TRUE(object) << object.status().message();
  auto image = linkCodeImage(*object, "llmir_step");
  ASSERT_TRUE(image) << image.status().message();
  EXPECT_EQ(image->at(0), 0x7f);
}

TEST_F(CPUTarget, UndefinedSymbolsAreNamed) {
  // exp becomes a call of the math library unless it was expanded before.
  auto generator = generatorFor(*context, R"(
    llvm.func @f(%x: f32) -> f32 {
      %0 = llvm.intr.exp(%x) : (f32) -> f32
      %1 = llvm.call @helper(%0) : (f32) -> f32
      llvm.return %1 : f32
    }
    llvm.func @helper(f32) -> f32)");
  ASSERT_TRUE(generator) << generator.status().message();
  generator->optimize();
  auto object = generator->object();
  ASSERT_FALSE(object);
  EXPECT_EQ(object.status().code(), StatusCode::Internal);
  EXPECT_NE(object.status().cause().find("expf"), std::string::npos)
      << object.status().cause();
  EXPECT_NE(object.status().cause().find("helper"), std::string::npos)
      << object.status().cause();
}

TEST_F(CPUTarget, OpsThatAreNotLLVMAreRefused) {
  context->printOpOnDiagnostic(false);
  auto generator =
      generatorFor(*context, "func.func private @left(%x: f32) { return }");
  ASSERT_FALSE(generator);
  EXPECT_EQ(generator.status().code(), StatusCode::Internal);
}

TEST_F(CPUTarget, EveryLevelGeneratesCodeOnEveryMachine) {
  for (const CPULevel &level : cpuLevels()) {
    auto generator = generatorFor(*context, "", level.name.data());
    ASSERT_TRUE(generator) << level.name.str();
    EXPECT_TRUE(generator->object()) << level.name.str();
  }
  EXPECT_EQ(findCPULevel("x86-64-v2"), nullptr);
  EXPECT_EQ(findCPULevel(""), nullptr);
}

TEST_F(CPUTarget, NoPlaceForTemporaryFilesIsAMessage) {
  std::string before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "";
  setenv("TMPDIR", "/proc/nowhere", 1);
  auto refused = linkCodeImage(std::vector<uint8_t>(64), "llmir_step");
  if (before.empty())
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", before.c_str(), 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), StatusCode::IoError);
  EXPECT_NE(refused.status().advice().find("TMPDIR"), std::string::npos);
}

// lld keeps its state in globals: this one comes last.
TEST_F(CPUTarget, LinkerRefusesWhatIsNoObject) {
  auto generator = generatorFor(*context, "");
  ASSERT_TRUE(generator);
  auto object = generator->object();
  ASSERT_TRUE(object);
  std::vector<uint8_t> half(object->begin(),
                            object->begin() + object->size() / 2);
  for (const auto &bytes : {half, std::vector<uint8_t>(512, 0xab)}) {
    auto refused = linkCodeImage(bytes, "llmir_step");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.status().code(), StatusCode::Internal);
    EXPECT_NE(refused.status().cause().find("lld"), std::string::npos);
  }
  // Afterwards it links again, or says that it cannot.
  auto again = linkCodeImage(*object, "llmir_step");
  EXPECT_TRUE(again || again.status().advice() == "compile in a new process")
      << again.status().message();
}
