//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types of the arguments of tools.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATOUTPUT_TOOLSCHEMAS_H
#define LLMIR_LIB_CHATOUTPUT_TOOLSCHEMAS_H

#include "llmir/Support/Json.h"

#include <string>
#include <string_view>

namespace llmir::chatoutput {

/// The types that a schema allows for a value.
struct ValueTypes {
  bool any = false; ///< Nothing is known.
  bool text = false, integer = false, number = false, boolean = false,
       null = false, object = false, array = false;

  bool isOnlyText() const {
    return text && !any && !integer && !number && !boolean && !null &&
           !object && !array;
  }
  bool allows(const Json &value) const;
};

class ToolSchemas {
public:
  /// `tools` is a list in OpenAI's form; other values count as empty.
  explicit ToolSchemas(const Json &tools);

  bool isEmpty() const { return schemas.empty(); }
  bool has(std::string_view tool) const;
  /// Of a schema that is very large, nothing is known: clients send them, and
  /// the engine's thread asks.
  ValueTypes types(const std::string &tool, const std::string &argument) const;

private:
  Json schemas = Json::object(); ///< `parameters` by the tool's name.
};

/// The JSON text of a value that was written without quotes: a value of one of
/// the types, if the text is one, else a string.
std::string jsonOfText(std::string_view text, const ValueTypes &types);

} // namespace llmir::chatoutput

#endif // LLMIR_LIB_CHATOUTPUT_TOOLSCHEMAS_H
