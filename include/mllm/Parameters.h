//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters of a model: from a checkpoint, by shape only, or given. No
// MLIR in this header.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_PARAMETERS_H
#define MLLM_PARAMETERS_H

#include "mllm/Tensor.h"

#include <map>

namespace mllm {

namespace detail {
class ParametersImpl;
}

/// The argument of load() of a module. Copies are handles of the same set.
class Parameters {
public:
  explicit Parameters(llmir::Status status) : failure(std::move(status)) {}
  explicit Parameters(std::shared_ptr<detail::ParametersImpl> impl)
      : impl(std::move(impl)) {}

  /// Success, or the reason why there are no parameters.
  const llmir::Status &status() const { return failure; }
  const std::shared_ptr<detail::ParametersImpl> &get() const { return impl; }

private:
  llmir::Status failure;
  std::shared_ptr<detail::ParametersImpl> impl;
};

/// Opens a Hugging Face model directory or a .gguf file; tensors are read on
/// first use. After a failure, which the status reports, models with these
/// parameters cannot be traced.
Parameters load(const std::string &path);

/// Parameters of any model without elements: sufficient to trace a model, but
/// not to run it.
Parameters emptyParameters();
/// The same for a model with this config, which is checked.
template <typename Config> Parameters emptyParameters(const Config &config) {
  llmir::Status checked = config.check();
  return checked ? emptyParameters() : Parameters(std::move(checked));
}

/// Parameters given as tensors, by path ("model.norm.weight").
Parameters parametersOf(std::map<std::string, Tensor> tensors);

} // namespace mllm

#endif // MLLM_PARAMETERS_H
