//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/KernelEmitter.h"

#include "Emitters.h"

#include "mlir/IR/Dialect.h"

namespace llmir {

KernelEmitters KernelEmitters::forCPU(mlir::MLIRContext *context) {
  KernelEmitters emitters;
  for (auto add :
       {addAttentionEmitters, addCacheEmitters, addCopyEmitters,
        addEmbeddingEmitters, addExpertEmitters, addGatherEmitters,
        addLinalgEmitters, addLoopEmitters, addMatmulEmitters, addPackEmitters,
        addQuantEmitters, addReductionEmitters, addRopeEmitters, addRowEmitters,
        addRowQuantizers, addRowRounders, addSortEmitters, addStateEmitters})
    add(emitters);
  for (mlir::Dialect *dialect : context->getLoadedDialects())
    if (auto *own = dialect->getRegisteredInterface<KernelEmitterInterface>())
      own->addCPUEmitters(emitters);
  return emitters;
}

} // namespace llmir
