//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parameters backed by a checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_CHECKPOINTPARAMETERS_H
#define LLMIR_LIB_FRONTEND_CHECKPOINTPARAMETERS_H

#include "TraceModel.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Frontend/TensorNames.h"

#include <set>
#include <string>

namespace llmir {

/// Binds parameters to the tensors of a checkpoint, which must outlive this
/// object.
class CheckpointParameters : public ::mllm::ir::ParameterSource {
public:
  explicit CheckpointParameters(const Checkpoint &checkpoint);

  Expected<::mllm::ir::ParameterBinding>
  bind(mlir::MLIRContext &context,
       const ::mllm::nn::Parameter &parameter) override;

  /// After the trace: fails if the checkpoint has a tensor that is not a
  /// parameter of the model and has no other known purpose.
  Status checkAllUsed() const;

private:
  Status failure(StatusCode code, const std::string &cause) const;
  const CheckpointTensor *find(const std::string &name) const;
  bool isAssembled(const std::string &name) const;
  const CheckpointTensor *findWithPrefix(const std::string &name) const;
  /// Marks the tensor as used. Fails if it is missing or has another shape.
  Expected<const CheckpointTensor *> take(const std::string &name,
                                          const std::vector<int64_t> &shape,
                                          bool isConvolution = false);
  /// The same for the matrices of a stack [count, rows, columns] with a
  /// numbered source (see matrixSource); returns the first one.
  Expected<const CheckpointTensor *> takeStack(const std::string &source,
                                               std::vector<int64_t> shape);
  bool isTolerated(const CheckpointTensor &tensor) const;

  const Checkpoint &checkpoint;
  /// See ModelFamily.
  Span<const TensorName> familyNames, folderNames;
  std::set<std::string> used; ///< Names of the bound tensors.
};

} // namespace llmir

#endif // LLMIR_LIB_FRONTEND_CHECKPOINTPARAMETERS_H
