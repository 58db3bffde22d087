//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds keys and values through the block table. If blocks hold a multiple of
// 16 tokens, keys and values are read in place; otherwise they are first copied
// to contiguous tiles, so that the block size does not affect results. Values
// that are parts of keys are copied to tiles of values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_SPANLOCATOR_H
#define LLMIR_LIB_CODEGEN_SPANLOCATOR_H

#include "AttentionProducts.h"

namespace llmir {

class SpanLocator {
public:
  SpanLocator(KernelBuilder &kb, const KVBlockLayout &layout);

  /// The layout of the spans returned by span(): that of the cache, or of the
  /// copies.
  const KVBlockLayout &tileLayout() const { return tiles; }

  /// Makes span() and later() return spans of this sequence.
  void beginSequence(mlir::Value sequence, mlir::Value length);
  /// Span `number` of a KV head. Keys past the end of the sequence are
  /// arbitrary. Copies are overwritten by the next call.
  KeySpan span(mlir::Value number, mlir::Value kvHead);
  /// The location of a span that is needed later, to be prefetched; empty if
  /// spans are copied. Past the end of the sequence, returns some span of the
  /// sequence.
  KeySpan later(mlir::Value number, mlir::Value kvHead);
  /// Whether spans are copied at least in part.
  bool copies() const { return !inPlace() || layout.valuesInKeys; }

private:
  /// Whether keys, and values that are stored beside them, are not copied.
  bool inPlace() const { return layout.blockSize % kLanes == 0; }
  /// Size of the values of a tile of 16 tokens.
  int64_t valueTileBytes() const;
  /// Number of tokens of a tile that are guaranteed to share a block.
  int64_t partTokens() const;
  /// The part of the KV head in the block that holds `key`, or in the last
  /// block.
  mlir::Value blockOf(mlir::Value key, mlir::Value kvHead);
  KeySpan locate(mlir::Value firstKey, mlir::Value kvHead);
  KeySpan copy(mlir::Value firstKey, mlir::Value kvHead);
  void copyPart(mlir::Value block, mlir::Value inBlock, mlir::Value to,
                int64_t token);
  /// Makes the values of a span from its keys.
  void copyValues(KeySpan &span);

  KernelBuilder &kb;
  KVBlockLayout layout, tiles;
  mlir::Value base, group, copied, copiedValues;
  mlir::Value table, lastEntry; ///< Of the current sequence.
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_SPANLOCATOR_H
