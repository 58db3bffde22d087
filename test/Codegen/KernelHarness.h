//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds programs of a few kernels from program ops, lowers them with the
// pipelines of the compiler's stages, links and maps an image, and runs it with
// real workers, like the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CODEGEN_KERNELHARNESS_H
#define LLMIR_TEST_CODEGEN_KERNELHARNESS_H

#include "AccessCheck.h"

#include "llmir/ABI/StepContext.h"
#include "llmir/Artifact/CodeImage.h"
#include "llmir/Codegen/CPULevel.h"
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
#include <type_traits>
#include <vector>

namespace llmir::test {

using namespace mllm::program;
using mllm::kernel::RowSpace;
namespace kernel = mllm::kernel;

/// Memory aligned to 64 bytes, like that of the runtime.
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

/// Reproducible random numbers, the same with every standard library.
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

/// The arrays of one step; fields that a kernel does not read may be empty.
struct StepInputs {
  int64_t numTokens = 0;
  std::vector<int32_t> tokenIds, positions, slots, logitRows;
  std::vector<int32_t> queryOffsets, seqLens, blockTables;
  int64_t blockTableStride = 0;
  bool splitAttention = false;
  uint8_t *pool = nullptr;
  size_t poolBytes = 0;
  int64_t layerStride = 0;
  /// The pool of states, and the slot of each sequence.
  std::vector<int32_t> stateSlots;
  uint8_t *states = nullptr;
  size_t stateBytes = 0;
  int64_t stateLayerStride = 0, stateSlotStride = 0;
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

/// The kernels between two barriers.
using KernelPhase = std::vector<kernel::KernelOpInterface>;

/// A compiled program with its memory.
class LoadedProgram {
public:
  /// Fills the whole arena with a specific NaN, to detect reads of
  /// uninitialized memory.
  void clearArena();
  void clearBuffer(unsigned buffer);
  /// Writes a row, with zero padding.
  void setRow(unsigned buffer, int64_t row, const float *values);
  void setRows(unsigned buffer, const std::vector<float> &values);
  /// The first `rows` rows, without padding.
  std::vector<float> rows(unsigned buffer, int64_t rows) const;
  /// The same for a buffer of integers.
  void setIntegers(unsigned buffer, const std::vector<int32_t> &values);
  std::vector<int32_t> integers(unsigned buffer, int64_t rows) const;
  /// The padding of the first `rows` rows.
  std::vector<float> padding(unsigned buffer, int64_t row) const;

  /// Runs one step with that many threads. For a program without jumps, fails
  /// the test if the accesses of a worker violate KernelOpInterface.
  void run(const StepInputs &inputs, int64_t workers);

  /// Saves the contents of the arena.
  void snapshot() { before.assign(arena.data(), arena.data() + arena.size()); }
  /// Fails the test if anything except the first `rows` rows of the buffers
  /// differs from the snapshot; call once for each.
  void expectOnlyWritten(const std::vector<unsigned> &written, int64_t rows);
  void expectOnlyWritten(const std::vector<WrittenRows> &written);

private:
  friend class KernelProgram;
  explicit LoadedProgram(const CPULevel &level) : level(&level) {}
  LLMIRStepContext contextOf(const StepInputs &inputs);
  void expectOwnAccesses(const StepInputs &inputs, int64_t workers);

  const CPULevel *level;
  std::optional<CodeImage> image; ///< Image of a native level.
  std::vector<uint8_t> foreign;   ///< Image of an emulated level.
  /// The kernels whose accesses are checked, in a separate module.
  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<KernelPhase> phases;
  AlignedBytes arena, weights;
  std::vector<uint8_t> before;
  std::vector<BufferPlace> buffers;
};

/// The weights of a matmul; without name, there is no bias.
struct WeightNames {
  std::string matrix, bias;
};

/// The phases of a program without jumps and without conditional barriers;
/// empty for other programs.
std::vector<KernelPhase> phasesOf(mlir::ModuleOp module);

/// Builds a module of fragments. Buffers have explicit, disjoint offsets, each
/// followed by a guard, so that the test can fill and read them.
class KernelProgram {
public:
  KernelProgram();

  unsigned addBuffer(int64_t rows, int64_t columns);
  /// A buffer of i32, without padding.
  unsigned addIntegers(int64_t rows, int64_t columns);
  /// Packs and declares a stored matrix.
  std::string addMatrix(TensorFormat format, int64_t rows, int64_t columns,
                        const std::vector<uint8_t> &stored);
  std::string addVector(const std::vector<float> &values);
  /// Declares a packed matrix.
  std::string addPacked(const IntegerMatrixLayout &layout,
                        const std::vector<uint8_t> &packed);
  /// Consecutive matrices [rows, columns] as one weight.
  std::string addExperts(TensorFormat format, int64_t rows, int64_t columns,
                         const std::vector<std::vector<uint8_t>> &stored);
  /// A weight with one matrix per layer from `firstLayer` on, all of the same
  /// shape.
  std::string addLayers(TensorFormat format, int64_t rows, int64_t columns,
                        const std::vector<std::vector<uint8_t>> &stored,
                        int64_t firstLayer = 0);

  /// A buffer operand of a kernel.
  mlir::Value operator[](unsigned buffer) const { return bufferValues[buffer]; }
  llvm::SmallVector<mlir::Value>
  operator[](const std::vector<unsigned> &numbers) const;
  /// A weight operand of the next kernel; null without name.
  mlir::Value weight(const std::string &name);
  /// An optional size of a kernel; null if it is 0.
  mlir::IntegerAttr sizeOrNone(int64_t size);

  /// Adds an instruction with one kernel, built from operands and attributes in
  /// the order of the op. Floating-point attributes may be given as double.
  template <typename OpT, typename... Args> OpT call(Args &&...args) {
    mlir::OpBuilder inside = beginInstruction();
    return OpT::create(inside, module->getLoc(),
                       argument(std::forward<Args>(args))...);
  }
  /// A scalar computation on elements.
  using ScalarBody = std::function<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  void callElementwise(const std::vector<unsigned> &inputs, unsigned out,
                       int64_t columns, const ScalarBody &body,
                       int64_t grain = 1, RowSpace over = RowSpace::Tokens);
  /// Builds the scalar region of a kernel with that many element arguments.
  static void setBody(mlir::Region &region, size_t elements,
                      const ScalarBody &body);
  mlir::MLIRContext *getContext() const { return context.get(); }
  void barrier();
  void setLayer(int64_t layer);
  void label(const std::string &name);
  void jumpNextLayer(const std::string &label, int64_t limit);

  /// Ends the code; call once, before load().
  void finish();
  /// The linked image for that level.
  Expected<std::vector<uint8_t>> compile(const CPULevel &level) const;
  /// Compiles, maps and allocates memory.
  Expected<LoadedProgram> load(const CPULevel &level) const;

private:
  unsigned addBuffer(BufferPlace place, mlir::Type element);
  /// The builder of the kernel of a new instruction, after its weights.
  mlir::OpBuilder beginInstruction();
  template <typename T> static decltype(auto) argument(T &&value) {
    if constexpr (std::is_floating_point_v<std::decay_t<T>>)
      return llvm::APFloat(static_cast<double>(value));
    else
      return std::forward<T>(value);
  }
  std::string declareWeight(const char *layout, std::string_view format,
                            const std::vector<int64_t> &shape,
                            const std::vector<std::vector<uint8_t>> &packed,
                            int64_t firstLayer);

  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder data, buffersAt, code;
  std::vector<BufferPlace> buffers;
  std::vector<mlir::Value> bufferValues;
  llvm::StringMap<mlir::Type> weightTypes;
  std::vector<GetWeightOp> nextWeights; ///< Weights of the next kernel.
  std::vector<uint8_t> weightBytes;
  int64_t arenaBytes = 0, numWeights = 0;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Random bytes of a stored matrix, with values of about one.
std::vector<uint8_t> randomMatrix(TensorFormat format, int64_t rows,
                                  int64_t columns, Random &random);
/// The name of that stored format in programs.
std::string packedFormatName(TensorFormat format);
/// The exact values of stored bytes.
std::vector<float> decodeMatrix(TensorFormat format, int64_t rows,
                                int64_t columns,
                                const std::vector<uint8_t> &stored);
/// The value after conversion to a plain format and back.
float roundTo(TensorFormat format, float value);

/// |a - b|^2 / |b|^2; 0 if both are empty or zero.
double normalizedError(const std::vector<float> &actual,
                       const std::vector<double> &expected);
/// True if both have the same bits.
bool sameBits(const std::vector<float> &a, const std::vector<float> &b);

/// Every level of the table, for test parameters.
std::vector<const CPULevel *> allLevels();
/// For test names: "x86_64_v3".
std::string levelName(const CPULevel *level);
/// True if it is emulated: tests then use small shapes.
bool isEmulated(const CPULevel *level);
/// True for the best level of this processor.
bool isBestHere(const CPULevel *level);
/// True if every case is to be tested, which `./dev check --all` demands.
bool isLongTest();

/// The products whose instructions a kernel uses, as columns of CPULevels.def.
enum class Products { None, OfBytes, OfBf16 };

/// How many of its cases a test covers on a level.
enum class Coverage {
  None,
  Sample, ///< A few: the level is there for its products.
  Whole
};

/// The rule for all tests of kernels. With LLMIR_LONG_TESTS each level that can
/// be run is covered as a whole. Otherwise these are: the lowest level of each
/// architecture, and the best one of this processor; a sample covers, for
/// kernels of such products, the first level that has instructions for them
/// that none of the other levels has.
Coverage coverageOf(const CPULevel *level, Products products = Products::None);
/// Empty if the level is covered, else the reason why not.
std::string whyNotCovered(const CPULevel *level,
                          Products products = Products::None);

/// Skips a test on a level that is not covered.
#define LLMIR_SKIP_UNLESS_COVERED(...)                                         \
  if (std::string reason = whyNotCovered(__VA_ARGS__); !reason.empty())        \
  GTEST_SKIP() << reason

} // namespace llmir::test

#endif // LLMIR_TEST_CODEGEN_KERNELHARNESS_H
