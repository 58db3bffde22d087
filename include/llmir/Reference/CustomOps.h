//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of the user's own, for `mllm.linalg.customized`:
//
//   registerCustomOp(4097, [](const std::vector<reference::Tensor> &inputs)
//       -> Expected<std::vector<reference::Tensor>> { return inputs; });
//
// All of this may be called from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_CUSTOMOPS_H
#define LLMIR_REFERENCE_CUSTOMOPS_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <functional>

namespace llmir {

/// Computes results from operands; their shapes are the op's to check.
using CustomOp = std::function<Expected<std::vector<reference::Tensor>>(
    const std::vector<reference::Tensor> &)>;

/// Least id of a function of the user's own.
constexpr int64_t firstCustomOp = 4096;

/// Makes a function known. Fails where the id is less than firstCustomOp, the
/// function is empty, or the id is taken.
Status registerCustomOp(int64_t id, CustomOp function);
/// Forgets the function, if there is one.
void unregisterCustomOp(int64_t id);

/// Calls the function of that id. Fails where there is none, or as it does.
Expected<std::vector<reference::Tensor>>
runCustomOp(int64_t id, const std::vector<reference::Tensor> &inputs);

} // namespace llmir

#endif // LLMIR_REFERENCE_CUSTOMOPS_H
