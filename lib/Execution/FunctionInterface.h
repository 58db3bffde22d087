//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs and outputs of a compiled function, read from its program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXECUTION_FUNCTIONINTERFACE_H
#define LLMIR_LIB_EXECUTION_FUNCTIONINTERFACE_H

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Interpreter/Values.h"
#include "llmir/Packing/PackWeights.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

#include "llvm/ADT/StringMap.h"

namespace llmir {

/// A buffer of the arena that the caller fills or reads.
struct FunctionPort {
  std::string name; ///< Source of an input, name of an output.
  int64_t offset;   ///< Offset in the arena.
  int64_t rows, stride, columns;
  mlir::Type element; ///< f32, i32 or i64.

  /// Writes the elements in order; zeroes the rest of the buffer.
  void fill(uint8_t *arena, const reference::Tensor &values) const;
  /// Reads the elements in order, as a tensor of that kind and shape.
  reference::Tensor read(const uint8_t *arena, reference::ElementKind kind,
                         reference::Shape shape) const;

private:
  /// The address of element `i`.
  int64_t placeOf(int64_t i) const;
};

/// A program's inputs, outputs, weights and memory.
struct FunctionInterface {
  std::vector<FunctionPort> inputs, outputs;
  std::vector<PackJob> weights;
  /// The storage format of each job; absent if the value determines it, as for
  /// blocks.
  std::vector<std::optional<TensorFormat>> weightFormats;
  llvm::StringMap<reference::Tensor> constants;
  int64_t arenaBytes = 0, weightBytes = 0;
  mlir::llm::PagedKVCacheType cache; ///< Null if the code uses no cache.
  int64_t numRanks = 1; ///< Ranks with layers in the pool of the cache.

  /// Reads a program with planned memory.
  static FunctionInterface read(mlir::ModuleOp program);
};

/// Packs a weight with that value.
Status packValue(const InterpreterValue &value,
                 std::optional<TensorFormat> format, const PackJob &job,
                 Span<uint8_t> out);

} // namespace llmir

#endif // LLMIR_LIB_EXECUTION_FUNCTIONINTERFACE_H
