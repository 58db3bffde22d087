//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and what goes with them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMVISIONOPS
#define LLMIR_DIALECT_MLLM_MLLMVISIONOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"


#endif // LLMIR_DIALECT_MLLM_MLLMVISIONOPS
