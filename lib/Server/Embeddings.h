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
#include "llmir/Server/ApiError.h"

#include <atomic>
#include <mutex>

namespace llmir::server {

/// Embeds the texts of requests, a step of one of them at a time.
class Embeddings {
public:
  /// Answers the request, unless its client leaves before.
  void answer(HttpExchange &exchange, const RequestBody &body,
              ServedModel &model);
  /// From now on, requests end with an error after the step that runs.
  void stop() { isStopping = true; }

private:
  std::optional<ApiError> embed(const HttpExchange &exchange,
                                const std::vector<std::vector<int32_t>> &texts,
                                ServedModel &model, std::vector<float> &result);

  std::mutex mutex; ///< Of the model's embedder.
  std::atomic<bool> isStopping{false};
};

} // namespace llmir::server

#endif // LLMIR_LIB_SERVER_EMBEDDINGS_H
