//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes ask of ops with attention or with a cache, whichever op it is.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_INTERFACES_TD
#define LLM_INTERFACES_TD

include "mlir/IR/OpBase.td"

def LLM_AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::mlir::llm";
  let description = [{
    An op that weighs values by how well their keys match queries. Sizes that
    are not known when compiling are -1.
  }];
  let methods = [
    InterfaceMethod<"The queries, […, H, D], or [B, T, D] of one head.",
      "::mlir::Value", "getQuery">,
    InterfaceMethod<"What comes out, one row for each query.",
      "::mlir::Value", "getAttentionOutput">,
    InterfaceMethod<"Sequences, or -1.",
      "int64_t", "getBatchSize", (ins), [{ return $_op.countSequences(); }]>,
    InterfaceMethod<"Queries of a sequence where all have equally many; otherwise -1.",
      "int64_t", "getSeqLength", (ins), [{ return $_op.countQueries(); }]>,
    InterfaceMethod<"Keys of a sequence, or -1; of a paged cache it is never known.",
      "int64_t", "getKeyCount", (ins), [{ return $_op.countKeys(); }]>,
    InterfaceMethod<"Heads of the query, or -1.",
      "int64_t", "getNumHeads", (ins), [{ return $_op.countHeads(); }]>,
    InterfaceMethod<"Heads of keys and values, or -1.",
      "int64_t", "getNumKVHeads", (ins), [{ return $_op.countKVHeads(); }]>,
    InterfaceMethod<"Numbers in a head of queries and keys, or -1.",
      "int64_t", "getHeadDim", (ins), [{ return $_op.sizeOfHead(); }]>,
    InterfaceMethod<"Factor of the scores, with the default 1 / sqrt(D) filled in; 0 where D is not known and no scale is given.",
      "double", "getScaleOrDefault", (ins), [{
        return ::mlir::llm::detail::getScaleOrDefault($_op.getScaleAttr(), $_op.sizeOfHead());
      }]>,
    InterfaceMethod<"Whether a query sees only keys up to its own position.",
      "bool", "isCausal", (ins), [{ return $_op.getCausal(); }]>,
    InterfaceMethod<"How many keys back from its own position a query sees, itself included; none: all.",
      "std::optional<int64_t>", "getWindowSize", (ins), [{ return $_op.getWindow(); }]>,
    InterfaceMethod<"c where scores become c · tanh(score / c); none: scores are not bounded.",
      "std::optional<double>", "getSoftCapOrNone", (ins), [{
        return ::mlir::llm::detail::getOptionalDouble($_op.getSoftCapAttr());
      }]>,
    InterfaceMethod<"Slope of each head where positions are penalised by distance; empty: they are not.",
      "::llvm::ArrayRef<double>", "getSlopes", (ins), [{
        return $_op.getAlibiSlopes().value_or(::llvm::ArrayRef<double>());
      }]>,
    InterfaceMethod<"What is added to the scores (or which of them count), or null.",
      "::mlir::Value", "getMaskOperand", (ins), [{ return $_op.getMask(); }]>,
    InterfaceMethod<"A number for each head that joins the softmax's sum without a value, or null.",
      "::mlir::Value", "getSinksOperand", (ins), [{ return $_op.getSinks(); }]>
  ];
}

def LLM_KVCacheOpInterface : OpInterface<"KVCacheOpInterface"> {
  let cppNamespace = "::mlir::llm";
  let description = [{
    An op that makes, reads, writes or ends something in a paged cache. One that
    takes a cache and gives one uses its operand up.
  }];
  let methods = [
    InterfaceMethod<"The cache before, or null where the op makes a new one.",
      "::mlir::Value", "getCacheInput">,
    InterfaceMethod<"The cache after, or null where the op only reads.",
      "::mlir::Value", "getCacheOutput">,
    InterfaceMethod<"The type of the cache that the op works on.",
      "::mlir::llm::PagedKVCacheType", "getCacheType", (ins), /*methodBody=*/"", [{
        ::mlir::Value cache = $_op.getCacheInput();
        return ::llvm::cast<::mlir::llm::PagedKVCacheType>(
            (cache ? cache : $_op.getCacheOutput()).getType());
      }]>,
    InterfaceMethod<"Tokens of all sequences together that the op writes or makes room for; -1: not known.",
      "int64_t", "getNumTokens", (ins), [{ return $_op.countNewTokens(); }]>,
    InterfaceMethod<"The layer that is meant, or null: layer 0, or all of them where the op is about sequences.",
      "::mlir::Value", "getLayerOperand">,
    InterfaceMethod<"Operands that hold numbers of blocks or slots, which mean something for one block size only.",
      "::llvm::SmallVector<::mlir::Value>", "getBlockOperands">,
    InterfaceMethod<"Results that hold such numbers.",
      "::llvm::SmallVector<::mlir::Value>", "getBlockResults", (ins), /*methodBody=*/"", [{
        return {};
      }]>
  ];
  let extraSharedClassDeclaration = [{
    /// True for an op that changes what is in a cache, or who owns it.
    bool writesCache() { return $_op.getCacheInput() && $_op.getCacheOutput(); }
  }];
}

#endif // LLM_INTERFACES_TD
