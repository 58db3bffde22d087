//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random models of the mllm dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_PROPERTY_GRAPHGENERATOR_H
#define LLMIR_TEST_PROPERTY_GRAPHGENERATOR_H

#include <cstdint>
#include <string>

namespace llmir::property {

/// A model as text: parameters, some subgraphs that call each other, and an
/// entry `@model`. Arguments and results are f32 tensors of rank 2 with rows of
/// 4, 8 or 16 elements; the number of rows is dynamic in every second model.
/// Subgraphs have branches, loops and attention over caches. The
/// same seed gives the same text.
std::string generateGraph(uint64_t seed);

} // namespace llmir::property

#endif // LLMIR_TEST_PROPERTY_GRAPHGENERATOR_H
