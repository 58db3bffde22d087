//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C declarations of RuntimeABI.def: the arguments of a compiled step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ABI_STEPCONTEXT_H
#define LLMIR_ABI_STEPCONTEXT_H

#include <stdint.h>

/// Version of RuntimeABI.def and KVBlockLayout.h; artifacts of other versions
/// are rejected.
#define LLMIR_ABI_VERSION 6

#ifdef __cplusplus
extern "C" {
#endif

struct LLMIRStepContext;

/// Functions of the runtime that generated code calls.
struct LLMIRRuntimeTable {
#define LLMIR_RUNTIME_FUNCTION(result, name, parameters, doc)                  \
  result(*name) parameters;
#include "llmir/ABI/RuntimeABI.def"
};

/// The inputs and outputs of a step; see RuntimeABI.def for each field.
struct LLMIRStepContext {
#define LLMIR_STEP_FIELD(type, name, doc) type name;
#include "llmir/ABI/RuntimeABI.def"
};

/// The compiled step. Every worker of the team calls it with the same context,
/// `worker` in [0, workers).
typedef void (*LLMIRStepFunction)(const struct LLMIRStepContext *ctx,
                                  int64_t worker, int64_t workers);

#ifdef __cplusplus
}
#endif

#endif // LLMIR_ABI_STEPCONTEXT_H
