//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Interfaces of attention ops and of ops on a paged cache.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_INTERFACES_TD
#define LLM_INTERFACES_TD

include "mlir/IR/OpBase.td"

def LLM_AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::mlir::llm";
  let description = [{
    An op that computes attention. Methods return -1 for sizes that are not
    known at compile time.
  }];
  let methods = [
    InterfaceMethod<"The queries, […, H, D], or [B, T, D] for a single head.",
      "::mlir::Value", "getQuery">,
    InterfaceMethod<"The attention output, one row per query.",
      "::mlir::Value", "getAttentionOutput">,
    InterfaceMethod<"Number of sequences, or -1.",
      "int64_t", "getBatchSize", (ins), [{ return $_op.countSequences(); }]>,
    InterfaceMethod<"Number of queries per sequence if all sequences have equally many, otherwise -1.",
      "int64_t", "getSeqLength", (ins), [{ return $_op.countQueries(); }]>,
    InterfaceMethod<"Number of keys per sequence, or -1; always -1 for a paged cache.",
      "int64_t", "getKeyCount", (ins), [{ return $_op.countKeys(); }]>,
    InterfaceMethod<"Number of query heads, or -1.",
      "int64_t", "getNumHeads", (ins), [{ return $_op.countHeads(); }]>,
    InterfaceMethod<"Number of KV heads, or -1.",
      "int64_t", "getNumKVHeads", (ins), [{ return $_op.countKVHeads(); }]>,
    InterfaceMethod<"Number of elements of a query or key head, or -1.",
      "int64_t", "getHeadDim", (ins), [{ return $_op.sizeOfHead(); }]>,
    InterfaceMethod<"Factor of the scores, 1 / sqrt(D) by default; 0 if D is not known and no scale is given.",
      "double", "getScaleOrDefault", (ins), [{
        return ::mlir::llm::detail::getScaleOrDefault($_op.getScaleAttr(), $_op.sizeOfHead());
      }]>,
    InterfaceMethod<"Whether a query attends only to keys up to its own position.",
      "bool", "isCausal", (ins), [{ return $_op.getCausal(); }]>,
    InterfaceMethod<"Size of the sliding window: a query attends to keys at a distance of less than it; nullopt: at any.",
      "std::optional<int64_t>", "getWindowSize", (ins), [{ return $_op.getWindow(); }]>,
    InterfaceMethod<"Whether windows are chunks, which begin at multiples of their size.",
      "bool", "isChunked", (ins), [{ return $_op.getChunked(); }]>,
    InterfaceMethod<"The bound c of c · tanh(score / c); nullopt: scores are not capped.",
      "std::optional<double>", "getSoftCapOrNone", (ins), [{
        return ::mlir::llm::detail::getOptionalDouble($_op.getSoftCapAttr());
      }]>,
    InterfaceMethod<"The ALiBi slope of each head; empty if there are none.",
      "::llvm::ArrayRef<double>", "getSlopes", (ins), [{
        return $_op.getAlibiSlopes().value_or(::llvm::ArrayRef<double>());
      }]>,
    InterfaceMethod<"The boolean or additive mask, or null.",
      "::mlir::Value", "getMaskOperand", (ins), [{ return $_op.getMask(); }]>,
    InterfaceMethod<"The attention sink of each head, or null.",
      "::mlir::Value", "getSinksOperand", (ins), [{ return $_op.getSinks(); }]>
  ];
}

def LLM_KVCacheOpInterface : OpInterface<"KVCacheOpInterface"> {
  let cppNamespace = "::mlir::llm";
  let description = [{
    An op that creates, reads or updates a paged cache. An op with both a cache
    operand and a cache result consumes its operand.
  }];
  let methods = [
    InterfaceMethod<"The cache operand, or null if the op creates a new cache.",
      "::mlir::Value", "getCacheInput">,
    InterfaceMethod<"The resulting cache, or null if the op only reads.",
      "::mlir::Value", "getCacheOutput">,
    InterfaceMethod<"The type of the cache.",
      "::mlir::llm::PagedKVCacheType", "getCacheType", (ins), /*methodBody=*/"", [{
        ::mlir::Value cache = $_op.getCacheInput();
        return ::llvm::cast<::mlir::llm::PagedKVCacheType>(
            (cache ? cache : $_op.getCacheOutput()).getType());
      }]>,
    InterfaceMethod<"Number of tokens, over all sequences, that the op writes or reserves; -1 if not known.",
      "int64_t", "getNumTokens", (ins), [{ return $_op.countNewTokens(); }]>,
    InterfaceMethod<"The layer operand, or null: layer 0, or all layers for ops on whole sequences.",
      "::mlir::Value", "getLayerOperand">,
    InterfaceMethod<"Operands that hold block or slot indices, which depend on the block size.",
      "::llvm::SmallVector<::mlir::Value>", "getBlockOperands">,
    InterfaceMethod<"Results that hold block or slot indices.",
      "::llvm::SmallVector<::mlir::Value>", "getBlockResults", (ins), /*methodBody=*/"", [{
        return {};
      }]>
  ];
  let extraSharedClassDeclaration = [{
    /// True if the op changes the contents of a cache or the ownership of its
    /// blocks.
    bool writesCache() { return $_op.getCacheInput() && $_op.getCacheOutput(); }
  }];
}

#endif // LLM_INTERFACES_TD
