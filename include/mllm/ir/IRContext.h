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
// A call that cannot be carried out gives null, leaves the IR as it was, and
// says why: in status(), and to the error handler (mllm/Utils/Common.hpp).
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

  /// A context with an empty module.
  static ptr_t make();
  /// Takes what another part of LLMIR has made.
  explicit IRContext(std::unique_ptr<IRContextImpl> impl);
  ~IRContext();

  /// The module.
  op_ptr_t topLevelOp();

  /// Success, or the first failure since the context was made or clearStatus()
  /// was called, for example why a trace ended.
  const llmir::Status &status() const;
  void clearStatus();

  /// Makes a node. An op goes to the end of the region in which ops are created
  /// (before its terminator), and is verified at once; a value gets its place,
  /// its name and its symbol; an attribute stands for itself. Null, with a
  /// status that names the op and the module around it, where the op is wrong:
  /// then nothing was made.
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

  /// The op or value with this name ('@' may stand before it); null when there
  /// is none.
  node_ptr_t lookupSymbol(const std::string &name);
  node_ptr_t lookupSymbolTable(const std::string &name) {
    return lookupSymbol(name);
  }
  /// Makes a value a symbol. Fails when the name is taken, naming by what.
  bool addToSymbolTable(const val_ptr_t &value, const std::string &name);
  /// Takes a value's name with global scope away; false for an op (ops are
  /// named when they are made) and for a name that nothing has.
  bool removeFromSymbolTable(const std::string &name);
  /// `base`, or base_1, base_2, …: the first that no symbol has.
  std::string getUniqueModuleName(const std::string &base);

  //===--------------------------------------------------------------------===//
  // Names of values
  //===--------------------------------------------------------------------===//

  /// Prints the value as %name. A name begins with a letter or '_' and goes on
  /// with letters, digits, '_', '.' and '-'; another value of the same scope
  /// must not have it.
  bool setValueName(const val_ptr_t &value, const std::string &name);
  /// The number that the next value without a name would be printed with.
  std::string getAutoIndexedValueName();

  //===--------------------------------------------------------------------===//
  // Where ops are created
  //===--------------------------------------------------------------------===//

  /// Ops go to the end of `region` from now on; null means the module's.
  void resetRegion(const region_ptr_t &region);
  region_ptr_t getCurInsertRegion();

  /// For LLMIR's own parts; see lib/Frontend/IRContextImpl.h and
  /// mllm/ir/MLIR.h.
  IRContextImpl &impl() { return *impl_; }
  const IRContextImpl &impl() const { return *impl_; }

private:
  bool acceptOp(const op_ptr_t &op);
  void nameValue(const val_ptr_t &value);

  std::unique_ptr<IRContextImpl> impl_;
};

/// Ops go to the end of a region for as long as the guard lives.
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
