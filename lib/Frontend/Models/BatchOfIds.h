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

/// Whether a model in the explicit form takes these ids: [sequences, tokens].
/// Where it does not, that is a failure of the trace or the eager call.
bool isBatchOfIds(const Tensor &ids);

} // namespace mllm::models

#endif // LLMIR_LIB_FRONTEND_MODELS_BATCHOFIDS_H
