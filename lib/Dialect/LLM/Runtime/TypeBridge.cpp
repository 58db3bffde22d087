//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PagedKVCache's constructor from an mlir::Type, in a separate library because
// the cache must not link MLIR.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"
#include "mlir/IR/BuiltinTypes.h"

using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

static bool isElementType(Type type) {
  return type && (type.isF32() || type.isF16() || type.isBF16() ||
                  type.isSignlessInteger(8));
}

static KVElementType toElementType(Type type) {
  if (type && type.isF16())
    return KVElementType::F16;
  if (type && type.isSignlessInteger(8))
    return KVElementType::Q8;
  return type && type.isBF16() ? KVElementType::BF16 : KVElementType::F32;
}

/// For unsupported types, passes an invalid size to the delegated constructor,
/// so that it fails before it maps memory.
PagedKVCache::PagedKVCache(int64_t numLayers, int64_t numHeads, int64_t headDim,
                           int64_t blockSize, int64_t maxSeqLen,
                           Type elementType, int64_t valueDim)
    : PagedKVCache(isElementType(elementType) ? numLayers : 0, numHeads,
                   headDim, blockSize, maxSeqLen, toElementType(elementType),
                   valueDim) {
  if (isElementType(elementType))
    return;
  std::string text = "null";
  if (elementType) {
    text.clear();
    llvm::raw_string_ostream(text) << elementType;
  }
  constructed =
      Status(StatusCode::Unsupported, "KV cache: elements of type " + text,
             "use f32, f16, bf16 or i8");
}

} // namespace mlir::llm::runtime
