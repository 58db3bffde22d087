//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of IRContext. Frontend sources create one for a traced
// module:
//
//   auto impl = std::make_unique<IRContextImpl>(mlirContext,
//   std::move(module)); impl->fail(status);                        // if the
//   trace failed return std::make_shared<IRContext>(std::move(impl));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_IRCONTEXTIMPL_H
#define LLMIR_LIB_FRONTEND_IRCONTEXTIMPL_H

#include "llmir/Dialect/Diagnostics.h"
#include "llmir/Reference/Tensor.h"
#include "mllm/ir/IRContext.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mllm::ir {

/// A request for IRContextImpl::build.
struct OpRequest {
  /// An attribute value and its MLIR representation: the hint is one of i64,
  /// i32, i1, f64, f32, str, sym, type, i64s, i32s, f64s, syms, strs, any.
  struct Attribute {
    std::string name;
    AttrValue value;
    const char *hint;
  };
  std::string name;                             ///< "mllm.linalg.add".
  std::vector<std::vector<val_ptr_t>> operands; ///< One group per ODS operand.
  std::vector<Attribute> attributes;
  std::vector<TensorType> results; ///< Empty: inferred, if possible.
};

class IRContextImpl : private mlir::RewriterBase::Listener {
public:
  /// Keeps the context alive as long as the module.
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

  // Returns null for null and for dead nodes.
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

  /// Marks all handles as dead, except those of the module and of attributes.
  void forgetOps();
  /// Marks a value's handle as dead. `name` describes the value if the IR
  /// cannot be queried any more.
  void forgetValue(mlir::Value value, std::optional<std::string> name = {});

  //===--------------------------------------------------------------------===//
  // Failure
  //===--------------------------------------------------------------------===//

  const llmir::Status &status() const { return firstFailure; }
  void clearStatus() { firstFailure = llmir::Status(); }
  /// Records the first failure and reports each. Returns false.
  bool fail(llmir::Status failure);
  bool fail(std::string cause, std::string advice = {});
  /// Returns true, with a status, if a handle belongs to another context, whose
  /// IR must not be modified. Dead handles and null belong to none.
  bool refuseForeign(const node_ptr_t &node);
  bool refuseForeign(const region_ptr_t &region);

  //===--------------------------------------------------------------------===//
  // Creation of ops
  //===--------------------------------------------------------------------===//

  /// Creates an op at the insertion point without verifying it; null, with a
  /// status, for an invalid request.
  op_ptr_t build(const OpRequest &request);
  /// Creates a subgraph with arguments and an empty body.
  op_ptr_t buildSubGraph(const std::string &name,
                         const std::vector<TensorType> &arguments,
                         const std::vector<TensorType> &results);
  /// Verifies an op and its symbols, but not its regions; returns an error
  /// message or an empty string.
  std::string verifyAlone(mlir::Operation *op);
  /// Returns the reason why the position of an op is invalid (its operands, its
  /// users, or a terminator); empty if it is valid.
  static std::string whyOutOfOrder(mlir::Operation *op);

  mlir::Type type(const TensorType &type);
  static std::optional<TensorType> type(mlir::Type type);
  /// Returns null, with a status, if the value does not match the hint.
  mlir::Attribute attribute(const AttrValue &value, const char *hint = "any");

  //===--------------------------------------------------------------------===//
  // Values: their dictionary is an element of arg_attrs or of mllm.res_attrs
  //===--------------------------------------------------------------------===//

  bool setValueAttributes(mlir::Value value, mlir::DictionaryAttr attributes);

  /// Returns the op or value with the name, or null.
  node_ptr_t lookupSymbol(llvm::StringRef name);

  /// The elements of a parameter by path; not set if the module was not traced.
  std::function<llmir::Expected<const llmir::reference::Tensor *>(
      llvm::StringRef)>
      parameter;

  mlir::Region *region = nullptr;   ///< Insertion point: its end, or
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
