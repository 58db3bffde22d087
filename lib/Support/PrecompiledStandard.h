//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The standard headers that most files without MLIR read, and the JSON library;
// used as a precompiled header only, never included by name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_PRECOMPILEDSTANDARD_H
#define LLMIR_SUPPORT_PRECOMPILEDSTANDARD_H

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#endif // LLMIR_SUPPORT_PRECOMPILEDSTANDARD_H
