//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// User-defined functions for `mllm.linalg.customized`:
//
//   registerCustomOp(4097, [](const std::vector<reference::Tensor> &inputs)
//       -> Expected<std::vector<reference::Tensor>> { return inputs; });
//
// All functions are thread-safe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_CUSTOMOPS_H
#define LLMIR_REFERENCE_CUSTOMOPS_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <functional>

namespace llmir {

/// Computes results from operands; the op checks their shapes.
using CustomOp = std::function<Expected<std::vector<reference::Tensor>>(
    const std::vector<reference::Tensor> &)>;

/// Minimum id of a user-defined function.
constexpr int64_t firstCustomOp = 4096;

/// Registers a function. Fails if the id is less than firstCustomOp or in use,
/// or if the function is empty.
Status registerCustomOp(int64_t id, CustomOp function);
/// Unregisters the function, if any.
void unregisterCustomOp(int64_t id);

/// Calls the function with that id. Fails if there is none, or if the function
/// fails.
Expected<std::vector<reference::Tensor>>
runCustomOp(int64_t id, const std::vector<reference::Tensor> &inputs);

} // namespace llmir

#endif // LLMIR_REFERENCE_CUSTOMOPS_H
