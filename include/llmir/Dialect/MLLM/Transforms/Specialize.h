//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binding of the dynamic sizes of a traced model, and propagation of these
// sizes to results.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TRANSFORMS_SPECIALIZE_H
#define LLMIR_DIALECT_MLLM_TRANSFORMS_SPECIALIZE_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include <functional>
#include <map>
#include <set>

namespace llmir::mllm {

/// Values of dynamic sizes: named sizes by symbol, and one value for all
/// unnamed sizes of model inputs.
struct SizeBinding {
  std::map<std::string, int64_t> named;
  /// Unnamed sizes of inputs; nullopt leaves them dynamic.
  std::optional<int64_t> unnamed;
  /// Symbols not in `named`; nullopt leaves them dynamic.
  std::optional<int64_t> otherSymbols;
  /// Initial number of tokens in the KV caches; nullopt leaves it dynamic.
  std::optional<int64_t> past;

  /// The name that also sets `past`.
  static constexpr llvm::StringLiteral kPast = "past";

  /// Parses `seq=17,past=0,?=4`, where `?` denotes unnamed sizes. Reports an
  /// error at the module if the text is invalid.
  static mlir::FailureOr<SizeBinding> parse(mlir::ModuleOp module,
                                            llvm::StringRef text);
  /// "seq=17, past=0", for diagnostics.
  std::string str() const;

  /// Returns the value of the expression if all symbols are bound and it is not
  /// negative; otherwise the expression.
  shapes::DimExpr bind(const shapes::DimExpr &size) const;
  mlir::RankedTensorType bind(mlir::RankedTensorType type) const;
  /// The same for a type, with `unnamed` for unnamed sizes.
  mlir::RankedTensorType bindInput(mlir::RankedTensorType type) const;
};

/// The number of tokens appended to the cache of each layer, in addition to
/// `past`; 0 for layers without an entry.
using CacheGrowth = std::map<int64_t, shapes::DimExpr>;

/// The layers to whose caches an op appends, including its regions and callees.
std::set<int64_t> cachedLayers(mlir::Operation *op);

/// Updates result types in place, op by op, after operand types have changed.
class SizeInference {
public:
  /// Returns the subgraph to call for the operand types of the call; null, with
  /// an error, if there is none.
  using ResolveCall = std::function<SubGraphOp(CallGraphOp)>;

  /// `isStrict`: an op whose result types cannot be inferred is an error.
  /// Otherwise, they keep their declared types with bound sizes, as do the
  /// results of unresolved calls.
  SizeInference(const SizeBinding &sizes, bool isStrict,
                ResolveCall resolveCall = nullptr)
      : sizes(sizes), isStrict(isStrict), resolveCall(std::move(resolveCall)) {}

  /// Changes the type of a value; its previous type remains the declared one.
  void setType(mlir::Value value, mlir::RankedTensorType type);
  /// The type of the value before setType(), or its current type.
  mlir::RankedTensorType declaredType(mlir::Value value) const;
  /// Sets the declared type of a value copied from another module.
  void declareType(mlir::Value value, mlir::RankedTensorType type) {
    declared.try_emplace(value, type);
  }

  /// The growth of the caches before the next op.
  CacheGrowth &growth() { return grown; }

  /// Infers the result types of one op, including its regions.
  mlir::LogicalResult inferOp(mlir::Operation *op);
  /// Infers the result types of all ops of a block, in order.
  mlir::LogicalResult inferBlock(mlir::Block &block);

private:
  mlir::LogicalResult inferResults(mlir::Operation *op,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
  void inferCache(KVCacheOp op, llvm::MutableArrayRef<mlir::Type> types);
  mlir::LogicalResult inferIf(IfOp op);
  mlir::LogicalResult inferWhile(WhileOp op);
  mlir::LogicalResult inferFor(ForOp op);
  /// Accounts for a loop with an unknown number of iterations.
  void growInLoop(mlir::Operation *loop);
  mlir::LogicalResult
  settleLoop(mlir::Block &entry, mlir::ValueRange inits, unsigned firstArgument,
             llvm::function_ref<mlir::FailureOr<mlir::OperandRange>()> infer);
  mlir::RankedTensorType declaredAndBound(mlir::Value value) const;

  const SizeBinding &sizes;
  bool isStrict;
  ResolveCall resolveCall;
  llvm::DenseMap<mlir::Value, mlir::RankedTensorType> declared;
  CacheGrowth grown;
  int64_t numInferred = 0; ///< Inferred ops; nested loops count repeatedly.
};

/// Binds the dynamic sizes of a module's subgraphs: see `mllm-specialize`. With
/// `isPartial`, sizes may stay dynamic. Reports an error and fails if the sizes
/// are invalid for the module, which is then in an unspecified state.
mlir::LogicalResult specializeSizes(mlir::ModuleOp module,
                                    const SizeBinding &sizes,
                                    bool isPartial = false);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_SPECIALIZE_H
