//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The headers of MLIR and of both dialects; used as a precompiled header only,
// never included by name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_PRECOMPILEDDIALECTS_H
#define LLMIR_DIALECT_PRECOMPILEDDIALECTS_H

#include "PrecompiledMLIR.h" // First: see there.

#include "llmir/Dialect/MLLM/MLLM.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

#endif // LLMIR_DIALECT_PRECOMPILEDDIALECTS_H
