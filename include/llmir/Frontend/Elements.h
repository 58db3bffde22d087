//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the elements of tensors and of a trace's parameters, for runners of
// traced models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_FRONTEND_ELEMENTS_H
#define LLMIR_FRONTEND_ELEMENTS_H

#include "llmir/Reference/Tensor.h"
#include "mllm/Tensor.h"
#include "mllm/ir/IRContext.h"

#include <string_view>

namespace mllm {

/// The elements of a tensor, or null.
const llmir::reference::Tensor *elementsOf(const Tensor &tensor);

/// A tensor with these elements.
Tensor fromElements(llmir::reference::Tensor elements,
                    DeviceTypes device = kCPU);

/// The elements of a parameter of a traced model, by its path. Fails if the
/// context was not created by a trace of a model with parameters, or if they
/// cannot be read.
llmir::Expected<const llmir::reference::Tensor *>
parameterElements(ir::IRContext &context, std::string_view path);

} // namespace mllm

#endif // LLMIR_FRONTEND_ELEMENTS_H
