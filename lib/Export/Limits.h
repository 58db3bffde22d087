//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits for untrusted models.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_LIMITS_H
#define LLMIR_LIB_EXPORT_LIMITS_H

#include <cstdint>

namespace llmir {

/// Maximum number of elements of a constant in a graph, or of a table computed
/// for a file.
inline constexpr int64_t maxConstant = 1 << 24;

} // namespace llmir

#endif // LLMIR_LIB_EXPORT_LIMITS_H
