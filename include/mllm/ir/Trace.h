//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tracing: runs a module tree once on symbolic values and returns a context
// with its `mllm` module. No MLIR in this header.
//
//   auto ir_ctx = mllm::ir::trace(llm, Tensor::empty({1, 128}, kInt64));
//   auto dump_printer = IRPrinter();
//   ir_ctx->topLevelOp()->dump(dump_printer);
//
// Each module instance becomes a subgraph named by its path, each layer an op
// whose location is its path, each parameter a register op. A module that is
// called again with different shapes or in a different state becomes another
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
/// have been loaded. Never returns null: if the trace fails, the context's
/// status holds the location and reason, which are also printed once to stderr,
/// and the module is empty. The result is verified.
IRContext::ptr_t trace(nn::Module &model, const std::vector<Tensor> &inputs);

template <typename... Inputs>
IRContext::ptr_t trace(nn::Module &model, const Tensor &first,
                       const Inputs &...rest) {
  return trace(model, std::vector<Tensor>{first, rest...});
}

using Tensors = std::vector<Tensor>;

// After a failure, these functions return one null tensor per result; the
// status is handled as for all other operations.

/// `then()` if the condition, a single truth value, holds, otherwise
/// `otherwise()`; both must return tensors of the same types. A trace traces
/// both; an eager call runs only one, so that only a trace detects different
/// types. If the condition is invalid, `then` runs to determine the number of
/// results.
Tensors if_(const Tensor &condition, const std::function<Tensors()> &then,
            const std::function<Tensors()> &otherwise);

/// Starts with `init`, applies `body` to the values while `condition` holds for
/// them, and returns the final values. Types must not change.
Tensors while_(const Tensors &init,
               const std::function<Tensor(const Tensors &)> &condition,
               const std::function<Tensors(const Tensors &)> &body);

/// Applies `body` to the iteration number and the values `count` times.
Tensors
for_(const Tensor &count, const Tensors &init,
     const std::function<Tensors(const Tensor &, const Tensors &)> &body);

} // namespace mllm::ir

#endif // MLLM_IR_TRACE_H
