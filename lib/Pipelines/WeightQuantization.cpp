//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/WeightQuantization.h"
#include "llmir/Support/IntegerLayout.h"

#include <optional>
#include <utility>
#include <vector>

namespace llmir {

/// The parts between the colons.
static std::vector<std::string> partsOf(const std::string &name) {
  std::vector<std::string> parts(1);
  for (char c : name)
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Reads a part behind the first one; false for one that is unknown or says
/// again what another has said.
static bool readPart(const std::string &part, IntegerFormat &format,
                     std::optional<bool> &byteActivations) {
  for (int64_t group : {32, 64, 128})
    if (part == "g" + std::to_string(group))
      return std::exchange(format.group, group) == 0;
  if (part == "asym")
    return !std::exchange(format.zeroPoints, true);
  if (part != "a8" && part != "a32")
    return false;
  return !std::exchange(byteActivations, part == "a8");
}

Expected<WeightQuantization>
WeightQuantization::fromName(const std::string &name) {
  WeightQuantization result;
  if (name == "none")
    return result;
  std::vector<std::string> parts = partsOf(name);
  IntegerFormat format;
  std::optional<bool> byteActivations;
  bool isShort = parts[0] == "q8" || parts[0] == "q4";
  bool isKnown = isShort || parts[0] == "int8" || parts[0] == "int4";
  format.bits = isKnown && parts[0].back() == '4' ? 4 : 8;
  format.group = isShort ? 32 : 0;
  for (size_t i = 1; i < parts.size(); ++i)
    isKnown = isKnown && readPart(parts[i], format, byteActivations);
  if (!isKnown)
    return Status(StatusCode::InvalidArgument,
                  "--quantize " + (name.empty() ? "''" : name) +
                      " is not known",
                  "choose none, q8, q4, or int8 or int4, followed by :g32, "
                  ":g64 or :g128, by :asym and by :a32 as wanted");
  result.scheme = format.name();
  result.byteActivations = byteActivations.value_or(true);
  return result;
}

} // namespace llmir
