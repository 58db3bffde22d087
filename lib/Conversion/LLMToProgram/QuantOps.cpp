//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops on integers with scales.
//
//===----------------------------------------------------------------------===//

#include "ProgramConversion.h"

namespace llmir {

void addQuantConversions(ConversionTable &) {}

} // namespace llmir
