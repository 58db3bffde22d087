//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_MODELS_BATCHOFIDS_H
#define LLMIR_LIB_FRONTEND_MODELS_BATCHOFIDS_H

#include "mllm/Tensor.h"

namespace mllm::models {

/// Whether ids have the shape [sequences, tokens] of a model with explicit
/// attention. Otherwise, fails the trace or the eager call.
bool isBatchOfIds(const Tensor &ids);

} // namespace mllm::models

#endif // LLMIR_LIB_FRONTEND_MODELS_BATCHOFIDS_H
