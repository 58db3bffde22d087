//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unpacks the block formats whose blocks hold points of a grid.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SUPPORT_STOREDGRIDS_H
#define LLMIR_LIB_SUPPORT_STOREDGRIDS_H

#include "llmir/Support/StoredBlock.h"

namespace llmir {

/// readStoredBlock for IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S.
void readGridBlock(TensorFormat format, const uint8_t *bytes,
                   StoredBlock &block);

} // namespace llmir

#endif // LLMIR_LIB_SUPPORT_STOREDGRIDS_H
