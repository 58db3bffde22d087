//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formats of strings in JSON Schema.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONSTRAINT_STRINGFORMATS_H
#define LLMIR_LIB_CONSTRAINT_STRINGFORMATS_H

#include <optional>
#include <string>
#include <string_view>

namespace llmir::constraint {

/// A regular expression for the texts of a format, of which it may leave out
/// unusual ones; nullopt if the format is not known.
std::optional<std::string> patternOfFormat(std::string_view format);

/// The known formats, for messages.
std::string knownFormats();

} // namespace llmir::constraint

#endif // LLMIR_LIB_CONSTRAINT_STRINGFORMATS_H
