//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/ParameterReader.h"

#include "llmir/Checkpoint/StoredParameter.h"

using namespace llmir;
using namespace mllm::ir;

Expected<std::vector<float>>
llmir::readParameter(const ParameterReader &reader,
                     const GraphParameter &parameter) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(parameter.numValues()));
  LLMIR_RETURN_IF_ERROR(reader(parameter, [&](Span<const float> piece) {
    values.insert(values.end(), piece.begin(), piece.end());
    return Status::ok();
  }));
  if (static_cast<int64_t>(values.size()) != parameter.numValues())
    return Status(StatusCode::Internal,
                  "parameter '" + parameter.name + "' was read with " +
                      std::to_string(values.size()) + " elements instead of " +
                      std::to_string(parameter.numValues()));
  return values;
}

ParameterReader llmir::parameterReaderOf(const Checkpoint &checkpoint) {
  return [&checkpoint](const GraphParameter &parameter,
                       const std::function<Status(Span<const float>)> &take) {
    StoredParameter stored;
    stored.source = parameter.source;
    stored.shape = parameter.shape;
    stored.unpermuteHeads = parameter.unpermuteHeads;
    stored.firstRow = parameter.firstRow;
    stored.storedRows = parameter.storedRows;
    stored.groupRows = parameter.groupRows;
    stored.groupStride = parameter.groupStride;
    stored.isTransposed = parameter.isTransposed;
    stored.slicesColumns = parameter.slicesColumns;
    return readRows(checkpoint, stored, take)
        .withContext("parameter '" + parameter.name + "'");
  };
}
