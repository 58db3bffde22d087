//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a program: declares weights once and appends instructions, without
// barriers, which -mllm-synchronize-program derives from the finished code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMBUILDER_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMBUILDER_H

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Support/IntegerLayout.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <tuple>

namespace llmir {

using namespace mllm::program;
namespace kernel = mllm::kernel;
using kernel::RowSpace;

/// A weight operand of a kernel: a weight of the data fragment, or a buffer in
/// which the program has packed it. Absent by default.
struct KernelWeight {
  KernelWeight() = default;
  KernelWeight(mlir::Value packed) : buffer(packed) {}
  KernelWeight(mlir::FlatSymbolRefAttr symbol, mlir::MemRefType type)
      : symbol(symbol), type(type) {}

  mlir::FlatSymbolRefAttr symbol;
  mlir::MemRefType type; ///< The type of the referenced weight.
  mlir::Value buffer;
};

class ProgramBuilder {
public:
  /// Creates the two fragments at the end of `module`.
  explicit ProgramBuilder(mlir::ModuleOp module);

  /// Creates a buffer of rows of `element` (f32 if null), padded to whole
  /// tiles.
  mlir::Value createBuffer(mlir::Location loc, int64_t rows, int64_t columns,
                           mlir::Type element = mlir::Type());
  /// The step's output.
  mlir::Value createLogits(mlir::Location loc, int64_t rows, int64_t columns);

  /// Declares (once) the weight of the registered parameters, one per layer
  /// from `firstLayer`; all have the same type. With `integers`, they are
  /// quantized to this format when packed.
  mlir::FailureOr<KernelWeight>
  declareWeight(llvm::ArrayRef<mllm::RegisterOp> parameters, int64_t firstLayer,
                std::optional<IntegerFormat> integers = std::nullopt);
  /// Declares (once) the weight of a source of the runner.
  KernelWeight declareWeight(mlir::Location loc, llvm::StringRef source,
                             mlir::Type type);
  /// Declares (once) the weight of a constant of the program.
  KernelWeight declareConstantWeight(mlir::Location loc,
                                     mlir::DenseElementsAttr value);
  /// Declares values that the runner writes to the source of their name.
  std::string declareConstant(mlir::Location loc, mlir::ElementsAttr value);
  /// Declares a buffer as written, or read, by the caller.
  void input(mlir::Location loc, llvm::StringRef source, mlir::Value buffer,
             int64_t columns);
  void output(mlir::Location loc, llvm::StringRef name, mlir::Value buffer,
              int64_t columns);

  /// Declares the cache of the program, with layers for each rank.
  void setCache(mlir::Type type, int64_t numRanks);

  //===--------------------------------------------------------------------===//
  // The step context and the runtime
  //===--------------------------------------------------------------------===//

  void setCount(mlir::Location loc, StepField field, int64_t count);
  /// Binds the buffer to the field for the following kernels.
  void setPointer(mlir::Location loc, StepField field, mlir::Value buffer);
  void restoreField(mlir::Location loc, StepField field);
  /// Appends a call by the first worker.
  void runtimeCall(mlir::Location loc, RuntimeFunction function,
                   llvm::ArrayRef<mlir::Value> buffers,
                   llvm::ArrayRef<mlir::Attribute> numbers);

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  /// Appends an instruction of one kernel, whose label is `label`. The further
  /// arguments are those of a builder of the op, in which a KernelWeight
  /// represents the operand of the instruction.
  template <typename KernelOp, typename... Args>
  KernelOp kernel(mlir::Location loc, llvm::StringRef label,
                  const Args &...args) {
    mlir::OpBuilder::InsertionGuard guard(code);
    beginInstruction(loc);
    // Braces evaluate from left to right: weights are in the kernel's order.
    std::tuple<decltype(resolve(loc, args))...> operands{resolve(loc, args)...};
    auto op = std::apply(
        [&](const auto &...each) {
          return KernelOp::create(code, loc, each...);
        },
        operands);
    op->setDiscardableAttr(kLabelAttr, code.getStringAttr(label));
    return op;
  }

  void setLayer(mlir::Location loc, int64_t layer);
  void label(mlir::Location loc, llvm::StringRef name);
  void jumpNextLayer(mlir::Location loc, llvm::StringRef label, int64_t limit);
  void jump(mlir::Location loc, llvm::StringRef label);
  /// Jumps if the first element of the i32 buffer is not 0.
  void jumpIf(mlir::Location loc, llvm::StringRef label, mlir::Value number);
  /// Ends the code and writes the size of the weight section.
  void finish(mlir::Location loc);

private:
  /// Appends an instruction and sets the insertion point inside.
  void beginInstruction(mlir::Location loc);
  mlir::Value resolve(mlir::Location loc, const KernelWeight &weight);
  template <typename T> const T &resolve(mlir::Location, const T &argument) {
    return argument;
  }
  int64_t placeWeight(llvm::StringRef name, int64_t bytes);

  mlir::ModuleOp module;
  mlir::OpBuilder weights, buffers, code;
  FragmentOp weightFragment, codeFragment;
  llvm::StringMap<int64_t> weightOffsets; ///< By parameter.
  int64_t weightBytes = 0, numConstants = 0;
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMBUILDER_H
