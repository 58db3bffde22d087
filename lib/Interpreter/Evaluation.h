//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The evaluator table, and the context of evaluators.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_INTERPRETER_EVALUATION_H
#define LLMIR_LIB_INTERPRETER_EVALUATION_H

#include "Arena.h"

#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Reference/Collectives.h"
#include "llmir/Reference/ModelState.h"
#include "llvm/ADT/StringMap.h"

namespace llmir::interpreter {

using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using reference::ElementKind;
using reference::Number;
using reference::PagedCache;
using reference::Shape;
using reference::Tensor;

/// [rank]
struct RankValues : std::vector<InterpreterValue> {
  using std::vector<InterpreterValue>::vector;
  Place place; ///< Location of the elements in planned memory.
};

/// The values of one function while it runs.
struct Frame {
  int64_t numRanks = 1;
  int64_t numCallers = 0; ///< Call depth.
  const InterpreterOptions *options = nullptr;
  /// The state of mllm ops; null if an op is evaluated in isolation.
  ModelState *state = nullptr;
  /// The planned memory shared by all frames of a run; null without a plan.
  Arena *memory = nullptr;
  int64_t firstLine = 0; ///< First line of the frame in memory.
  llvm::DenseMap<mlir::Value, RankValues> values;
  /// [rank] before rounding, of values that the function returns.
  llvm::DenseMap<mlir::Value, reference::RankTensors> exact;
};

/// Evaluation of one op on one rank. All ranks have evaluated the preceding
/// ops.
class Evaluation {
public:
  Evaluation(Frame &frame, mlir::Operation *op, int64_t rank)
      : frame(frame), op(op), thisRank(rank) {}

  int64_t rank() const { return thisRank; }
  int64_t numRanks() const { return frame.numRanks; }
  const InterpreterOptions &options() const { return *frame.options; }
  /// The state kept between steps; null if the op is evaluated in isolation.
  ModelState *state() const { return frame.state; }

  /// The value of an operand on this rank.
  const InterpreterValue &value(mlir::Value operand) const;
  const Tensor &tensor(mlir::Value operand) const {
    return std::get<Tensor>(value(operand));
  }
  /// Returns null for an absent operand.
  const Tensor *tensorIf(mlir::Value operand) const {
    return operand ? &tensor(operand) : nullptr;
  }
  const PagedCache &cache(mlir::Value operand) const {
    return std::get<PagedCache>(value(operand));
  }
  /// The elements of a weight, dequantized if it has a format.
  Tensor weight(mlir::Value operand) const;
  /// The elements of a registered parameter, dequantized if it has a format.
  mlir::FailureOr<Tensor> parameter(mlir::FlatSymbolRefAttr symbol) const;
  /// The integer value of a scalar; 0 if the operand is absent (a layer).
  int64_t integer(mlir::Value operand) const;
  /// The values of the operand on all ranks.
  reference::RankTensors onAllRanks(mlir::Value operand) const;

  /// Sets the value of a result: a tensor is rounded to the result's element
  /// type and must have the result's shape.
  LogicalResult set(mlir::Value result, InterpreterValue value);

  /// Sets the value of a result from a reference function, or reports its
  /// failure at the op.
  LogicalResult setChecked(mlir::Value result, Expected<Tensor> tensor) {
    return tensor ? set(result, std::move(*tensor)) : fail(tensor.status());
  }

  /// Reports a failure of the reference library at the op.
  LogicalResult fail(const Status &status);
  /// Fails unless all indices are in [0, end).
  LogicalResult checkIndices(const Tensor &indices, int64_t end,
                             llvm::StringRef what);

private:
  Frame &frame;
  mlir::Operation *op;
  int64_t thisRank;
};

using Evaluator = std::function<LogicalResult(mlir::Operation *, Evaluation &)>;

/// Evaluators by op name.
class EvaluatorTable {
public:
  void add(llvm::StringRef name, Evaluator evaluator) {
    table[name] = std::move(evaluator);
  }
  template <typename OpT>
  void add(LogicalResult (*function)(OpT, Evaluation &)) {
    add(OpT::getOperationName(),
        [function](mlir::Operation *op, Evaluation &e) {
          return function(llvm::cast<OpT>(op), e);
        });
  }
  const Evaluator *find(llvm::StringRef name) const {
    auto found = table.find(name);
    return found == table.end() ? nullptr : &found->second;
  }
  std::vector<std::string> names() const;

private:
  llvm::StringMap<Evaluator> table;
};

/// The table of all evaluators, created once.
const EvaluatorTable &getEvaluators();
/// The evaluator of an op from the table or from its dialect, or null.
const Evaluator *evaluatorOf(mlir::Operation *op);

/// Runs a function with these arguments, with all ranks in lockstep.
mlir::FailureOr<std::vector<RankValues>>
runFunction(mlir::FunctionOpInterface function, Frame &frame,
            std::vector<RankValues> arguments);

void addLLMEvaluators(EvaluatorTable &table);
void addCacheEvaluators(EvaluatorTable &table);
void addDistributedEvaluators(EvaluatorTable &table);
void addFusedEvaluators(EvaluatorTable &table);
void addStateEvaluators(EvaluatorTable &table);
void addArithEvaluators(EvaluatorTable &table);
void addTensorEvaluators(EvaluatorTable &table);
void addLinalgEvaluators(EvaluatorTable &table);
void addCheckEvaluators(EvaluatorTable &table);
void addMLLMElementwiseEvaluators(EvaluatorTable &table);
void addMLLMShapeEvaluators(EvaluatorTable &table);
void addMLLMIndexEvaluators(EvaluatorTable &table);
void addMLLMNNEvaluators(EvaluatorTable &table);
void addMLLMAttentionEvaluators(EvaluatorTable &table);
void addMLLMVisionEvaluators(EvaluatorTable &table);
void addMLLMSignalEvaluators(EvaluatorTable &table);
void addMLLMTensorEvaluators(EvaluatorTable &table);

/// Evaluates a scalar arith or math op on rounded operands, before rounding the
/// result; nullopt for unsupported ops.
std::optional<Number> evaluateScalar(mlir::Operation *op,
                                     llvm::ArrayRef<Number> operands);

} // namespace llmir::interpreter

#endif // LLMIR_LIB_INTERPRETER_EVALUATION_H
