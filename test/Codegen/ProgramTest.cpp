// RUN: llmir-codegen-tests --gtest_filter='Programs*:KernelEmission.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole programs: loops over layers, barriers between workers, and properties
// of the linked image.
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Object/ELFObjectFile.h"

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr int64_t kBudget = 8, kWidth = 33;

class Programs : public testing::TestWithParam<const CPULevel *> {
protected:
  void SetUp() override { LLMIR_SKIP_UNLESS_COVERED(GetParam()); }
};

mlir::Value same(mlir::OpBuilder &, mlir::Location, mlir::ValueRange in) {
  return in[0];
}

/// x := W[layer] x for layers [first, first + layers).
struct LoopProgram {
  KernelProgram program;
  std::vector<std::vector<float>> weights;
  unsigned x, y;

  LoopProgram(int64_t first, int64_t layers) {
    Random random(21);
    std::vector<std::vector<uint8_t>> stored;
    for (int64_t i = 0; i < layers; ++i) {
      stored.push_back(randomMatrix(TensorFormat::F16, kWidth, kWidth, random));
      weights.push_back(
          decodeMatrix(TensorFormat::F16, kWidth, kWidth, stored.back()));
    }
    x = program.addBuffer(kBudget, kWidth);
    y = program.addBuffer(kBudget, kWidth);
    std::string weight =
        program.addLayers(TensorFormat::F16, kWidth, kWidth, stored, first);
    program.setLayer(first);
    program.label("layers");
    program.call<kernel::LinearOp>(
        program.weight(weight), /*bias=*/mlir::Value(), program[x],
        mlir::ValueRange(), program[y], llvm::StringRef("f16"), kWidth, kWidth,
        /*segment=*/mlir::IntegerAttr());
    program.barrier();
    program.callElementwise({y}, x, kWidth, same);
    program.barrier();
    program.jumpNextLayer("layers", first + layers);
    program.finish();
  }
};

std::vector<float> expectedOfLoop(const LoopProgram &loop,
                                  std::vector<float> x) {
  for (const std::vector<float> &weight : loop.weights) {
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      for (int64_t k = 0; k < kWidth; ++k)
        y[i] = std::fma(weight[i % kWidth * kWidth + k],
                        x[i / kWidth * kWidth + k], y[i]);
    x = y;
  }
  return x;
}

} // namespace

TEST_P(Programs, LoopUsesEachLayersWeights) {
  for (auto [first, layers] :
       {std::pair<int64_t, int64_t>{0, 1}, {0, 4}, {3, 2}}) {
    LoopProgram loop(first, layers);
    Expected<LoadedProgram> loaded = loop.program.load(*GetParam());
    ASSERT_TRUE(loaded) << loaded.status().message();
    Random random(22);
    std::vector<float> x = random.values(5 * kWidth);
    std::vector<float> expected = expectedOfLoop(loop, x);
    StepInputs inputs;
    inputs.numTokens = 5;
    // Workers that ran ahead of each other would read half-written rows.
    for (int64_t workers : {1, 2, 3, 4, 2, 3, 4, 2, 3, 4}) {
      loaded->clearArena();
      loaded->setRows(loop.x, x);
      loaded->run(inputs, workers);
      ASSERT_TRUE(sameBits(loaded->rows(loop.x, 5), expected))
          << layers << " layers from " << first << ", " << workers
          << " workers";
    }
  }
}

TEST_P(Programs, CodeDoesNotGrowWithTheLayers) {
  auto few = LoopProgram(0, 2).program.compile(*GetParam());
  auto many = LoopProgram(0, 40).program.compile(*GetParam());
  ASSERT_TRUE(few && many);
  // Only the table of the weight's offsets grows: eight bytes a layer.
  EXPECT_LE(many->size(), few->size() + 38 * 8);
}

TEST_P(Programs, CompileTwiceToTheSameBytes) {
  auto first = LoopProgram(0, 3).program.compile(*GetParam());
  auto second = LoopProgram(0, 3).program.compile(*GetParam());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST_P(Programs, ImageNeedsNothingAndIsNeverWritten) {
  auto image = LoopProgram(0, 3).program.compile(*GetParam());
  ASSERT_TRUE(image) << image.status().message();
  llvm::StringRef bytes(reinterpret_cast<const char *>(image->data()),
                        image->size());
  auto parsed = llvm::object::ELFFile<llvm::object::ELF64LE>::create(bytes);
  ASSERT_TRUE(!!parsed) << llvm::toString(parsed.takeError());
  auto headers = parsed->program_headers();
  ASSERT_TRUE(!!headers);
  for (const auto &header : *headers) {
    EXPECT_FALSE(header.p_flags & llvm::ELF::PF_W) << "a writable segment";
    if (header.p_type == llvm::ELF::PT_LOAD) {
      EXPECT_EQ(header.p_align, 65536u);
      EXPECT_EQ(header.p_filesz, header.p_memsz);
    }
    EXPECT_NE(header.p_type, llvm::ELF::PT_INTERP);
    EXPECT_NE(header.p_type, llvm::ELF::PT_TLS);
  }
  auto entries = parsed->dynamicEntries();
  ASSERT_TRUE(!!entries);
  for (const auto &entry : *entries)
    for (auto tag :
         {llvm::ELF::DT_NEEDED, llvm::ELF::DT_RELA, llvm::ELF::DT_REL,
          llvm::ELF::DT_RELR, llvm::ELF::DT_JMPREL, llvm::ELF::DT_TEXTREL,
          llvm::ELF::DT_INIT, llvm::ELF::DT_INIT_ARRAY})
      EXPECT_NE(entry.getTag(), static_cast<int64_t>(tag));
  auto sections = parsed->sections();
  ASSERT_TRUE(!!sections);
  for (const auto &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    auto symbols = parsed->symbols(&section);
    ASSERT_TRUE(!!symbols);
    for (const auto &symbol : llvm::drop_begin(*symbols))
      EXPECT_TRUE(symbol.isDefined());
  }
}

namespace {
/// Turns an op without an emitter into a kernel.
struct CopyAsKernel
    : kernel::KernelOpInterface::ExternalModel<CopyAsKernel,
                                               mlir::memref::CopyOp> {
  kernel::WorkDivision getWorkDivision(mlir::Operation *) const {
    return kernel::WorkDivision::first();
  }
  std::optional<kernel::WorkDivision> getDivisionOf(mlir::Operation *,
                                                    mlir::OpOperand &) const {
    return std::nullopt;
  }
  int64_t getRowsOf(mlir::Operation *, mlir::OpOperand &,
                    const kernel::StepLimits &limits) const {
    return limits.tokens;
  }
  bool hasFixedSize(mlir::Operation *) const { return false; }
};
} // namespace

TEST(KernelEmission, RefusesAKernelWithoutEmitter) {
  KernelProgram program;
  program.getContext()->loadDialect<mlir::memref::MemRefDialect>();
  mlir::memref::CopyOp::attachInterface<CopyAsKernel>(*program.getContext());
  unsigned x = program.addBuffer(2, 16), y = program.addBuffer(2, 16);
  program.call<mlir::memref::CopyOp>(program[x], program[y]);
  program.finish();
  auto image = program.compile(cpuLevels().front());
  ASSERT_FALSE(image);
  EXPECT_NE(
      image.status().message().find("'memref.copy' op has no emitter for CPUs"),
      std::string::npos)
      << image.status().message();
}

INSTANTIATE_TEST_SUITE_P(, Programs, testing::ValuesIn(allLevels()),
                         [](const auto &info) {
                           return levelName(info.param);
                         });
