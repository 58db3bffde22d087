//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The texts of a model's tokens, for constraints.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVER_LAZYVOCABULARY_H
#define LLMIR_SERVER_LAZYVOCABULARY_H

#include "llmir/Constraint/TokenVocabulary.h"
#include "llmir/Tokenizer/Tokenizer.h"

#include <memory>
#include <mutex>

namespace llmir {

/// The texts of all tokens; special ones have none.
std::shared_ptr<const TokenVocabulary> vocabularyOf(const Tokenizer &tokenizer);

/// Made when it is first needed, which takes some tenths of a second. Threads
/// may use it concurrently, with the same tokenizer.
class LazyVocabulary {
public:
  std::shared_ptr<const TokenVocabulary> get(const Tokenizer &tokenizer);

private:
  std::mutex mutex;
  std::shared_ptr<const TokenVocabulary> made;
};

} // namespace llmir

#endif // LLMIR_SERVER_LAZYVOCABULARY_H
