//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every kernel emitter builds with: short names for the ops that kernels
// are made of, loops as lambdas, and typed access to the step context.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_KERNELBUILDER_H
#define LLMIR_CODEGEN_KERNELBUILDER_H

#include "llmir/ABI/StepFields.h"
#include "llmir/Codegen/CPULevel.h"
#include "llmir/Dialect/MLLM/KernelSpec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <functional>

namespace llmir {

/// Lanes of every vector that kernels compute with, whatever the register
/// width: levels differ in how many registers LLVM gives a vector.
constexpr int64_t kLanes = 16;

/// Builds one kernel function:
///   func @name(%ctx, %worker, %workers, %layer, weights…, buffers…)
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  KernelBuilder(mlir::Location loc, mlir::OpBuilder &builder,
                const CPULevel &level)
      : ImplicitLocOpBuilder(loc, builder), cpuLevel(level) {}

  const CPULevel &level() const { return cpuLevel; }

  /// Creates the function with its entry block and moves into it. Weight types
  /// are memrefs, as buffer types are.
  mlir::func::FuncOp beginKernel(llvm::StringRef name,
                                 llvm::ArrayRef<mlir::Type> weightTypes,
                                 llvm::ArrayRef<mlir::Type> bufferTypes);
  /// Ends the function.
  void endKernel();

  mlir::Value ctx() const { return contextArg; }
  mlir::Value worker() const { return workerArg; }
  mlir::Value workers() const { return workersArg; }
  mlir::Value layer() const { return layerArg; }
  mlir::Value weight(unsigned i) const { return weightArgs[i]; }
  mlir::Value buffer(unsigned i) const { return bufferArgs[i]; }

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
  /// The constant in every lane of `type` (or the scalar).
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
  /// Quotient and remainder of non-negative numbers.
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
  /// The greater of two numbers; the second where either is NaN.
  mlir::Value maxf(mlir::Value a, mlir::Value b);
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes = kLanes);
  mlir::Value lane(mlir::Value vector, int64_t i);
  /// A vector of at most 16 lanes as one of 16, `fill` behind its own.
  mlir::Value widen(mlir::Value vector, double fill);
  /// Folds the lanes of a vector pairwise, halves first: a fixed tree, so that
  /// the bits never depend on how LLVM would order a reduction.
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
  /// The same with values carried from one iteration to the next.
  llvm::SmallVector<mlir::Value>
  reduce(mlir::Value from, mlir::Value to, int64_t step,
         llvm::ArrayRef<mlir::Value> initial,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                           mlir::ValueRange)>
             body);
  /// The same, never unrolled: what the body prefetches stays spread out, and
  /// no address is computed beforehand and kept in memory.
  llvm::SmallVector<mlir::Value> reduceRolled(
      mlir::Value from, mlir::Value to, int64_t step,
      llvm::ArrayRef<mlir::Value> initial,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                        mlir::ValueRange)>
          body);
  /// body(position, lanes) over [0, size) in steps of 16, then once with what
  /// remains. `size` is static, so every vector's length is.
  void vectorLoop(int64_t size,
                  llvm::function_ref<void(mlir::Value, int64_t)> body);
  /// if (condition) then()
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// `lanes` elements of a buffer from the given indices on.
  mlir::Value loadVector(mlir::Value memref, mlir::ValueRange indices,
                         int64_t lanes = kLanes);
  void storeVector(mlir::Value vector, mlir::Value memref,
                   mlir::ValueRange indices);
  /// Writes zero behind the first `used` columns of a row: rows are padded to
  /// whole tiles, and kernels count on padding being zero.
  void zeroPadding(mlir::Value buffer, mlir::Value row, int64_t used);
  /// The same where work is dealt out by heads: the last head's worker does it.
  void zeroPaddingBehindHeads(mlir::Value buffer, mlir::Value row,
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
  /// Element `i` of an i32 array of the context, as an index.
  mlir::Value contextArray(StepField field, mlir::Value i);
  /// Number of rows that a kernel works over.
  mlir::Value rowCount(mllm::program::RowSpace over);

  /// This worker's contiguous share [first, last) of `count` items, in whole
  /// units of `unit` items (0 is 1) but for the last.
  std::pair<mlir::Value, mlir::Value> share(mlir::Value count,
                                            int64_t unit = 1);
  /// The same of heads that lie side by side in rows, `headDim` columns each.
  std::pair<mlir::Value, mlir::Value> shareHeads(int64_t heads,
                                                 int64_t headDim) {
    return share(index(heads), mllm::program::headsPerUnit(headDim));
  }

private:
  const CPULevel &cpuLevel;
  mlir::Value contextArg, workerArg, workersArg, layerArg;
  llvm::SmallVector<mlir::Value> weightArgs, bufferArgs;
};

} // namespace llmir

#endif // LLMIR_CODEGEN_KERNELBUILDER_H
