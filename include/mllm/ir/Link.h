//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linking of the modules of several contexts.
//
//   Encoder audio("audio"); // Distinct names: the default is Decoder
//   text("text");   // "model" for all. … auto encoder = ir::trace(audio,
//   Tensor::empty({1, 80, 3000}, kFloat32)); auto decoder = ir::trace(text,
//   Tensor::empty({1, 128}, kInt64)); if (!ir::link(*encoder, {decoder}))
//     return report(encoder->status());
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_LINK_H
#define MLLM_IR_LINK_H

#include "mllm/ir/IRContext.h"

namespace mllm::ir {

/// Links copies of the modules of other contexts into that of this context,
/// like the pass `mllm-link`: declarations in one module (a subgraph without a
/// body, a parameter without a source) are resolved by definitions in another.
/// Nested modules are linked, too. The other contexts are not changed. All
/// handles of this context, except that of the module, are dead afterwards.
/// Parameters with equal name and source are merged and have the elements of
/// the first context that has them: different checkpoints require distinct
/// names.
///
/// Fails, without changing this context, if two modules define the same public
/// symbol, if a declaration is not defined or has a different type, or if a
/// dialect of another context is not registered in this one.
bool link(IRContext &context, const std::vector<IRContext::ptr_t> &others);

} // namespace mllm::ir

#endif // MLLM_IR_LINK_H
