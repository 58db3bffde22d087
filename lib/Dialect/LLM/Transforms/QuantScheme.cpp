//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of quantization schemes.
//
//===----------------------------------------------------------------------===//

#include "QuantScheme.h"

using namespace mlir;
using namespace mlir::llm;

std::optional<QuantScheme> QuantScheme::fromName(StringRef name) {
  QuantScheme scheme;
  if (name.consume_front("int4"))
    scheme.bits = 4;
  else if (!name.consume_front("int8"))
    return std::nullopt;
  for (int64_t size : {32, 64, 128})
    if (name.consume_front(":g" + std::to_string(size))) {
      scheme.groupSize = size;
      break;
    }
  if (name.consume_front(":asym"))
    scheme.symmetric = false;
  if (!name.empty())
    return std::nullopt;
  return scheme;
}

std::string QuantScheme::name() const {
  std::string name = "int" + std::to_string(bits);
  if (groupSize != -1)
    name += ":g" + std::to_string(groupSize);
  if (!symmetric)
    name += ":asym";
  return name;
}
