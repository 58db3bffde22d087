//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a model turns the rows of a text's tokens into the text's embedding.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_POOLING_H
#define LLMIR_SUPPORT_POOLING_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmir {

enum class Pooling : uint8_t {
  None,  ///< The model yields logits for each token, not an embedding.
  First, ///< The row of the first token, such as [CLS].
  Last,  ///< The row of the last token.
  Mean,  ///< The mean of the rows of all tokens.
};

/// "none", "cls", "last", "mean".
inline const char *poolingName(Pooling pooling) {
  switch (pooling) {
  case Pooling::First:
    return "cls";
  case Pooling::Last:
    return "last";
  case Pooling::Mean:
    return "mean";
  case Pooling::None:
    break;
  }
  return "none";
}

inline std::optional<Pooling> poolingFromName(std::string_view name) {
  for (Pooling each :
       {Pooling::None, Pooling::First, Pooling::Last, Pooling::Mean})
    if (name == poolingName(each))
      return each;
  return std::nullopt;
}

} // namespace llmir

#endif // LLMIR_SUPPORT_POOLING_H
