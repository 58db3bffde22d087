//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The builder of kernel functions: shorthands for common ops, loops as lambdas,
// and typed access to the step context.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_KERNELBUILDER_H
#define LLMIR_CODEGEN_KERNELBUILDER_H

#include "llmir/ABI/StepFields.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Dialect/MLLM/Kernels/KernelInterface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace llmir {

/// Number of lanes of all vectors in kernels. LLVM splits a vector into
/// registers according to the level.
constexpr int64_t kLanes = 16;

/// A half-open range [first, last) of work.
using WorkRange = std::pair<mlir::Value, mlir::Value>;

/// The functions of a module that are shared by kernels.
struct SharedFunctions {
  mlir::SymbolTable &symbols;
  /// By key.
  llvm::StringMap<mlir::func::FuncOp> byKey = {};
};

/// Builds one kernel function:
///   func @name(%ctx, %worker, %workers, %layer, operands…)
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  KernelBuilder(mlir::Location loc, mlir::OpBuilder &builder,
                const CPULevel &level, SharedFunctions &shared)
      : ImplicitLocOpBuilder(loc, builder), cpuLevel(level), shared(shared) {}

  const CPULevel &level() const { return cpuLevel; }

  /// Creates the function and sets the insertion point to its entry block. The
  /// function has an argument for each operand of the kernel, of the operand's
  /// type or, for a weight, of its packed form (bytes of a matrix, f32 elements
  /// of a vector), independent of the type of the operand.
  mlir::func::FuncOp beginKernel(llvm::StringRef name,
                                 mllm::kernel::KernelOpInterface kernel);
  /// Finishes the function.
  void endKernel();
  /// Calls the module's function for `key`, from which its name is derived. If
  /// it does not exist, emits it with `body`, which gets the function's
  /// arguments and must not use other values. Equal keys require equal argument
  /// types and equal code.
  void callShared(llvm::StringRef key, mlir::ValueRange arguments,
                  llvm::function_ref<void(mlir::ValueRange)> body);

  mlir::Value ctx() const { return contextArg; }
  mlir::Value layer() const { return layerArg; }
  /// The function argument for an operand of the kernel.
  mlir::Value argument(mlir::OpOperand &operand) const {
    return operandArgs[operand.getOperandNumber()];
  }
  /// The same for an optional operand; null if it is absent.
  mlir::Value argument(mlir::MutableOperandRange operand) const;
  /// The same for a variadic operand.
  llvm::SmallVector<mlir::Value>
  arguments(mlir::MutableOperandRange operands) const;

  //===--------------------------------------------------------------------===//
  // Types and constants
  //===--------------------------------------------------------------------===//

  mlir::VectorType vec(int64_t lanes, mlir::Type element) const {
    return mlir::VectorType::get({lanes}, element);
  }
  mlir::VectorType f32x16() { return vec(kLanes, getF32Type()); }
  mlir::VectorType i32x16() { return vec(kLanes, getI32Type()); }

  mlir::Value index(int64_t value);
  mlir::Value f32(double value);
  /// A splat constant of a vector type, or a scalar constant.
  mlir::Value intConstant(mlir::Type type, int64_t value);
  mlir::Value floatConstant(mlir::Type type, double value);

  //===--------------------------------------------------------------------===//
  // Index arithmetic
  //===--------------------------------------------------------------------===//

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return b ? add(a, index(b)) : a; }
  mlir::Value mul(mlir::Value a, int64_t b) {
    return b == 1 ? a : mul(a, index(b));
  }
  /// Quotient and remainder of non-negative values.
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, int64_t b) {
    return b == 1 ? a : div(a, index(b));
  }
  mlir::Value rem(mlir::Value a, int64_t b) { return rem(a, index(b)); }
  mlir::Value min(mlir::Value a, mlir::Value b);
  /// An i32 (or i64) as an index.
  mlir::Value toIndex(mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Floating point
  //===--------------------------------------------------------------------===//

  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value addf(mlir::Value a, mlir::Value b);
  mlir::Value subf(mlir::Value a, mlir::Value b);
  mlir::Value mulf(mlir::Value a, mlir::Value b);
  mlir::Value divf(mlir::Value a, mlir::Value b);
  /// The maximum of two values; the second one if either is NaN.
  mlir::Value maxf(mlir::Value a, mlir::Value b);
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes = kLanes);
  mlir::Value lane(mlir::Value vector, int64_t i);
  /// Extends a vector of at most 16 lanes to 16, filled with `fill`.
  mlir::Value widen(mlir::Value vector, double fill);
  /// Reduces the lanes of a vector pairwise, halves first: a fixed tree, so
  /// that results do not depend on how LLVM orders a reduction.
  mlir::Value
  foldLanes(mlir::Value vector,
            llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  /// for (iv = from; iv < to; iv += step) body(iv)
  void loop(mlir::Value from, mlir::Value to, mlir::Value step,
            llvm::function_ref<void(mlir::Value)> body);
  void loop(int64_t from, int64_t to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    loop(index(from), index(to), index(step), body);
  }
  /// The same with loop-carried values.
  llvm::SmallVector<mlir::Value>
  reduce(mlir::Value from, mlir::Value to, int64_t step,
         llvm::ArrayRef<mlir::Value> initial,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                           mlir::ValueRange)>
             body);
  /// The same without unrolling: prefetches of the body stay evenly
  /// distributed, and addresses are not computed in advance and spilled.
  llvm::SmallVector<mlir::Value> reduceRolled(
      mlir::Value from, mlir::Value to, int64_t step,
      llvm::ArrayRef<mlir::Value> initial,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                        mlir::ValueRange)>
          body);
  /// The same without loop-carried values: for small code instead of fast code.
  void rolledLoop(mlir::Value from, mlir::Value to,
                  llvm::function_ref<void(mlir::Value)> body);
  /// Calls body(position, lanes) over [0, size) in steps of 16, then once for
  /// the remainder. `size` and so all vector lengths are static.
  void vectorLoop(int64_t size,
                  llvm::function_ref<void(mlir::Value, int64_t)> body);
  /// Emits body(case) for each case in [first, last], selected by `selector`.
  /// Does nothing for other values.
  void select(mlir::Value selector, int64_t first, int64_t last,
              llvm::function_ref<void(int64_t)> body);
  /// if (condition) then()
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Loads or stores `lanes` elements of a buffer from the given indices on.
  mlir::Value loadVector(mlir::Value memref, mlir::ValueRange indices,
                         int64_t lanes = kLanes);
  void storeVector(mlir::Value vector, mlir::Value memref,
                   mlir::ValueRange indices);
  /// Writes zero after the first `used` columns of a row: rows are padded to
  /// whole tiles, and kernels rely on padding being zero.
  void zeroPadding(mlir::Value buffer, mlir::Value row, int64_t used);
  /// The same in kernels that are divided by heads, by the worker of the last
  /// head.
  void zeroPaddingAfterHeads(mlir::Value buffer, mlir::Value row,
                             mlir::Value head, int64_t heads, int64_t headDim);
  mlir::Value load(mlir::Value memref, mlir::ValueRange indices);
  void store(mlir::Value value, mlir::Value memref, mlir::ValueRange indices);

  /// pointer + bytes.
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);
  /// A value of `type` at pointer + bytes, with the element's alignment.
  mlir::Value loadAt(mlir::Type type, mlir::Value pointer, mlir::Value bytes);
  void storeAt(mlir::Value value, mlir::Value pointer, mlir::Value bytes);

  //===--------------------------------------------------------------------===//
  // The step context
  //===--------------------------------------------------------------------===//

  /// A pointer field.
  mlir::Value contextPointer(StepField field);
  /// An i64 field as an index.
  mlir::Value contextIndex(StepField field);
  /// Loads element `i` of an i32 array of the context as an index.
  mlir::Value contextArray(StepField field, mlir::Value i);
  /// Number of rows of the kernel's row space.
  mlir::Value rowCount();

  //===--------------------------------------------------------------------===//
  // The worker's part of the work
  //
  // Each function supports kernels whose work division has a certain unit, and
  // returns the part that the division (KernelOpInterface::getWorkDivision)
  // assigns to this worker. Emitters do not access the worker index.
  //===--------------------------------------------------------------------===//

  /// Rows: a range of the rows of the row space times the rows per row.
  WorkRange rowRange();
  /// Columns: a range of the column tiles.
  WorkRange tileRange();
  /// Columns in whole heads: a range of the `heads` heads of a row, each of
  /// `headDim` columns.
  WorkRange headRange(int64_t heads, int64_t headDim);
  /// Heads: calls body(row, head) for this worker's (row, head) pairs of `rows`
  /// rows.
  void overHeads(mlir::Value rows,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  /// Items: a range of `count` items, or of their total cost.
  WorkRange itemRange(mlir::Value count);
  /// Elements: a range of `count` units of work, which the emitter defines.
  WorkRange elementRange(mlir::Value count);
  /// First, or elements that are a single unit of work.
  void onFirstWorker(llvm::function_ref<void()> body);

private:
  /// A contiguous range of `count` units, a multiple of `grain` except at the
  /// end.
  WorkRange divide(mlir::Value count, int64_t grain = 1);

  const CPULevel &cpuLevel;
  SharedFunctions &shared;
  mllm::kernel::WorkDivision division;
  mlir::Value contextArg, workerArg, workersArg, layerArg;
  llvm::SmallVector<mlir::Value> operandArgs;
};

} // namespace llmir

#endif // LLMIR_CODEGEN_KERNELBUILDER_H
