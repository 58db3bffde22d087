//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POST /v1/embeddings
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_SERVER_EMBEDDINGS_H
#define LLMIR_LIB_SERVER_EMBEDDINGS_H

#include "Apis.h"

#include <atomic>
#include <mutex>

namespace llmir::server {

/// Embeds the texts of requests, one request at a time.
class Embeddings {
public:
  /// The answer; waits for those of earlier requests.
  Expected<Json> answer(const RequestBody &body, ServedModel &model);

private:
  Expected<std::vector<float>>
  embed(const std::vector<std::vector<int32_t>> &texts, ServedModel &model);

  std::mutex mutex; ///< Of the model's embedder.
};

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_EMBEDDINGS_H
