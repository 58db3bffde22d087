//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters of a model: from a checkpoint, from shapes alone, or given.
// No MLIR in this header.
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

/// What load() of a module takes. Copies are handles of one set.
class Parameters {
public:
  explicit Parameters(llmir::Status status) : failure(std::move(status)) {}
  explicit Parameters(std::shared_ptr<detail::ParametersImpl> impl)
      : impl(std::move(impl)) {}

  /// Success, or why there are none.
  const llmir::Status &status() const { return failure; }
  const std::shared_ptr<detail::ParametersImpl> &get() const { return impl; }

private:
  llmir::Status failure;
  std::shared_ptr<detail::ParametersImpl> impl;
};

/// Opens a Hugging Face folder or a .gguf file; its tensors are read when they
/// are first used. A failure is the result's status, and what is loaded from it
/// cannot be traced.
Parameters load(const std::string &path);

/// Parameters of any model, of which only the shapes are known: enough to trace
/// it, not to run it.
Parameters emptyParameters();
/// The same for a model of this config, which is checked.
template <typename Config> Parameters emptyParameters(const Config &config) {
  llmir::Status checked = config.check();
  return checked ? emptyParameters() : Parameters(std::move(checked));
}

/// Given numbers, by the parameters' paths ("model.norm.weight").
Parameters parametersOf(std::map<std::string, Tensor> tensors);

} // namespace mllm

#endif // MLLM_PARAMETERS_H
