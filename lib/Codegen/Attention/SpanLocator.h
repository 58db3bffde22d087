//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds keys and values through the block table. Where 16 tokens at a time lie
// in one block they are read in place; else they are copied together first, so
// that the block size does not change what is computed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_SPANLOCATOR_H
#define LLMIR_LIB_CODEGEN_SPANLOCATOR_H

#include "AttentionProducts.h"

namespace llmir {

class SpanLocator {
public:
  SpanLocator(KernelBuilder &kb, const KVBlockLayout &layout);

  /// The layout of what span() gives: the cache's, or that of copies.
  const KVBlockLayout &tileLayout() const { return tiles; }

  /// Spans are of this sequence from here on.
  void beginSequence(mlir::Value sequence, mlir::Value length);
  /// Span `number` of a KV head. Keys behind the sequence's last one are some
  /// other keys, or nothing that a number can be. Copies are overwritten by the
  /// next call.
  KeySpan span(mlir::Value number, mlir::Value kvHead);
  /// Where a span will be read that is needed later; nothing where it will be
  /// copied. Behind the sequence, it is some span of the sequence.
  KeySpan later(mlir::Value number, mlir::Value kvHead);

private:
  bool inPlace() const { return layout.blockSize % kLanes == 0; }
  /// Tokens of a tile that are sure to share a block.
  int64_t partTokens() const;
  /// The KV head's part of the block that holds `key`, or of the last block.
  mlir::Value blockOf(mlir::Value key, mlir::Value kvHead);
  KeySpan locate(mlir::Value firstKey, mlir::Value kvHead);
  KeySpan copy(mlir::Value firstKey, mlir::Value kvHead);
  void copyPart(mlir::Value block, mlir::Value inBlock, mlir::Value to,
                int64_t token);

  KernelBuilder &kb;
  KVBlockLayout layout, tiles;
  mlir::Value base, copies;
  mlir::Value table, lastEntry; ///< Of the sequence under way.
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_SPANLOCATOR_H
