//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many blocks the KV cache of an executor has.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_RUNTIME_CACHESIZE_H
#define LLMIR_LIB_RUNTIME_CACHESIZE_H

#include "llmir/Runtime/Executor.h"

namespace llmir {

struct CacheSize {
  int64_t contextLength = 0;
  int64_t blocks = 0;
  std::vector<int64_t> windowBlocks; ///< As PagedKVCacheOptions.
};

/// Chooses the size by what the options leave open. Fails with OutOfRange if
/// the context is too long, and with InvalidArgument for wrong sizes, or if the
/// bytes are too few for a block.
Expected<CacheSize> chooseCacheSize(const ArtifactInfo &info,
                                    const ExecutorOptions &options);

} // namespace llmir

#endif // LLMIR_LIB_RUNTIME_CACHESIZE_H
