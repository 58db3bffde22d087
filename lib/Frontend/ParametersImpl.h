//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The source of the parameters of a module tree.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_PARAMETERSIMPL_H
#define LLMIR_LIB_FRONTEND_PARAMETERSIMPL_H

#include "TraceModel.h"

#include "llmir/Reference/Tensor.h"
#include "mllm/Parameters.h"

#include <map>

namespace mllm::detail {

class ParametersImpl : public ir::ParameterSource {
public:
  /// The elements, with rows in the original order, read on first use.
  llmir::Expected<const llmir::reference::Tensor *>
  numbers(const nn::Parameter &parameter);

protected:
  virtual llmir::Expected<llmir::reference::Tensor>
  read(const nn::Parameter &parameter) = 0;

private:
  std::map<std::string, llmir::reference::Tensor> known;
};

} // namespace mllm::detail

#endif // LLMIR_LIB_FRONTEND_PARAMETERSIMPL_H
