//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Suggestions for a name that is not known.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_NEARESTNAMES_H
#define LLMIR_SUPPORT_NEARESTNAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// The three names of `known` that are most like `name`, for a message: "a, b
/// and c". A common start counts most, because names of one vendor's models
/// begin alike, then the edit distance. Only the first 64 characters of `name`,
/// which may come from a file, are compared.
std::string nearestNames(std::string_view name,
                         std::vector<std::string_view> known);

} // namespace llmir

#endif // LLMIR_SUPPORT_NEARESTNAMES_H
