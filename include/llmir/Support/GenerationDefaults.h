//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Default sampling parameters of a model, from its generation_config.json.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_GENERATIONDEFAULTS_H
#define LLMIR_SUPPORT_GENERATIONDEFAULTS_H

#include <cstdint>

namespace llmir {

/// Default sampling parameters (generation_config.json). The initial values
/// mean greedy decoding.
struct GenerationDefaults {
  bool doSample = false;
  double temperature = 1.0;
  int64_t topK = 0; ///< 0 = all.
  double topP = 1.0;
  double minP = 0.0;
  double repetitionPenalty = 1.0; ///< Also without sampling.
};

} // namespace llmir

#endif // LLMIR_SUPPORT_GENERATIONDEFAULTS_H
