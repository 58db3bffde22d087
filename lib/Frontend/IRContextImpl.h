//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an IRContext holds. Frontend sources make one of a traced module:
//
//   auto impl = std::make_unique<IRContextImpl>(mlirContext,
//   std::move(module)); impl->fail(status);                        // where the
//   trace ended early return std::make_shared<IRContext>(std::move(impl));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_IRCONTEXTIMPL_H
#define LLMIR_LIB_FRONTEND_IRCONTEXTIMPL_H

#include "Errors.h"

#include "llmir/Reference/Tensor.h"
#include "mllm/ir/IRContext.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mllm::ir {

/// An op to be made by IRContextImpl::build.
struct OpRequest {
  /// A value of an attribute and how MLIR stores it: the hint is one of i64,
  /// i32, i1, f64, f32, str, sym, type, i64s, i32s, f64s, syms, strs, any.
  struct Attribute {
    std::string name;
    AttrValue value;
    const char *hint;
  };
  std::string name;                             ///< "mllm.linalg.add".
  std::vector<std::vector<val_ptr_t>> operands; ///< One group per ODS operand.
  std::vector<Attribute> attributes;
  std::vector<TensorType> results; ///< Empty: inferred where the op can.
};

class IRContextImpl : private mlir::RewriterBase::Listener {
public:
  /// Keeps the context alive for as long as the module.
  IRContextImpl(std::shared_ptr<mlir::MLIRContext> context,
                mlir::OwningOpRef<mlir::ModuleOp> module);
  ~IRContextImpl() override;

  mlir::MLIRContext &context() { return *mlirContext; }
  mlir::ModuleOp module() { return *ownedModule; }
  mlir::IRRewriter &rewriter() { return irRewriter; }
  mlir::RewriterBase::Listener *listener() { return this; }
  IRContext *face() { return owner; }

  //===--------------------------------------------------------------------===//
  // Handles
  //===--------------------------------------------------------------------===//

  op_ptr_t wrap(mlir::Operation *op);
  val_ptr_t wrap(mlir::Value value);
  attr_ptr_t wrap(mlir::Attribute attribute);
  region_ptr_t wrap(mlir::Region *region);

  // Null for null and for a dead node.
  static mlir::Operation *unwrap(const Op *op);
  static mlir::Value unwrap(const Val *value);
  static mlir::Attribute unwrap(const Attr *attr);
  static mlir::Region *unwrap(const Region *region);
  static mlir::Operation *unwrap(const op_ptr_t &op) {
    return unwrap(op.get());
  }
  static mlir::Value unwrap(const val_ptr_t &value) {
    return unwrap(value.get());
  }
  static IRContextImpl *of(const Node &node) { return node.owner_; }
  static IRContextImpl *of(const Region &region) { return region.owner_; }

  /// Makes all handles dead but the module's own and those of attributes.
  void forgetOps();
  /// Makes a value's handle dead. `name` is what it was, where the IR cannot
  /// be asked any more.
  void forgetValue(mlir::Value value, std::optional<std::string> name = {});

  //===--------------------------------------------------------------------===//
  // Failure
  //===--------------------------------------------------------------------===//

  const llmir::Status &status() const { return firstFailure; }
  void clearStatus() { firstFailure = llmir::Status(); }
  /// Keeps the first failure and reports each. Gives false.
  bool fail(llmir::Status failure);
  bool fail(std::string cause, std::string advice = {});
  /// True, with a status, where a handle is of another context: its IR is not
  /// this context's to change. Dead handles and null are of none.
  bool refuseForeign(const node_ptr_t &node);
  bool refuseForeign(const region_ptr_t &region);

  //===--------------------------------------------------------------------===//
  // Making ops
  //===--------------------------------------------------------------------===//

  /// Makes the op where ops are created, and does not verify it; null with a
  /// status where its request is wrong.
  op_ptr_t build(const OpRequest &request);
  /// A subgraph with a body of its arguments and no ops.
  op_ptr_t buildSubGraph(const std::string &name,
                         const std::vector<TensorType> &arguments,
                         const std::vector<TensorType> &results);
  /// What an op says about itself alone, its symbols included, but not about
  /// what its regions hold; a sentence when it is wrong.
  std::string verifyAlone(mlir::Operation *op);
  /// Why an op must not stand where it does, because of what it uses, what uses
  /// it, or a terminator; empty when it may.
  static std::string whyOutOfOrder(mlir::Operation *op);

  mlir::Type type(const TensorType &type);
  static std::optional<TensorType> type(mlir::Type type);
  /// Null, with a status, where the value does not fit the hint.
  mlir::Attribute attribute(const AttrValue &value, const char *hint = "any");

  //===--------------------------------------------------------------------===//
  // Values: their dictionary is an entry of arg_attrs, or of mllm.res_attrs
  //===--------------------------------------------------------------------===//

  bool setValueAttributes(mlir::Value value, mlir::DictionaryAttr attributes);

  /// The op or value that has the name; null when there is none.
  node_ptr_t lookupSymbol(llvm::StringRef name);

  /// The numbers of a parameter, by its path; empty where no trace has made the
  /// module.
  std::function<llmir::Expected<const llmir::reference::Tensor *>(
      llvm::StringRef)>
      parameter;

  mlir::Region *region = nullptr;   ///< Where ops are created: at its end, or
  mlir::Operation *place = nullptr; ///< before or after this op of it.
  bool placeIsAfter = false;

private:
  friend class IRContext;
  void notifyOperationErased(mlir::Operation *op) override;
  void notifyBlockErased(mlir::Block *block) override;
  void kill(Node &node, std::string formerName);
  void setInsertionPoint(bool isTerminator);

  std::shared_ptr<mlir::MLIRContext> mlirContext;
  mlir::OwningOpRef<mlir::ModuleOp> ownedModule;
  mlir::IRRewriter irRewriter;
  IRContext *owner = nullptr;
  llmir::Status firstFailure;

  llvm::DenseMap<mlir::Operation *, op_ptr_t> ops;
  llvm::DenseMap<mlir::Value, val_ptr_t> values;
  llvm::DenseMap<mlir::Region *, region_ptr_t> regions;
  llvm::DenseMap<mlir::Attribute, attr_ptr_t> attributes;
};

} // namespace mllm::ir

#endif // LLMIR_LIB_FRONTEND_IRCONTEXTIMPL_H
