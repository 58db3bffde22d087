//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families, one per file; Families.cpp lists them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_MODELS_FAMILYTABLE_H
#define LLMIR_LIB_FRONTEND_MODELS_FAMILYTABLE_H

#include "mllm/models/Families.h"

namespace mllm::models {

extern const ModelFamily gpt2Family;
extern const ModelFamily llamaFamily;
extern const ModelFamily qwen2Family;
extern const ModelFamily qwen3Family;

} // namespace mllm::models

#endif // LLMIR_LIB_FRONTEND_MODELS_FAMILYTABLE_H
