//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where exporters get the numbers of parameters from. Links neither MLIR nor
// LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_PARAMETERREADER_H
#define LLMIR_EXPORT_PARAMETERREADER_H

#include "llmir/Checkpoint/Checkpoint.h"
#include "mllm/ir/GraphVisitor.h"

#include <functional>
#include <vector>

namespace llmir {

/// Gives the numbers of a parameter, decoded, in row-major order, in pieces of
/// any size; together they are GraphParameter::numValues().
using ParameterReader =
    std::function<Status(const ::mllm::ir::GraphParameter &,
                         const std::function<Status(Span<const float>)> &take)>;

/// All numbers of a parameter. Fails where the reader does, and with Internal
/// when it gives another number of them.
Expected<std::vector<float>>
readParameter(const ParameterReader &reader,
              const ::mllm::ir::GraphParameter &parameter);

/// Reads from a checkpoint, which must outlive the reader.
ParameterReader parameterReaderOf(const Checkpoint &checkpoint);

} // namespace llmir

#endif // LLMIR_EXPORT_PARAMETERREADER_H
