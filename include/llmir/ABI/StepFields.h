//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fields of the step context and the runtime's functions as enums, so that
// lowerings do not refer to them by strings.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_ABI_STEPFIELDS_H
#define LLMIR_ABI_STEPFIELDS_H

#include "llmir/ABI/StepContext.h"

#include <cstddef>
#include <type_traits>

namespace llmir {

/// The fields of the step context, in the order of RuntimeABI.def.
enum class StepField {
#define LLMIR_STEP_FIELD(type, name, doc) name,
#include "llmir/ABI/RuntimeABI.def"
};

/// The functions of the runtime, in the order of RuntimeABI.def.
enum class RuntimeFunction {
#define LLMIR_RUNTIME_FUNCTION(result, name, parameters, doc) name,
#include "llmir/ABI/RuntimeABI.def"
};

inline const char *stepFieldName(StepField field) {
  static constexpr const char *names[] = {
#define LLMIR_STEP_FIELD(type, name, doc) #name,
#include "llmir/ABI/RuntimeABI.def"
  };
  return names[static_cast<int>(field)];
}

inline const char *runtimeFunctionName(RuntimeFunction function) {
  static constexpr const char *names[] = {
#define LLMIR_RUNTIME_FUNCTION(result, name, parameters, doc) #name,
#include "llmir/ABI/RuntimeABI.def"
  };
  return names[static_cast<int>(function)];
}

constexpr int kNumStepFields = sizeof(LLMIRStepContext) / 8;
constexpr int kNumRuntimeFunctions = sizeof(LLMIRRuntimeTable) / sizeof(void *);

/// True for a field that is an address, false for a count.
inline bool isPointerField(StepField field) {
  static constexpr bool pointers[] = {
#define LLMIR_STEP_FIELD(type, name, doc) std::is_pointer_v<type>,
#include "llmir/ABI/RuntimeABI.def"
  };
  return pointers[static_cast<int>(field)];
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// The kind of a parameter of a runtime function.
enum class RuntimeParameter { Pointer, Integer, Real };

/// The parameters of a runtime function after the context.
struct RuntimeSignature {
  const RuntimeParameter *parameters;
  size_t count;

  const RuntimeParameter *begin() const { return parameters; }
  const RuntimeParameter *end() const { return parameters + count; }
};

namespace detail {
template <typename T> constexpr RuntimeParameter runtimeParameter() {
  static_assert(std::is_pointer_v<T> || std::is_same_v<T, int64_t> ||
                    std::is_same_v<T, double>,
                "generated code passes pointers, int64_t and double");
  if constexpr (std::is_pointer_v<T>)
    return RuntimeParameter::Pointer;
  else
    return std::is_same_v<T, double> ? RuntimeParameter::Real
                                     : RuntimeParameter::Integer;
}

template <typename Function> struct SignatureOf;
template <typename... Parameters>
struct SignatureOf<void (*)(const LLMIRStepContext *, Parameters...)> {
  static constexpr RuntimeParameter list[] = {
      runtimeParameter<Parameters>()...};
  static constexpr RuntimeSignature value{list, sizeof...(Parameters)};
};
} // namespace detail

/// The signature of the C function, read from its declaration.
inline RuntimeSignature runtimeSignature(RuntimeFunction function) {
  static constexpr RuntimeSignature signatures[] = {
#define LLMIR_RUNTIME_FUNCTION(result, name, parameters, doc)                  \
  detail::SignatureOf<decltype(LLMIRRuntimeTable::name)>::value,
#include "llmir/ABI/RuntimeABI.def"
  };
  return signatures[static_cast<int>(function)];
}

} // namespace llmir

#endif // LLMIR_ABI_STEPFIELDS_H
