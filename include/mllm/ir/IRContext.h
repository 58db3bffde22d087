//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IRContext: owns a module of IR, its symbols, and the handles of its nodes.
//
//   auto context = mllm::ir::IRContext::make();
//   auto norm = context->create<graph::SubGraphOp>("norm", {type}, {type});
//
// A failing call returns null, does not change the IR, sets status(), and calls
// the error handler (mllm/Utils/Common.hpp).
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_IRCONTEXT_H
#define MLLM_IR_IRCONTEXT_H

#include "llmir/Support/Status.h"
#include "mllm/ir/Node.h"

namespace mllm::ir {

class IRContext : public std::enable_shared_from_this<IRContext> {
public:
  DEFINE_SPECIFIC_IR_CLASS(IRContext);

  /// Creates a context with an empty module.
  static ptr_t make();
  /// Takes ownership of an implementation created by another part of LLMIR.
  explicit IRContext(std::unique_ptr<IRContextImpl> impl);
  ~IRContext();

  /// The module.
  op_ptr_t topLevelOp();

  /// Success, or the first failure since the creation of the context or the
  /// last clearStatus(), for example the failure of a trace.
  const llmir::Status &status() const;
  void clearStatus();

  /// Creates a node. An op is created at the end of the current region (before
  /// its terminator) and verified; a value is added with its name and symbol;
  /// an attribute is not attached to anything. Returns null, without side
  /// effects and with a status that names the op and the enclosing module, if
  /// the op is invalid.
  template <typename T, typename... Args>
  std::shared_ptr<T> create(Args &&...args) {
    std::shared_ptr<T> created_node =
        T::build(this, std::forward<Args>(args)...);
    if (!created_node)
      return nullptr;
    if (created_node->template isa_<Op>()) {
      if (!acceptOp(created_node->template cast_<Op>()))
        return nullptr;
    }
    if (created_node->template isa_<Val>())
      nameValue(created_node->template cast_<Val>());
    return created_node;
  }

  /// Verifies the whole module.
  bool verify();

  //===--------------------------------------------------------------------===//
  // Symbols: one table for ops and values
  //===--------------------------------------------------------------------===//

  /// Returns the op or value with this name, with or without a leading '@', or
  /// null.
  node_ptr_t lookupSymbol(const std::string &name);
  node_ptr_t lookupSymbolTable(const std::string &name) {
    return lookupSymbol(name);
  }
  /// Makes a value a symbol. Fails if the name is in use, naming the owner.
  bool addToSymbolTable(const val_ptr_t &value, const std::string &name);
  /// Removes the symbol of a value; false for ops, whose symbols are set on
  /// creation, and for unknown names.
  bool removeFromSymbolTable(const std::string &name);
  /// Returns the first of `base`, base_1, base_2, … that is not a symbol.
  std::string getUniqueModuleName(const std::string &base);

  //===--------------------------------------------------------------------===//
  // Names of values
  //===--------------------------------------------------------------------===//

  /// Sets the name with which the value is printed, %name. A name consists of
  /// letters, digits, '_', '.' and '-', starts with a letter or '_', and must
  /// be unique in its scope.
  bool setValueName(const val_ptr_t &value, const std::string &name);
  /// The number with which the next unnamed value would be printed.
  std::string getAutoIndexedValueName();

  //===--------------------------------------------------------------------===//
  // Insertion point
  //===--------------------------------------------------------------------===//

  /// Sets the region in which ops are created; null for that of the module.
  void resetRegion(const region_ptr_t &region);
  region_ptr_t getCurInsertRegion();

  /// For internal use; see lib/Frontend/IRContextImpl.h and mllm/ir/MLIR.h.
  IRContextImpl &impl() { return *impl_; }
  const IRContextImpl &impl() const { return *impl_; }

private:
  bool acceptOp(const op_ptr_t &op);
  void nameValue(const val_ptr_t &value);

  std::unique_ptr<IRContextImpl> impl_;
};

/// Sets the region in which ops are created for the lifetime of the guard.
class IRWriterGuard {
public:
  IRWriterGuard(const IRContext::ptr_t &context, const region_ptr_t &region)
      : context(context), before(context->getCurInsertRegion()) {
    context->resetRegion(region);
  }
  ~IRWriterGuard() { context->resetRegion(before); }
  IRWriterGuard(const IRWriterGuard &) = delete;
  IRWriterGuard &operator=(const IRWriterGuard &) = delete;

private:
  IRContext::ptr_t context;
  region_ptr_t before;
};

} // namespace mllm::ir

#endif // MLLM_IR_IRCONTEXT_H
