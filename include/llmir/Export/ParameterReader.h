//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to parameter elements for exporters. Does not depend on MLIR or LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_PARAMETERREADER_H
#define LLMIR_EXPORT_PARAMETERREADER_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "mllm/ir/GraphVisitor.h"

#include <functional>
#include <vector>

namespace llmir {

/// Provides the dequantized elements of a parameter in row-major order, in
/// chunks of any size, GraphParameter::numValues() in total.
using ParameterReader =
    std::function<Status(const ::mllm::ir::GraphParameter &,
                         const std::function<Status(Span<const float>)> &take)>;

/// Reads all elements of a parameter. Fails if the reader fails, and with
/// Internal if it provides a wrong number of elements.
Expected<std::vector<float>>
readParameter(const ParameterReader &reader,
              const ::mllm::ir::GraphParameter &parameter);

/// Returns a reader for a checkpoint, which must outlive it.
ParameterReader parameterReaderOf(const Checkpoint &checkpoint);

} // namespace llmir

#endif // LLMIR_EXPORT_PARAMETERREADER_H
