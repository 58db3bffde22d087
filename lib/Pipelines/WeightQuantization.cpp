//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/WeightQuantization.h"
#include "llmir/Support/IntegerLayout.h"

namespace llmir {

Expected<WeightQuantization>
WeightQuantization::fromName(const std::string &name) {
  WeightQuantization result;
  if (name == "none")
    return result;
  result.scheme = name;
  const std::string suffix = ":a8";
  if (name.size() > suffix.size() &&
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    result.byteActivations = true;
    result.scheme.resize(name.size() - suffix.size());
  }
  if (result.scheme == "q8" || result.scheme == "q4")
    result.scheme = "int" + result.scheme.substr(1) + ":g32";

  std::optional<IntegerFormat> format = IntegerFormat::fromName(result.scheme);
  auto isKnownGroup = [](int64_t group) {
    return group == 0 || group == 32 || group == 64 || group == 128;
  };
  if (format && format->bits <= 8 && isKnownGroup(format->group) &&
      format->segment == 0 && format->scales == TensorFormat::F32)
    return result;
  return Status(StatusCode::InvalidArgument,
                "--quantize " + name + " is not known",
                "choose none, q8, q4, or int8 or int4, followed by :g32, :g64 "
                "or :g128, by :asym and by :a8 as wanted");
}

} // namespace llmir
