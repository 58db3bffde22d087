//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a program: declares kernels and weights once, appends instructions and
// remembers what each of them touches, from which barriers follow at the end.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMBUILDER_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMBUILDER_H

#include "Synchronization.h"

#include "llmir/Dialect/MLLM/KernelSpec.h"
#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Support/IntegerLayout.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace llmir {

using namespace mllm::program;

class ProgramBuilder {
public:
  /// Creates the three fragments at the end of `module`.
  explicit ProgramBuilder(mlir::ModuleOp module);

  /// A buffer of rows of `element` (f32 where it is null), padded to whole
  /// tiles.
  mlir::Value createBuffer(mlir::Location loc, int64_t rows, int64_t columns,
                           mlir::Type element = mlir::Type());
  /// The step's output.
  mlir::Value createLogits(mlir::Location loc, int64_t rows, int64_t columns);

  /// Declares (once) the weight that the registered parameters make, one per
  /// layer from `firstLayer` on; all have the same type. With `integers`, they
  /// are quantized to that format when they are packed.
  mlir::FailureOr<mlir::FlatSymbolRefAttr>
  declareWeight(llvm::ArrayRef<mllm::RegisterOp> parameters, int64_t firstLayer,
                std::optional<IntegerFormat> integers = std::nullopt);
  /// Declares (once) the weight that a source of the runner's makes.
  mlir::FlatSymbolRefAttr
  declareWeight(mlir::Location loc, llvm::StringRef source, mlir::Type type);
  /// Declares values that the runner writes where their name is a source.
  std::string declareConstant(mlir::Location loc, mlir::ElementsAttr value);
  /// Says what the caller writes into a buffer, and reads from it.
  void input(mlir::Location loc, llvm::StringRef source, mlir::Value buffer,
             int64_t columns);
  void output(mlir::Location loc, llvm::StringRef name, mlir::Value buffer,
              int64_t columns);

  /// Says which cache the code needs, with layers for each rank.
  void setCache(mlir::Type type, int64_t numRanks);

  //===--------------------------------------------------------------------===//
  // The step context and the runtime
  //===--------------------------------------------------------------------===//

  void setCount(mlir::Location loc, StepField field, int64_t count);
  /// Kernels from here on may read the buffer.
  void setPointer(mlir::Location loc, StepField field, mlir::Value buffer);
  void restoreField(mlir::Location loc, StepField field);
  /// A call by one worker, which may read and write the buffers and the cache.
  void runtimeCall(mlir::Location loc, RuntimeFunction function,
                   llvm::ArrayRef<mlir::Value> buffers,
                   llvm::ArrayRef<mlir::Attribute> numbers, bool touchesCache);

  /// Appends a call of the kernel of that spec; a kernel of the same kind,
  /// parameters, operand types and scalar body is declared once. `touchesCache`
  /// says how the instruction touches the KV cache, if it does.
  template <typename Spec>
  void call(mlir::Location loc, llvm::StringRef name, const Spec &spec,
            llvm::ArrayRef<mlir::Attribute> weights,
            llvm::ArrayRef<BufferAccess> accesses,
            std::optional<BufferAccess> cache = std::nullopt,
            llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)> body =
                nullptr) {
    callKernel(loc, name, Spec::kind, toParameters(module.getContext(), spec),
               weights, accesses, cache, body);
  }

  /// A barrier for steps that split attention only.
  void waitIfSplit(mlir::Location loc);
  void setLayer(mlir::Location loc, int64_t layer);
  void label(mlir::Location loc, llvm::StringRef name);
  void jumpNextLayer(mlir::Location loc, llvm::StringRef label, int64_t limit);
  void jump(mlir::Location loc, llvm::StringRef label);
  /// Jumps where the first number of the buffer, of i32, is not 0.
  void jumpIf(mlir::Location loc, llvm::StringRef label, mlir::Value number);
  /// Ends the code, puts barriers into it (see synchronize()) and writes the
  /// size of the weight section.
  void finish(mlir::Location loc, int64_t fewTokens = 0);

private:
  void callKernel(
      mlir::Location loc, llvm::StringRef name, llvm::StringRef kind,
      mlir::DictionaryAttr parameters, llvm::ArrayRef<mlir::Attribute> weights,
      llvm::ArrayRef<BufferAccess> accesses, std::optional<BufferAccess> cache,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)> body);
  mlir::FlatSymbolRefAttr declareKernel(
      mlir::Location loc, llvm::StringRef name, llvm::StringRef kind,
      mlir::DictionaryAttr parameters, mlir::ArrayAttr operandTypes,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Block &)> body);
  int64_t placeWeight(llvm::StringRef name, int64_t bytes);

  mlir::ModuleOp module;
  mlir::OpBuilder weights, kernels, buffers, code;
  FragmentOp weightFragment, codeFragment;
  AccessTable accesses;
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> kernelByKey;
  llvm::StringMap<int64_t> weightOffsets; ///< By parameter.
  int64_t weightBytes = 0, numConstants = 0;
  /// What each pointer field is bound to.
  llvm::DenseMap<int, mlir::Value> pointers;
};

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PROGRAMBUILDER_H
