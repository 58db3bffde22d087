//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fields of the step context and the runtime's functions as enums, so that
// lowerings name them without strings.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_RUNTIME_ABI_STEPFIELDS_H
#define LLMIR_RUNTIME_ABI_STEPFIELDS_H

namespace llmir {

/// The fields of the step context, in the order of RuntimeABI.def.
enum class StepField {
#define LLMIR_STEP_FIELD(type, name, doc) name,
#include "llmir/Runtime/ABI/RuntimeABI.def"
};

/// The functions of the runtime, in the order of RuntimeABI.def.
enum class RuntimeFunction {
#define LLMIR_RUNTIME_FUNCTION(result, name, parameters, doc) name,
#include "llmir/Runtime/ABI/RuntimeABI.def"
};

inline const char *stepFieldName(StepField field) {
  static constexpr const char *names[] = {
#define LLMIR_STEP_FIELD(type, name, doc) #name,
#include "llmir/Runtime/ABI/RuntimeABI.def"
  };
  return names[static_cast<int>(field)];
}

} // namespace llmir

#endif // LLMIR_RUNTIME_ABI_STEPFIELDS_H
