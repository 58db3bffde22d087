// RUN: llmir-target-tests --gtest_filter='CPUTarget*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code generation and linking alone: rejected inputs, and that one failure does
// not spoil what follows.
//
//===----------------------------------------------------------------------===//

#include "llmir/Target/CPU/CPUTarget.h"
#include "llmir/Artifact/CodeImage.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Pipelines/Registration.h"

#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LLMIR_ADDRESS_SANITIZER
#endif
#endif
#if defined(LLMIR_ADDRESS_SANITIZER) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
/// lld does not free what it has allocated when a fatal error ends it.
using IgnoreLeaks = __lsan::ScopedDisabler;
#else
struct IgnoreLeaks {
  IgnoreLeaks() {}
};
#endif

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
  CPUTarget() { unsetenv("LLMIR_OBJECT_CACHE"); }

  std::unique_ptr<mlir::MLIRContext> context = createCompilerContext();
};

} // namespace

TEST_F(CPUTarget, EmptyStepBecomesAnImage) {
  auto generator = generatorFor(*context, "");
  ASSERT_TRUE(generator) << generator.status().message();
  auto text = generator->llvmText();
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("define void @llmir_step"), std::string::npos);
  auto assembly = generator->assembly();
  ASSERT_TRUE(assembly);
  EXPECT_NE(assembly->find("llmir_step:"), std::string::npos);
  auto object = generator->object();
  ASSERT_TRUE(object) << object.status().message();
  auto image = linkCodeImage({*object}, "llmir_step");
  ASSERT_TRUE(image) << image.status().message();
  EXPECT_EQ(image->at(0), 0x7f);
}

/// Two kernels that share a constant, and a step that calls them.
static const char *const twoKernels = R"(
  llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
  llvm.func internal @first(%to: !llvm.ptr, %i: i64) {
    %0 = llvm.mlir.addressof @table : !llvm.ptr
    %1 = llvm.getelementptr %0[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %2 = llvm.load %1 : !llvm.ptr -> f32
    llvm.store %2, %to : f32, !llvm.ptr
    llvm.return
  }
  llvm.func internal @second(%to: !llvm.ptr, %i: i64) {
    %0 = llvm.mlir.addressof @table : !llvm.ptr
    %1 = llvm.getelementptr %0[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %2 = llvm.load %1 : !llvm.ptr -> f32
    %3 = llvm.fneg %2 : f32
    llvm.store %3, %to : f32, !llvm.ptr
    llvm.return
  }
  llvm.func @llmir_both(%to: !llvm.ptr, %worker: i64, %workers: i64) {
    %next = llvm.getelementptr %to[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.call @first(%to, %worker) : (!llvm.ptr, i64) -> ()
    llvm.call @second(%next, %workers) : (!llvm.ptr, i64) -> ()
    llvm.return
  })";

TEST_F(CPUTarget, FunctionsThatCallEachOtherAreLinked) {
  const std::string host = CpuFeatures::host().level();
  auto generator = generatorFor(*context, twoKernels, host.c_str());
  ASSERT_TRUE(generator) << generator.status().message();
  auto text = generator->llvmText();
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("define internal void @first"), std::string::npos);
  EXPECT_NE(text->find("call void @second"), std::string::npos);
  EXPECT_TRUE(generator->object());
  auto image = generator->image("llmir_both");
  ASSERT_TRUE(image) << image.status().message();

  std::FILE *file = std::tmpfile();
  ASSERT_TRUE(file);
  ASSERT_EQ(std::fwrite(image->data(), 1, image->size(), file), image->size());
  ASSERT_EQ(std::fflush(file), 0);
  auto code = CodeImage::load(fileno(file), 0, *image, "test");
  std::fclose(file);
  ASSERT_TRUE(code) << code.status().message();
  float written[2] = {0, 0};
  code->step()(reinterpret_cast<LLMIRStepContext *>(written), 0, 1);
  EXPECT_EQ(written[0], 1.0f);
  EXPECT_EQ(written[1], -2.0f);
}

TEST_F(CPUTarget, ImageDoesNotDependOnTheNumberOfProcessors) {
  auto imageOf = [&] {
    auto generator = generatorFor(*context, twoKernels);
    return *generator->image("llmir_both");
  };
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const std::vector<uint8_t> onAll = imageOf();
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const std::vector<uint8_t> onOne = imageOf();
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(onAll, onOne);
}

/// The objects of a cache: name and number of the file.
static std::map<std::string, ino_t> objectsIn(const std::string &folder) {
  std::map<std::string, ino_t> objects;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    struct stat info;
    EXPECT_EQ(stat(entry.path().c_str(), &info), 0);
    objects[entry.path().filename()] = info.st_ino;
  }
  return objects;
}

TEST_F(CPUTarget, EqualFunctionsAreCompiledOnce) {
  auto imageOf = [&](const std::string &more) {
    auto generator = generatorFor(*context, more);
    return *generator->image("llmir_both");
  };
  const std::vector<uint8_t> image = imageOf(twoKernels);
  const std::string folder =
      testing::TempDir() + "llmir-objects-" + std::to_string(getpid());
  setenv("LLMIR_OBJECT_CACHE", folder.c_str(), 1);
  EXPECT_EQ(imageOf(twoKernels), image);
  const auto objects = objectsIn(folder);
  EXPECT_EQ(objects.size(), 4u); // Two kernels, two steps.
  EXPECT_EQ(imageOf(twoKernels), image);
  EXPECT_EQ(objectsIn(folder), objects);

  std::string edited = twoKernels;
  edited.replace(edited.find("fneg %2"), 7, "fadd %2, %2");
  EXPECT_NE(imageOf(edited), image);
  EXPECT_EQ(objectsIn(folder).size(), 5u);

  // Damaged objects are compiled again.
  for (const auto &[name, number] : objects) {
    const std::string path = folder + "/" + name;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  }
  EXPECT_EQ(imageOf(twoKernels), image);
  for (const auto &[name, number] : objectsIn(folder)) {
    auto known = objects.find(name);
    EXPECT_TRUE(known == objects.end() || known->second != number) << name;
  }

  // Others could write machine code there.
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  auto generator = generatorFor(*context, twoKernels);
  ASSERT_TRUE(generator);
  auto refused = generator->image("llmir_both");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), StatusCode::IoError);
  EXPECT_NE(refused.status().cause().find(folder), std::string::npos);
  std::filesystem::remove_all(folder);
  setenv("LLMIR_OBJECT_CACHE", "/dev/null", 1);
  EXPECT_FALSE(generator->image("llmir_both"));
  unsetenv("LLMIR_OBJECT_CACHE");
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
  for (auto refused : {generator->object(), generator->image("llmir_step")}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.status().code(), StatusCode::Internal);
    EXPECT_NE(refused.status().cause().find("expf"), std::string::npos)
        << refused.status().cause();
    EXPECT_NE(refused.status().cause().find("helper"), std::string::npos)
        << refused.status().cause();
  }
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
  auto refused = linkCodeImage({std::vector<uint8_t>(64)}, "llmir_step");
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
    IgnoreLeaks ignored;
    auto refused = linkCodeImage({bytes}, "llmir_step");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.status().code(), StatusCode::Internal);
    EXPECT_NE(refused.status().cause().find("lld"), std::string::npos);
  }
  // Afterwards, linking succeeds again or reports an error.
  auto again = linkCodeImage({*object}, "llmir_step");
  EXPECT_TRUE(again || again.status().advice() == "compile in a new process")
      << again.status().message();
}
