//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One module of the modules of several contexts.
//
//   Encoder audio("audio"); // Names that differ: modules without one are all
//   Decoder text("text");   // called "model".
//   …
//   auto encoder = ir::trace(audio, Tensor::empty({1, 80, 3000}, kFloat32));
//   auto decoder = ir::trace(text, Tensor::empty({1, 128}, kInt64));
//   if (!ir::link(*encoder, {decoder}))
//     return report(encoder->status());
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_LINK_H
#define MLLM_IR_LINK_H

#include "mllm/ir/IRContext.h"

namespace mllm::ir {

/// Takes copies of the modules of other contexts into this one's, as the pass
/// `mllm-link` joins the modules within one: what one of them declares (a
/// subgraph without a body, a parameter without a source) is what another one
/// defines. Modules within the modules are joined, too. The other contexts stay
/// as they are. All handles of this one are dead afterwards, but for the
/// module's. Parameters of one name and source are one parameter, whose numbers
/// are those of the first context that has them: two checkpoints need names
/// that differ.
///
/// Fails, and leaves this context's module and handles as they were, where two
/// modules define one public symbol, a declaration is defined nowhere or with
/// another type, or a dialect of another context is not known to this one.
bool link(IRContext &context, const std::vector<IRContext::ptr_t> &others);

} // namespace mllm::ir

#endif // MLLM_IR_LINK_H
