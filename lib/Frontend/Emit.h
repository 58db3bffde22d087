//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creation of ops by layers and functions. In a trace, an op is created, its
// result types are inferred, and it is verified; outside a trace, the same
// happens in a thread-local module, and the op is evaluated immediately by the
// interpreter and erased.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_EMIT_H
#define LLMIR_LIB_FRONTEND_EMIT_H

#include "TensorImpl.h"

#include "llmir/Dialect/Diagnostics.h"
#include "mllm/nn/Module.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace mllm {

/// The destination of ops: a trace, or the eager engine of the thread.
class Engine {
public:
  explicit Engine(mlir::MLIRContext *context) : opBuilder(context) {}
  virtual ~Engine() = default;

  /// The builder at the insertion point.
  mlir::OpBuilder &builder() { return opBuilder; }
  /// The location of a layer, or, if null, of the current module.
  virtual mlir::Location location(const nn::Component *layer) = 0;
  /// Returns the SSA value of an operand; null after a failure.
  virtual mlir::Value valueOf(const Tensor &tensor) = 0;
  /// Returns the symbol of a parameter, which is registered on first use; null
  /// after a failure.
  virtual mlir::FlatSymbolRefAttr symbol(const nn::Parameter &parameter) = 0;
  /// Returns the results of a verified op.
  virtual std::vector<Tensor> take(mlir::Operation *op,
                                   const std::vector<Tensor> &operands,
                                   const nn::Component *layer) = 0;
  /// Records the failure `what` at `where` with advice, unless there is one
  /// already. Returns a null tensor.
  virtual Tensor fail(mlir::Location where, const std::string &what,
                      const std::string &advice) = 0;
  /// Whether an earlier operation has failed, which explains null tensors.
  virtual bool hasFailed() const = 0;

protected:
  mlir::OpBuilder opBuilder;
};

/// Advice on invalid ops.
inline constexpr char fitAdvice[] =
    "change the module so that shapes, types and attributes match";

/// Failure of a module whose forward() returned no tensor.
inline constexpr char noResult[] = "forward() returned no tensor";
inline constexpr char noResultAdvice[] =
    "return the tensors that the module computes";

/// Returns the engine of the first traced tensor; without operands, or if one
/// is null, that of the active trace; otherwise the eager engine of the thread.
Engine &engineOf(const std::vector<Tensor> &operands);
/// Whether an operand of `what` is null. This is reported as a failure in
/// `layer` unless an earlier operation has failed.
bool hasNull(const std::vector<Tensor> &operands, const std::string &what,
             const nn::Component *layer = nullptr);
/// The eager engine of the thread.
Engine &eagerEngine();
/// The innermost active trace of this thread, or null.
Engine *&currentTracer();

/// A builder of an op: Call("mllm.linalg.softmax", {x}).i64("axis", -1).one().
class Call {
public:
  Call(const char *name, std::vector<Tensor> operands,
       const nn::Component *layer = nullptr)
      : name(name), operands(std::move(operands)), layer(layer) {}

  Call &i64(const char *key, int64_t number);
  Call &f64(const char *key, double number);
  Call &str(const char *key, const std::string &text);
  Call &boolean(const char *key, bool value);
  /// Adds a unit attribute if `value` holds.
  Call &flag(const char *key, bool value);
  Call &i64s(const char *key, std::vector<int64_t> numbers);
  Call &f64s(const char *key, std::vector<double> numbers);
  Call &attribute(const char *key,
                  std::function<mlir::Attribute(mlir::Builder &)> make);
  Call &parameter(const char *key, const nn::Parameter &parameter);
  /// Adds a result whose type cannot be inferred: with this shape, otherwise
  /// like the first operand.
  Call &result(llmir::shapes::Shape dims);
  Call &result(llmir::shapes::Shape dims, DataTypes dtype);
  /// The source location of the operator, for messages and locations.
  Call &at(const char *file, int line);

  /// Creates the op and returns its results; `count` null tensors on failure.
  std::vector<Tensor> all(size_t count);
  Tensor one() { return all(1).front(); }

private:
  const char *name;
  std::vector<Tensor> operands;
  const nn::Component *layer;
  std::vector<
      std::pair<const char *, std::function<mlir::Attribute(mlir::Builder &)>>>
      attributes;
  std::vector<std::pair<const char *, const nn::Parameter *>> parameters;
  std::vector<std::pair<llmir::shapes::Shape, DataTypes>> results;
  const char *file = nullptr;
  int line = 0;
};

} // namespace mllm

#endif // LLMIR_LIB_FRONTEND_EMIT_H
