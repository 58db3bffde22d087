//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole `mllm` API: models, modules, tensors, tracing, and creating,
// walking, modifying and printing IR. Does not include MLIR headers; see
// mllm/ir/MLIR.h for those.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MLLM_HPP
#define MLLM_MLLM_HPP

#include "mllm/Parameters.h"
#include "mllm/Tensor.h"
#include "mllm/Types.h"
#include "mllm/Utils/Common.hpp"
#include "mllm/Utils/RTTIHelper.hpp"
#include "mllm/ir/GeneratedOps.hpp"
#include "mllm/ir/IRContext.h"
#include "mllm/ir/IRPrinter.h"
#include "mllm/ir/IRWriter.h"
#include "mllm/ir/Link.h"
#include "mllm/ir/ModuleOp.h"
#include "mllm/ir/Node.h"
#include "mllm/ir/Trace.h"
#include "mllm/models/GPT2.h"
#include "mllm/models/Llama.h"
#include "mllm/models/QWen.h"
#include "mllm/models/Qwen3.h"
#include "mllm/nn/Functional.h"
#include "mllm/nn/Layers.h"
#include "mllm/nn/Module.h"

#endif // MLLM_MLLM_HPP
