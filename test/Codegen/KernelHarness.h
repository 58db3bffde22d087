//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of a few kernels, compiled and called as the runtime calls a step:
// built on the program ops, lowered through the stages' own pipelines, linked
// into an image, mapped, and run by real workers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CODEGEN_KERNELHARNESS_H
#define LLMIR_TEST_CODEGEN_KERNELHARNESS_H

#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/CodeImage.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Support/IntegerLayout.h"
#include "llmir/Support/Status.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llmir::test {

using namespace mllm::program;

/// Memory on a 64-byte line, as the runtime gives it.
class AlignedBytes {
public:
  explicit AlignedBytes(size_t size = 0);
  uint8_t *data() { return memory.get(); }
  const uint8_t *data() const { return memory.get(); }
  size_t size() const { return length; }

private:
  struct Free {
    void operator()(uint8_t *p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> memory;
  size_t length = 0;
};

/// Reproducible numbers, the same with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 2 + 1) {}
  uint32_t bits();
  /// Uniform in [low, high).
  float uniform(float low = -1.0f, float high = 1.0f);
  std::vector<float> values(int64_t count, float low = -1.0f,
                            float high = 1.0f);

private:
  uint64_t state;
};

/// The arrays of one step; fields that a kernel does not read may stay empty.
struct StepInputs {
  int64_t numTokens = 0;
  std::vector<int32_t> tokenIds, positions, slots, logitRows;
  std::vector<int32_t> queryOffsets, seqLens, blockTables;
  int64_t blockTableStride = 0;
  bool splitAttention = false;
  uint8_t *pool = nullptr;
  size_t poolBytes = 0;
  int64_t layerStride = 0;
  float *logits = nullptr;
  size_t logitsBytes = 0;
};

/// A buffer of a program: rows of `columns` values, `stride` apart.
struct BufferPlace {
  int64_t rows, columns, stride, offset;
};

/// The first rows of a buffer.
struct WrittenRows {
  unsigned buffer;
  int64_t rows;
};

/// A compiled program with memory of its own.
class LoadedProgram {
public:
  /// Fills the whole arena with a NaN of its own kind, so that a value read
  /// before it is written shows.
  void clearArena();
  void clearBuffer(unsigned buffer);
  /// Writes a row, with zero padding.
  void setRow(unsigned buffer, int64_t row, const float *values);
  void setRows(unsigned buffer, const std::vector<float> &values);
  /// The first `rows` rows, without padding.
  std::vector<float> rows(unsigned buffer, int64_t rows) const;
  /// The same of a buffer of integers.
  void setIntegers(unsigned buffer, const std::vector<int32_t> &values);
  std::vector<int32_t> integers(unsigned buffer, int64_t rows) const;
  /// The same of a row's padding.
  std::vector<float> padding(unsigned buffer, int64_t row) const;

  /// One step by that many threads.
  void run(const StepInputs &inputs, int64_t workers);

  /// Remembers the arena, to see later what a step wrote.
  void snapshot() { before = copyOfArena(); }
  /// Fails the test where anything but the first `rows` rows of the buffers
  /// differs from the snapshot.
  void expectOnlyWritten(const std::vector<unsigned> &written, int64_t rows);
  void expectOnlyWritten(const std::vector<WrittenRows> &written);

private:
  friend class KernelProgram;
  explicit LoadedProgram(const CPULevel &level) : level(&level) {}
  LLMIRStepContext contextOf(const StepInputs &inputs);
  std::vector<uint8_t> copyOfArena() const {
    return {arena.data(), arena.data() + arena.size()};
  }

  const CPULevel *level;
  std::optional<CodeImage> image; ///< Of a level of this processor.
  std::vector<uint8_t> foreign;   ///< Of one that is emulated.
  AlignedBytes arena, weights;
  std::vector<uint8_t> before;
  std::vector<BufferPlace> buffers;
};

/// Builds a module of fragments. Buffers are placed by hand, each on memory of
/// its own with a guard behind it, so that the test can fill and read them.
class KernelProgram {
public:
  KernelProgram();

  unsigned addBuffer(int64_t rows, int64_t columns);
  /// A buffer of i32, without padding.
  unsigned addIntegers(int64_t rows, int64_t columns);
  /// Packs a stored matrix and declares it.
  std::string addMatrix(TensorFormat format, int64_t rows, int64_t columns,
                        const std::vector<uint8_t> &stored);
  std::string addVector(const std::vector<float> &values);
  /// Declares a matrix that is packed already.
  std::string addPacked(const IntegerMatrixLayout &layout,
                        const std::vector<uint8_t> &packed);
  /// Matrices [rows, columns] one behind the other, as one weight.
  std::string addExperts(TensorFormat format, int64_t rows, int64_t columns,
                         const std::vector<std::vector<uint8_t>> &stored);
  /// A weight with one matrix per layer from `firstLayer` on; all of one shape.
  std::string addLayers(TensorFormat format, int64_t rows, int64_t columns,
                        const std::vector<std::vector<uint8_t>> &stored,
                        int64_t firstLayer = 0);

  template <typename Spec>
  void call(const Spec &spec, const std::vector<std::string> &weights,
            const std::vector<unsigned> &operands) {
    addCall(Spec::kind, toParameters(context.get(), spec), weights, operands,
            nullptr);
  }
  /// The scalar computation of an element-wise kernel.
  using ScalarBody = std::function<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  void callElementwise(const ElementwiseSpec &spec,
                       const std::vector<unsigned> &operands,
                       const ScalarBody &body);
  /// A matmul that stores what the body makes of each sum, and of an element of
  /// each operand between the input and the output.
  template <typename Spec>
  void callMatmul(const Spec &spec, const std::vector<std::string> &weights,
                  const std::vector<unsigned> &operands,
                  const ScalarBody &body) {
    addCall(Spec::kind, toParameters(context.get(), spec), weights, operands,
            body);
  }
  void barrier();
  void setLayer(int64_t layer);
  void label(const std::string &name);
  void jumpNextLayer(const std::string &label, int64_t limit);

  /// Ends the code; call once, before load().
  void finish();
  /// The linked image for that level.
  Expected<std::vector<uint8_t>> compile(const CPULevel &level) const;
  /// Compiles, maps and gives memory.
  Expected<LoadedProgram> load(const CPULevel &level) const;

private:
  unsigned addBuffer(BufferPlace place, mlir::Type element);
  void addCall(llvm::StringRef kind, mlir::DictionaryAttr parameters,
               const std::vector<std::string> &weights,
               const std::vector<unsigned> &operands, const ScalarBody &body);
  std::string declareWeight(const char *layout, std::string_view format,
                            const std::vector<int64_t> &shape,
                            const std::vector<std::vector<uint8_t>> &packed,
                            int64_t firstLayer);

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder data, text, buffersAt, code;
  std::vector<BufferPlace> buffers;
  std::vector<mlir::Value> bufferValues;
  std::vector<uint8_t> weightBytes;
  int64_t arenaBytes = 0, numKernels = 0, numWeights = 0;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Random bytes of a stored matrix, with values of about one.
std::vector<uint8_t> randomMatrix(TensorFormat format, int64_t rows,
                                  int64_t columns, Random &random);
/// What programs call weights of that stored format.
std::string packedFormatName(TensorFormat format);
/// What the stored bytes mean, exactly.
std::vector<float> decodeMatrix(TensorFormat format, int64_t rows,
                                int64_t columns,
                                const std::vector<uint8_t> &stored);
/// The value after a trip through a plain format.
float roundTo(TensorFormat format, float value);

/// |a - b|^2 / |b|^2; 0 where both are empty or zero.
double normalizedError(const std::vector<float> &actual,
                       const std::vector<double> &expected);
/// True where both have the same bits.
bool sameBits(const std::vector<float> &a, const std::vector<float> &b);

/// Every level of the table, for test parameters.
std::vector<const CPULevel *> allLevels();
/// For test names: "x86_64_v3".
std::string levelName(const CPULevel *level);
/// Empty where code of the level runs here, natively or emulated, else why not.
std::string whyNotRunnable(const CPULevel *level);
/// True where it does not run natively: tests choose small shapes then.
bool isEmulated(const CPULevel *level);

/// Ends a test of a level that does not run here.
#define LLMIR_SKIP_UNLESS_RUNNABLE(level)                                      \
  if (std::string reason = whyNotRunnable(level); !reason.empty())             \
  GTEST_SKIP() << (level)->name.str() << ": " << reason

} // namespace llmir::test

#endif // LLMIR_TEST_CODEGEN_KERNELHARNESS_H
