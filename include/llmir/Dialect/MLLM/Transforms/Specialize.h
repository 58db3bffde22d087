//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers for the dynamic sizes of a traced model, and what the results of its
// ops are for them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TRANSFORMS_SPECIALIZE_H
#define LLMIR_DIALECT_MLLM_TRANSFORMS_SPECIALIZE_H

#include "llmir/Dialect/MLLM/MLLM.h"

#include <functional>
#include <map>
#include <set>

namespace llmir::mllm {

/// What dynamic sizes are: named ones by their symbols, those of the model's
/// inputs without a name all alike.
struct SizeBinding {
  std::map<std::string, int64_t> named;
  /// Of inputs; nothing leaves them open.
  std::optional<int64_t> unnamed;
  /// For symbols that are not in `named`; nothing leaves them open.
  std::optional<int64_t> otherSymbols;
  /// Tokens that the KV caches hold before; nothing leaves them open.
  std::optional<int64_t> past;

  /// The name that says `past` too.
  static constexpr llvm::StringLiteral kPast = "past";

  /// Reads `seq=17,past=0,?=4`, where `?` stands for sizes without a name.
  /// Reports an error at the module and fails where the text is no such list.
  static mlir::FailureOr<SizeBinding> parse(mlir::ModuleOp module,
                                            llvm::StringRef text);
  /// "seq=17, past=0", as messages say it.
  std::string str() const;

  /// The number, where all symbols of the expression are bound to one that is
  /// not negative; else the expression.
  shapes::DimExpr bind(const shapes::DimExpr &size) const;
  mlir::RankedTensorType bind(mlir::RankedTensorType type) const;
  /// The same, and `unnamed` for sizes without a name.
  mlir::RankedTensorType bindInput(mlir::RankedTensorType type) const;
};

/// Tokens that ops have given the caches of layers, besides those that these
/// held before; a layer that is not there has been given none.
using CacheGrowth = std::map<int64_t, shapes::DimExpr>;

/// The layers whose caches an op appends to, with what it has inside and calls.
std::set<int64_t> cachedLayers(mlir::Operation *op);

/// Gives the results of ops whose operands have got other types the types that
/// follow from these, in place and op by op.
class SizeInference {
public:
  /// Gives the subgraph to call for operands of the call's types; null, with an
  /// error, where there is none.
  using ResolveCall = std::function<SubGraphOp(CallGraphOp)>;

  /// `isStrict`: an op whose results do not follow is an error. Otherwise they
  /// stay as declared but for the sizes that are bound. Calls that nothing
  /// resolves do so too.
  SizeInference(const SizeBinding &sizes, bool isStrict,
                ResolveCall resolveCall = nullptr)
      : sizes(sizes), isStrict(isStrict), resolveCall(std::move(resolveCall)) {}

  /// Gives a value another type; the one that it had stays its declared one.
  void setType(mlir::Value value, mlir::RankedTensorType type);
  /// The type that the value had before setType(), or has.
  mlir::RankedTensorType declaredType(mlir::Value value) const;
  /// Says what type a value had in the module that it was copied from.
  void declareType(mlir::Value value, mlir::RankedTensorType type) {
    declared.try_emplace(value, type);
  }

  /// What the caches have grown by where the next op stands.
  CacheGrowth &growth() { return grown; }

  /// Infers the results of one op, what is in its regions included.
  mlir::LogicalResult inferOp(mlir::Operation *op);
  /// Infers all ops of a block, in order.
  mlir::LogicalResult inferBlock(mlir::Block &block);

private:
  mlir::LogicalResult inferResults(mlir::Operation *op,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
  void inferCache(KVCacheOp op, llvm::MutableArrayRef<mlir::Type> types);
  mlir::LogicalResult inferIf(IfOp op);
  mlir::LogicalResult inferWhile(WhileOp op);
  mlir::LogicalResult inferFor(ForOp op);
  /// Nobody knows how many turns the loop has.
  void growInTurns(mlir::Operation *loop);
  mlir::LogicalResult
  settleLoop(mlir::Block &entry, mlir::ValueRange inits, unsigned firstArgument,
             llvm::function_ref<mlir::FailureOr<mlir::OperandRange>()> infer);
  mlir::RankedTensorType declaredAndBound(mlir::Value value) const;

  const SizeBinding &sizes;
  bool isStrict;
  ResolveCall resolveCall;
  llvm::DenseMap<mlir::Value, mlir::RankedTensorType> declared;
  CacheGrowth grown;
  int64_t numInferred = 0; ///< Ops; loops in loops are gone through again.
};

/// Binds the dynamic sizes of a module's subgraphs: see `mllm-specialize`. With
/// `isPartial` sizes may stay open. Reports an error and fails where the sizes
/// do not fit the module, which is then left in a state of no use.
mlir::LogicalResult specializeSizes(mlir::ModuleOp module,
                                    const SizeBinding &sizes,
                                    bool isPartial = false);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_SPECIALIZE_H
