//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What subgraphs and ops cost, calls included.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_COSTS_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_COSTS_H

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"

namespace llmir::mllm {

/// A sum that may be unknown: a size is dynamic, or it does not fit.
class Amount {
public:
  Amount(std::optional<int64_t> value = 0) : value(value) {}

  Amount &operator+=(const Amount &other) {
    int64_t sum;
    if (!value || !other.value || llvm::AddOverflow(*value, *other.value, sum))
      value = std::nullopt;
    else
      value = sum;
    return *this;
  }
  bool isKnown() const { return value.has_value(); }
  int64_t operator*() const { return *value; }
  /// The number, or `?`.
  std::string text() const { return value ? std::to_string(*value) : "?"; }

private:
  std::optional<int64_t> value;
};

/// What an op or a subgraph needs, with all that it calls.
struct Cost {
  int64_t ops = 0; ///< Of levels linalg and tensor, as often as they run.
  Amount flops, bytes;
  llvm::SetVector<mlir::StringAttr> parameters; ///< By name, once each.

  void add(const Cost &other);
};

/// The costs of a module's subgraphs.
class CostTable {
public:
  explicit CostTable(mlir::ModuleOp module);

  /// Of an op with its regions; a call costs what its callee does. Bodies of
  /// loops count once.
  Cost of(mlir::Operation *op) const;
  /// Nothing for a subgraph without a body or one that calls itself.
  Cost of(SubGraphOp subgraph) const {
    return subGraphs.lookup(subgraph.getSymNameAttr());
  }
  /// Numbers in the parameters, and their bytes as they are stored.
  Amount values(const Cost &cost) const;
  Amount parameterBytes(const Cost &cost) const;
  /// What parts of a model are balanced by: floating-point operations, or,
  /// where they are unknown, two for each number of the parameters.
  int64_t work(const Cost &cost) const;

private:
  mlir::ModuleOp module;
  llvm::DenseMap<mlir::StringAttr, Cost> subGraphs;
  llvm::DenseMap<mlir::StringAttr, RegisterOp> registers;
};

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_COSTS_H
