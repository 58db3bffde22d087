//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creates the packing jobs of a program's weights. The only header of this area
// that uses IR.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PACKING_FROMPROGRAM_H
#define LLMIR_PACKING_FROMPROGRAM_H

#include "llmir/Dialect/MLLM/MLLMProgramOps.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Packing/PackWeights.h"

namespace llmir {

/// The elements of the constant that the weight of a step is made of; null for
/// a weight of the checkpoint, or if the constant is not f32 in the text.
inline std::shared_ptr<const std::vector<float>>
constantOf(mllm::program::WeightOp weight, llvm::StringRef source) {
  if (!weight->hasAttr(mllm::program::kFromConstantAttr))
    return nullptr;
  for (auto constant :
       weight->getBlock()->getOps<mllm::program::ConstantOp>()) {
    if (constant.getSymName() != source)
      continue;
    if (auto values = constant.getValue().tryGetValues<float>())
      return std::make_shared<const std::vector<float>>(values->begin(),
                                                        values->end());
  }
  return nullptr;
}

/// The packing job of one of the weight's sources.
inline PackJob makePackJob(mllm::program::WeightOp weight, size_t source) {
  llvm::ArrayRef<int64_t> shape = weight.getShape();
  PackJob job;
  job.source = llvm::cast<mlir::StringAttr>(weight.getSources()[source]).str();
  job.isVector = shape.size() == 1;
  job.matrices = shape.size() == 3 ? shape[0] : 1;
  job.rows = job.isVector ? shape[0] : shape.take_back(2).front();
  job.columns = job.isVector ? 1 : shape.back();
  job.offset = weight.getOffsets()[source];
  job.bytes = weight.getBytes();
  job.unpermuteHeads = weight.getRopeUnpermuteHeads();
  mllm::setStoredRows(job, weight.getSlice());
  job.slicesColumns = weight.getSlicesColumns();
  job.isTransposed = weight.getTransposed() && !job.slicesColumns;
  job.integers = IntegerFormat::fromName(weight.getFormat().str());
  job.constant = constantOf(weight, job.source);
  return job;
}

} // namespace llmir

#endif // LLMIR_PACKING_FROMPROGRAM_H
