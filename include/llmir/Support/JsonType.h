//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The type of JSON values, for headers that only name it: the library takes
// longer to parse than many files that include them to compile.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_JSONTYPE_H
#define LLMIR_SUPPORT_JSONTYPE_H

#include <nlohmann/json_fwd.hpp>

namespace llmir {

using Json = nlohmann::json;

} // namespace llmir

#endif // LLMIR_SUPPORT_JSONTYPE_H
