//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GGUFConfig.h"

namespace llmir {

/// Values of llama.cpp. A decoder without pooling is a language model.
Status GGUFConfig::readPooling() {
  constexpr Pooling poolings[] = {Pooling::None, Pooling::Mean, Pooling::First,
                                  Pooling::Last};
  const std::string name = key("pooling_type");
  int64_t type;
  LLMIR_ASSIGN_OR_RETURN(type, metadata.integerOr(name, 0));
  if (type == 4)
    return unsupported(name, "is 4, that of a model that ranks texts",
                       "supported: 1 (mean), 2 (cls), 3 (last)");
  if (type < 0 || type > 4)
    return metadata.failure(StatusCode::InvalidFile, name,
                            "is " + std::to_string(type) +
                                "; expected a number from 0 to 4");
  config.pooling = poolings[type];
  const bool isEncoder = has(Trait::LooksAhead);
  const std::string causal = key("attention.causal");
  bool isCausal;
  LLMIR_ASSIGN_OR_RETURN(isCausal, metadata.booleanOr(causal, !isEncoder));
  if (isEncoder && isCausal)
    return unsupported(causal, "is true; " + config.architecture +
                                   " models attend in both directions");
  config.isBidirectional = !isCausal;
  if (!isEncoder && !isCausal && hasWindows(config))
    return unsupported(causal, "is false, and layers have windows; windows of "
                               "attention in both directions are not "
                               "supported for " +
                                   config.architecture + " models");
  if (config.isBidirectional && config.pooling == Pooling::None)
    return unsupported(name,
                       "does not name a kind of pooling, which the "
                       "embeddings of a bidirectional model require",
                       "supported: 1 (mean), 2 (cls), 3 (last)");
  return Status::ok();
}

} // namespace llmir
