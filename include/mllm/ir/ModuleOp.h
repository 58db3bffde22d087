//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The top-level op.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_MODULEOP_H
#define MLLM_IR_MODULEOP_H

#include "mllm/ir/Node.h"

namespace mllm::ir {

/// A module, `@main`, created by IRContext::make.
class ModuleOp : public Op {
public:
  DEFINE_SPECIFIC_IR_CLASS(ModuleOp);
  explicit ModuleOp(NodeKind kind) : Op(kind) {}
  static inline bool classof(const Node *node) {
    RTTI_RK_KIND_IMPL(node, ::mllm::ir::RK_Op_BuiltinIROp_ModuleOp);
  }
};

} // namespace mllm::ir

#endif // MLLM_IR_MODULEOP_H
