//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs of subgraphs and ops, including calls.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_COSTS_H
#define LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_COSTS_H

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"

namespace llmir::mllm {

/// A sum that may be unknown, due to a dynamic size or overflow.
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
  /// The value, or `?`.
  std::string text() const { return value ? std::to_string(*value) : "?"; }

private:
  std::optional<int64_t> value;
};

/// The cost of an op or a subgraph, including its callees.
struct Cost {
  int64_t ops = 0; ///< Executed ops of the linalg and tensor levels.
  Amount flops, bytes;
  llvm::SetVector<mlir::StringAttr>
      parameters; ///< By name, without duplicates.

  void add(const Cost &other);
};

/// The costs of a module's subgraphs.
class CostTable {
public:
  explicit CostTable(mlir::ModuleOp module);

  /// The cost of an op with its regions; a call has the cost of its callee.
  /// Loop bodies count once.
  Cost of(mlir::Operation *op) const;
  /// Zero for a subgraph without a body and for recursive ones.
  Cost of(SubGraphOp subgraph) const {
    return subGraphs.lookup(subgraph.getSymNameAttr());
  }
  /// Number of elements of the parameters, and their storage size.
  Amount values(const Cost &cost) const;
  Amount parameterBytes(const Cost &cost) const;
  /// The cost by which stages are balanced: floating-point operations or, if
  /// unknown, two per parameter element.
  int64_t work(const Cost &cost) const;

private:
  mlir::ModuleOp module;
  llvm::DenseMap<mlir::StringAttr, Cost> subGraphs;
  llvm::DenseMap<mlir::StringAttr, RegisterOp> registers;
};

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_TRANSFORMS_COSTS_H
