//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of the ops on states of layers: MLLMStateOps.td, LLMStateOps.td.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/ModelState.h"
#include "llmir/Reference/Recurrence.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace mlir::llm;
using namespace llmir;
using namespace llmir::interpreter;
using reference::LinearAttention;

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

//===----------------------------------------------------------------------===//
// Dynamic sizes
//===----------------------------------------------------------------------===//

static Status checkConv(const Tensor &x, const Tensor &weight) {
  if (x.dim(1) == weight.dim(1) && weight.dim(0) >= 1 && weight.dim(0) <= 64)
    return Status::ok();
  return invalid("inputs " + typeString(x) + " and factors " +
                 typeString(weight) + " do not match");
}

static reference::Shape tailShape(const Tensor &weight) {
  return {weight.dim(0) - 1, weight.dim(1)};
}

static Status checkAttention(const LinearAttention &operands) {
  const Tensor &k = operands.k, &v = operands.v;
  const reference::Shape perHead = {v.dim(0), v.dim(1)};
  if (operands.q.shape == k.shape && k.dim(0) == v.dim(0) && k.dim(1) > 0 &&
      v.dim(1) % k.dim(1) == 0 && operands.decay.shape == perHead &&
      (!operands.beta || operands.beta->shape == perHead))
    return Status::ok();
  return invalid("queries " + typeString(operands.q) + ", keys " +
                 typeString(k) + ", values " + typeString(v) +
                 " and their factors do not match");
}

static reference::Shape matricesShape(const LinearAttention &operands) {
  return {operands.v.dim(1), operands.k.dim(2), operands.v.dim(2)};
}

template <typename OpT>
static LinearAttention operandsOf(OpT op, Evaluation &e) {
  return {e.tensor(op.getQ()),      e.tensor(op.getK()),
          e.tensor(op.getV()),      e.tensor(op.getDecay()),
          e.tensorIf(op.getBeta()), op.getInterleaved()};
}

//===----------------------------------------------------------------------===//
// mllm: one sequence
//===----------------------------------------------------------------------===//

/// The state of a model; null, with a diagnostic, if there is none.
static ModelState *stateOf(Evaluation &e) {
  if (!e.state())
    (void)e.fail(invalid("it depends on earlier steps"));
  else if (e.numRanks() != 1)
    (void)e.fail(invalid("a state belongs to one rank"));
  else
    return e.state();
  return nullptr;
}

static LogicalResult evaluateConv(mllm::CausalConvOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX()), &weight = e.tensor(op.getWeight());
  ModelState *state = stateOf(e);
  if (!state)
    return failure();
  if (Status status = checkConv(x, weight); !status)
    return e.fail(status);
  Expected<Tensor *> tail =
      state->kept(static_cast<int64_t>(op.getLayer()), ModelState::Kept::Tail,
                  x.kind, tailShape(weight));
  if (!tail)
    return e.fail(tail.status());
  return e.set(op, causalConv(x, weight, **tail));
}

static LogicalResult evaluateAttention(mllm::LinearAttentionOp op,
                                       Evaluation &e) {
  const LinearAttention operands = operandsOf(op, e);
  ModelState *state = stateOf(e);
  if (!state)
    return failure();
  if (Status status = checkAttention(operands); !status)
    return e.fail(status);
  Expected<Tensor *> matrices = state->kept(
      static_cast<int64_t>(op.getLayer()), ModelState::Kept::Matrices,
      reference::ElementKind::F32, matricesShape(operands));
  if (!matrices)
    return e.fail(matrices.status());
  return e.set(op, linearAttention(operands, **matrices));
}

//===----------------------------------------------------------------------===//
// llm: a ragged batch
//===----------------------------------------------------------------------===//

/// Calls body(first row, number of rows, state) for each sequence of the step.
template <typename OpT, typename Body>
static LogicalResult overSequences(OpT op, int64_t tokens, PagedCache &cache,
                                   const reference::Shape &shape, Evaluation &e,
                                   Body &&body) {
  const std::vector<int64_t> &slots = e.tensor(op.getSlots()).integers();
  const std::vector<int64_t> &offsets =
      e.tensor(op.getQueryOffsets()).integers();
  if (offsets.size() != slots.size() + 1 || offsets.front() != 0 ||
      offsets.back() != tokens || !llvm::is_sorted(offsets))
    return e.fail(invalid("the offsets do not divide " +
                          std::to_string(tokens) + " rows among " +
                          std::to_string(slots.size()) + " sequences"));
  if (Status status = reference::checkAffordable(shape); !status)
    return e.fail(status);
  for (size_t s = 0; s < slots.size(); ++s) {
    Expected<Tensor *> state =
        cache.state(e.integer(op.getLayer()), op.getOffset(), slots[s], shape);
    if (!state)
      return e.fail(state.status());
    body(offsets[s], offsets[s + 1] - offsets[s], **state);
  }
  return success();
}

/// Copies the rows of a sequence into the result of all of them.
static void copyRows(const Tensor &rows, int64_t first, Tensor &all) {
  if (rows.size() > 0)
    std::copy(rows.floats().begin(), rows.floats().end(),
              all.floats().begin() + first * (rows.size() / rows.dim(0)));
}

static LogicalResult evaluateCausalConv(CausalConvOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX()), &weight = e.tensor(op.getWeight());
  if (Status status = checkConv(x, weight); !status)
    return e.fail(status);
  PagedCache cache = e.cache(op.getCache());
  Tensor result(x.kind, x.shape);
  if (failed(overSequences(op, x.dim(0), cache, tailShape(weight), e,
                           [&](int64_t first, int64_t count, Tensor &tail) {
                             copyRows(causalConv(x.slice(0, first, count),
                                                 weight, tail),
                                      first, result);
                           })))
    return failure();
  return failure(failed(e.set(op.getResult(), std::move(result))) ||
                 failed(e.set(op.getUpdatedCache(), std::move(cache))));
}

static LogicalResult evaluateLinearAttention(LinearAttentionOp op,
                                             Evaluation &e) {
  const LinearAttention all = operandsOf(op, e);
  if (Status status = checkAttention(all); !status)
    return e.fail(status);
  PagedCache cache = e.cache(op.getCache());
  Tensor result(all.v.kind, all.v.shape);
  auto advance = [&](int64_t first, int64_t count, Tensor &matrices) {
    const Tensor q = all.q.slice(0, first, count);
    const Tensor k = all.k.slice(0, first, count);
    const Tensor v = all.v.slice(0, first, count);
    const Tensor decay = all.decay.slice(0, first, count);
    Tensor beta;
    if (all.beta)
      beta = all.beta->slice(0, first, count);
    copyRows(linearAttention(
                 {q, k, v, decay, all.beta ? &beta : nullptr, all.interleaved},
                 matrices),
             first, result);
  };
  if (failed(overSequences(op, all.v.dim(0), cache, matricesShape(all), e,
                           advance)))
    return failure();
  return failure(failed(e.set(op.getResult(), std::move(result))) ||
                 failed(e.set(op.getUpdatedCache(), std::move(cache))));
}

void llmir::interpreter::addStateEvaluators(EvaluatorTable &table) {
  table.add(evaluateConv);
  table.add(evaluateAttention);
  table.add(evaluateCausalConv);
  table.add(evaluateLinearAttention);
}
