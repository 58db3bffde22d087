//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one way in which layers and functions make ops. In a trace the op is
// made, its result types are inferred, and it is verified; outside one the same
// happens in a module of the thread's own, and the op is evaluated at once by
// the interpreter's evaluators and erased.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_EMIT_H
#define LLMIR_LIB_FRONTEND_EMIT_H

#include "Errors.h"
#include "TensorImpl.h"

#include "mllm/nn/Module.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace mllm {

/// Where ops are made: a trace, or the thread's place for computing at once.
class Engine {
public:
  explicit Engine(mlir::MLIRContext *context) : opBuilder(context) {}
  virtual ~Engine() = default;

  /// At the place where ops are made.
  mlir::OpBuilder &builder() { return opBuilder; }
  /// Names the layer, or what runs when it is null.
  virtual mlir::Location location(const nn::Component *layer) = 0;
  /// The SSA value of an operand; null after a failure.
  virtual mlir::Value valueOf(const Tensor &tensor) = 0;
  /// The symbol of a parameter, registered when it is first asked for; null
  /// after a failure.
  virtual mlir::FlatSymbolRefAttr symbol(const nn::Parameter &parameter) = 0;
  /// The results of an op that has been verified.
  virtual std::vector<Tensor> take(mlir::Operation *op,
                                   const std::vector<Tensor> &operands,
                                   const nn::Component *layer) = 0;
  /// `what` went wrong in `where`, and what to do about it; the first failure
  /// stays. A null tensor.
  virtual Tensor fail(mlir::Location where, const std::string &what,
                      const std::string &advice) = 0;
  /// Whether a step before has failed, so that null tensors are no news.
  virtual bool hasFailed() const = 0;

protected:
  mlir::OpBuilder opBuilder;
};

/// What to do about an op that is not valid.
inline constexpr char fitAdvice[] =
    "change the module so that shapes, types and attributes fit each other";

/// What to say of a module whose forward() gave nothing.
inline constexpr char noResult[] = "forward() gave no tensor";
inline constexpr char noResultAdvice[] =
    "return the tensors that the module computes";

/// The engine of the first tensor that is traced; where there are no operands,
/// or one is null, of the trace that goes on; else the thread's own.
Engine &engineOf(const std::vector<Tensor> &operands);
/// Whether a tensor that `what` takes is null. Where no step before has failed,
/// that is a failure of its own, in `layer`.
bool hasNull(const std::vector<Tensor> &operands, const std::string &what,
             const nn::Component *layer = nullptr);
/// The thread's place for computing at once.
Engine &eagerEngine();
/// The innermost trace that goes on in this thread, or null.
Engine *&currentTracer();

/// An op in the making: Call("mllm.linalg.softmax", {x}).i64("axis", -1).one().
class Call {
public:
  Call(const char *name, std::vector<Tensor> operands,
       const nn::Component *layer = nullptr)
      : name(name), operands(std::move(operands)), layer(layer) {}

  Call &i64(const char *key, int64_t number);
  Call &f64(const char *key, double number);
  Call &str(const char *key, const std::string &text);
  Call &boolean(const char *key, bool value);
  /// A unit attribute where `value` holds.
  Call &flag(const char *key, bool value);
  Call &i64s(const char *key, std::vector<int64_t> numbers);
  Call &f64s(const char *key, std::vector<double> numbers);
  Call &attribute(const char *key,
                  std::function<mlir::Attribute(mlir::Builder &)> make);
  Call &parameter(const char *key, const nn::Parameter &parameter);
  /// A result whose type the op cannot infer: of this shape, else like the
  /// first operand.
  Call &result(llmir::shapes::Shape dims);
  Call &result(llmir::shapes::Shape dims, DataTypes dtype);
  /// For messages and locations: the line of the operator.
  Call &at(const char *file, int line);

  /// The results; as many null tensors as `count` where something failed.
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
