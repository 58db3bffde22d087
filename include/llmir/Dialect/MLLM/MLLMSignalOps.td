//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of audio: short-time Fourier transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMSIGNALOPS
#define LLMIR_DIALECT_MLLM_MLLMSIGNALOPS

include "llmir/Dialect/MLLM/MLLMLinalgBase.td"


#endif // LLMIR_DIALECT_MLLM_MLLMSIGNALOPS
