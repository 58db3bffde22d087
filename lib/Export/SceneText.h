//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words and numbers of a drawing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_SCENETEXT_H
#define LLMIR_LIB_EXPORT_SCENETEXT_H

#include "Scene.h"

namespace llmir::picture {

/// Separators of sizes and of properties.
inline constexpr char times[] = " \u00d7 ";
inline constexpr char dot[] = " \u00b7 ";

/// The category of an op name without its dialect.
Category categoryOf(const std::string &kind);
const char *typeName(mllm::DataTypes type);

/// "1 op", "2 ops".
std::string counted(size_t count, const char *thing);
/// "33.6 MB": a number with a metric prefix and a unit.
std::string withUnit(double amount, const char *unit);

std::string shapeText(const mllm::ir::GraphValue &value);
std::string shapeText(const std::vector<int64_t> &shape);
std::string attributeText(const mllm::ir::GraphAttribute &attribute);

/// The path relative to the module's path, or its last component.
std::string nameIn(const std::string &path, const std::string &module);
/// The path of the layer or, if the IR does not have it, of the owner of the
/// parameters.
std::string layerOf(const mllm::ir::GraphOp &op, const std::string &module);

} // namespace llmir::picture

#endif // LLMIR_LIB_EXPORT_SCENETEXT_H
