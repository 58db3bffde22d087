//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops in which ranks meet, and the shards of tensors.
//
//===----------------------------------------------------------------------===//

#include "ProgramConversion.h"

namespace llmir {

void addCollectiveConversions(ConversionTable &) {}

} // namespace llmir
