//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tracing: a module tree runs once on symbolic values and leaves a context with
// a real `mllm` module. No MLIR in this header.
//
//   auto ir_ctx = mllm::ir::trace(llm, Tensor::empty({1, 128}, kInt64));
//   auto dump_printer = IRPrinter();
//   ir_ctx->topLevelOp()->dump(dump_printer);
//
// Each module instance becomes a subgraph named by its path, each layer an op
// whose location is the layer's path, each parameter a register op. A module
// that is called again, with other shapes or in another state, becomes another
// subgraph, named path_1, path_2, ….
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_TRACE_H
#define MLLM_IR_TRACE_H

#include "mllm/ir/IRContext.h"
#include "mllm/nn/Module.h"

#include <functional>

namespace mllm::ir {

/// Traces a model for inputs of these shapes (Tensor::empty). Parameters must
/// have been loaded before. Never null: when the trace failed, the context's
/// status says where and why, it was printed once to the standard error, and
/// the module is empty. The result is verified.
IRContext::ptr_t trace(nn::Module &model, const std::vector<Tensor> &inputs);

template <typename... Inputs>
IRContext::ptr_t trace(nn::Module &model, const Tensor &first,
                       const Inputs &...rest) {
  return trace(model, std::vector<Tensor>{first, rest...});
}

using Tensors = std::vector<Tensor>;

// After a failure these give null tensors, as many as there would be results,
// as the step before gave one; the reason is kept as for every other step.

/// `then()` where the condition, one truth value, holds, else `otherwise()`;
/// both give tensors of the same types. In a trace both are traced. Called with
/// numbers only one runs, so that only the trace sees types that differ. Where
/// the condition is refused, `then` runs for the number of its results.
Tensors if_(const Tensor &condition, const std::function<Tensors()> &then,
            const std::function<Tensors()> &otherwise);

/// Starts with `init` and takes `body` of the values as long as `condition` of
/// them holds; gives the last ones. Types stay the same.
Tensors while_(const Tensors &init,
               const std::function<Tensor(const Tensors &)> &condition,
               const std::function<Tensors(const Tensors &)> &body);

/// Takes `body` of the number of the turn and the values `count` times.
Tensors
for_(const Tensor &count, const Tensors &init,
     const std::function<Tensors(const Tensor &, const Tensors &)> &body);

} // namespace mllm::ir

#endif // MLLM_IR_TRACE_H
