//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table from ops to their evaluators, and what an evaluator works with.
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
  Place place; ///< Where its elements are, in a run in planned memory.
};

/// The values of one function while it runs.
struct Frame {
  int64_t numRanks = 1;
  int64_t numCallers = 0; ///< Functions that wait for this one's results.
  const InterpreterOptions *options = nullptr;
  /// What ops of the mllm dialect keep; null where an op is evaluated by
  /// itself.
  ModelState *state = nullptr;
  /// The memory that all frames of a run share; null where the values have no
  /// place in it.
  Arena *memory = nullptr;
  int64_t firstLine = 0; ///< Of the function's own part of the memory.
  llvm::DenseMap<mlir::Value, RankValues> values;
  /// [rank] before rounding, of values that the function returns.
  llvm::DenseMap<mlir::Value, reference::RankTensors> exact;
};

/// One op on one rank. All ranks have evaluated the ops before it.
class Evaluation {
public:
  Evaluation(Frame &frame, mlir::Operation *op, int64_t rank)
      : frame(frame), op(op), thisRank(rank) {}

  int64_t rank() const { return thisRank; }
  int64_t numRanks() const { return frame.numRanks; }
  const InterpreterOptions &options() const { return *frame.options; }
  /// What the model keeps from step to step; null where the op is evaluated by
  /// itself and depends on nothing else.
  ModelState *state() const { return frame.state; }

  /// The value of an operand on this rank.
  const InterpreterValue &value(mlir::Value operand) const;
  const Tensor &tensor(mlir::Value operand) const {
    return std::get<Tensor>(value(operand));
  }
  /// Null for an operand that is absent.
  const Tensor *tensorIf(mlir::Value operand) const {
    return operand ? &tensor(operand) : nullptr;
  }
  const PagedCache &cache(mlir::Value operand) const {
    return std::get<PagedCache>(value(operand));
  }
  /// A weight's numbers, decoded where it has a format.
  Tensor weight(mlir::Value operand) const;
  /// The numbers of a registered parameter, decoded where it has a format.
  mlir::FailureOr<Tensor> parameter(mlir::FlatSymbolRefAttr symbol) const;
  /// The integer of a scalar; 0 where the operand is absent (a layer).
  int64_t integer(mlir::Value operand) const;
  /// The operand's value on every rank.
  reference::RankTensors onAllRanks(mlir::Value operand) const;

  /// Gives a result its value: a tensor is rounded to the result's element
  /// type and must have the result's shape.
  LogicalResult set(mlir::Value result, InterpreterValue value);

  /// Gives a result what a reference function computed, or reports its failure
  /// at the op.
  LogicalResult setChecked(mlir::Value result, Expected<Tensor> tensor) {
    return tensor ? set(result, std::move(*tensor)) : fail(tensor.status());
  }

  /// Reports a failure of the reference library at the op.
  LogicalResult fail(const Status &status);
  /// Fails unless every index is from 0 up to but without `end`.
  LogicalResult checkIndices(const Tensor &indices, int64_t end,
                             llvm::StringRef what);

private:
  Frame &frame;
  mlir::Operation *op;
  int64_t thisRank;
};

using Evaluator = std::function<LogicalResult(mlir::Operation *, Evaluation &)>;

/// Op names with their evaluators.
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

/// All of them, made once.
const EvaluatorTable &getEvaluators();
/// The op's row of the table, or what its dialect brings along; null for an op
/// that has neither.
const Evaluator *evaluatorOf(mlir::Operation *op);

/// What a function gives for these arguments, all ranks in lockstep.
mlir::FailureOr<std::vector<RankValues>>
runFunction(mlir::FunctionOpInterface function, Frame &frame,
            std::vector<RankValues> arguments);

void addLLMEvaluators(EvaluatorTable &table);
void addCacheEvaluators(EvaluatorTable &table);
void addDistributedEvaluators(EvaluatorTable &table);
void addFusedEvaluators(EvaluatorTable &table);
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

/// What a scalar op of arith or math computes from rounded operands, before
/// rounding; nullopt where it is none of those that are known.
std::optional<Number> evaluateScalar(mlir::Operation *op,
                                     llvm::ArrayRef<Number> operands);

} // namespace llmir::interpreter

#endif // LLMIR_LIB_INTERPRETER_EVALUATION_H
