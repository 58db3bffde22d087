//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels on the paged KV cache: append, lookup, and attention.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_CACHEKERNELS
#define LLMIR_DIALECT_MLLM_KERNELS_CACHEKERNELS

include "llmir/Dialect/MLLM/Kernels/KernelBase.td"

def MLLMKernel_AppendKVOp : MLLM_KernelOp<"append_kv", ["getCacheGeometry", "getDivisionOf"],
    [MemoryEffects<[MemWrite<MLLM_KVCacheResource>]>]> {
  let summary = "Writes the step's keys and values into the cache";
  let description = [{
    Writes the key and the value of each token to the token's slot in the cache
    layer that the layer register selects, rounded to the cache's element type.
    Divided by columns, in whole KV heads.

    Fails verification when:
    - c1: the cache format is unknown, the block size is not a multiple of the
      values in a cell of the cache, or values in keys are longer than these;
    - c2: a buffer has fewer columns than its heads need, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.append_kv ins(%k, %v : memref<512x32xf32>, memref<512x32xf32>)
        {kv_format = "bf16", kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[tokens, kv_heads * head_dim]", [MemRead]>:$keys,
    Arg<MLLM_F32Rows, "[tokens, kv_heads * value_dim]", [MemRead]>:$values,
    Arg<StrAttr, "element type of the cache">:$kv_format,
    Arg<MLLM_Size, "KV heads">:$kv_heads,
    Arg<MLLM_Size, "elements of a key">:$head_dim,
    Arg<MLLM_Size, "elements of a value">:$value_dim,
    Arg<MLLM_Size, "tokens of a block">:$block_size,
    Arg<UnitAttr, "values are the first elements of keys and are not stored">:$values_in_keys);
  let assemblyFormat = [{
    `ins` `(` $keys `,` $values `:` type($keys) `,` type($values) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    /// The smallest number of KV heads whose keys and values fill whole tiles;
    /// they are processed by one worker.
    int64_t getHeadsPerGrain();
  }];
}

def MLLMKernel_LookupKVOp : MLLM_KernelOp<"lookup_kv", ["getCacheGeometry", "getRowsOf", "hasFixedSize"],
    [MemoryEffects<[MemRead<MLLM_KVCacheResource>]>]> {
  let summary = "Gathers keys and values of whole sequences from the cache";
  let description = [{
    Gathers `rows` tokens of each sequence; rows after the end of a sequence are
    zero. Divided by KV heads.

    Fails verification when:
    - c1: the cache format is unknown, the block size is not a multiple of the
      values in a cell of the cache, or values in keys are longer than these;
    - c2: a buffer has fewer columns than its heads need, or is not padded to
      whole tiles.

    Example:
    ```mlir
    mllm.kernel.lookup_kv outs(%k, %v : memref<64x32xf32>, memref<64x32xf32>)
        {kv_format = "f32", kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, rows = 32}
    ```
  }];
  let arguments = (ins
    Arg<MLLM_F32Rows, "[sequences * rows, kv_heads * head_dim]", [MemWrite]>:$keys,
    Arg<MLLM_F32Rows, "[sequences * rows, kv_heads * value_dim]", [MemWrite]>:$values,
    Arg<StrAttr, "element type of the cache">:$kv_format,
    Arg<MLLM_Size, "KV heads">:$kv_heads,
    Arg<MLLM_Size, "elements of a key">:$head_dim,
    Arg<MLLM_Size, "elements of a value">:$value_dim,
    Arg<MLLM_Size, "tokens of a block">:$block_size,
    Arg<UnitAttr, "values are the first elements of keys and are not stored">:$values_in_keys,
    Arg<MLLM_Size, "tokens per sequence">:$rows);
  let assemblyFormat = [{
    `outs` `(` $keys `,` $values `:` type($keys) `,` type($values) `)` attr-dict
  }];
}

/// Attributes of paged_attention and merge_attention.
defvar MLLM_AttentionAttributes = (ins
    Arg<StrAttr, "element type of the cache">:$kv_format,
    Arg<MLLM_Size, "query heads">:$heads,
    Arg<MLLM_Size, "KV heads">:$kv_heads,
    Arg<MLLM_Size, "elements of a key">:$head_dim,
    Arg<MLLM_Size, "elements of a value">:$value_dim,
    Arg<MLLM_Size, "tokens of a block">:$block_size,
    Arg<UnitAttr, "values are the first elements of keys and are not stored">:$values_in_keys,
    Arg<F64Attr, "factor on the product of query and key">:$scale,
    Arg<DefaultValuedAttr<BoolAttr, "true">, "tokens attend only to keys up to their own position">:$causal,
    Arg<DefaultValuedAttr<I64Attr, "0">, "tokens attend to keys at a distance of less than this; 0: at any">:$window,
    Arg<DefaultValuedAttr<F64Attr, "0.0">, "soft limit of scores, cap * tanh(score / cap); 0: none">:$soft_cap,
    Arg<OptionalAttr<DenseF64ArrayAttr>, "ALiBi slope of each head">:$alibi_slopes,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "strides of the mask, in elements: per sequence, head, query, token of the step, and key; 0 if the mask does not depend on it">:$mask_strides,
    Arg<UnitAttr, "windows are chunks, which begin at multiples of their size">:$chunked);

class MLLM_AttentionKernelOp<string mnemonic, list<Trait> traits = []>
    : MLLM_KernelOp<mnemonic, ["getWeightNeeds", "getCacheGeometry", "getRowsOf", "getConditionOf"], traits> {
  let extraClassDeclaration = [{
    ::llmir::mllm::kernel::AttentionShape getShape() {
      return {static_cast<int64_t>(getHeads()),
              static_cast<int64_t>(getKvHeads()),
              static_cast<int64_t>(getHeadDim()),
              static_cast<int64_t>(getValueDim())};
    }
  }];
}

def MLLMKernel_PagedAttentionOp : MLLM_AttentionKernelOp<"paged_attention",
    [AttrSizedOperandSegments, MemoryEffects<[MemRead<MLLM_KVCacheResource>]>]> {
  let summary = "Grouped-query attention over the paged KV cache";
  let description = [{
    score = cap(scale * q . k) + slope * (key - position) + mask, where cap(s) =
    soft_cap * tanh(s / soft_cap), over the keys that a token attends to; the
    result is the sum of values weighted by the softmax of the scores, or 0 for
    a token that attends to no key. `sinks` is an additional score per head that
    contributes to the denominator only.

    In a step with `split_attention`, the items of work are single chunks of
    keys, whose results are written to `partials` instead of `out`;
    `merge_attention` combines them. Divided by the cost of items.

    Fails verification when:
    - c1: the cache format is unknown, the block size is not a multiple of the
      values in a cell of the cache, or values in keys are longer than these;
    - c2: the KV heads do not divide the heads, a head has more than 4096
      elements, or the window is negative;
    - c3: the number of ALiBi slopes is not that of the heads;
    - c4: there is a mask without five strides or vice versa, a stride is
      negative, or that of keys is neither 0 nor 1;
    - c5: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles; or there are fewer sinks than heads;
    - c6: the partial results have too few rows.

    Example:
    ```mlir
    mllm.kernel.paged_attention ins(%q : memref<512x64xf32>) outs(%y : memref<512x64xf32>)
        {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
    ```
  }];
  let arguments = !con((ins
    Arg<Optional<AnyMemRef>, "a score per head: a packed vector, or one row", [MemRead]>:$sinks,
    Arg<MLLM_F32Rows, "queries, [tokens, heads * head_dim]", [MemRead]>:$query,
    Arg<Optional<MLLM_F32Rows>, "added to scores, addressed with mask_strides", [MemRead]>:$mask,
    Arg<Optional<MLLM_F32Rows>, "partial results of a step that splits attention, in the layout PartialResults", [MemWrite]>:$partials,
    Arg<MLLM_F32Rows, "[tokens, heads * value_dim]", [MemWrite]>:$out), MLLM_AttentionAttributes);
  let assemblyFormat = [{
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)? `ins` `(` $query `:` type($query) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`partials` `(` $partials^ `:` type($partials) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

def MLLMKernel_MergeAttentionOp : MLLM_AttentionKernelOp<"merge_attention"> {
  let summary = "Combines the partial results of attention";
  let description = [{
    In a step with `split_attention`, merges the partial results of a
    `paged_attention` with the same attributes, chunks in ascending order; does
    nothing in other steps. Divided by pairs of a token and a head.

    Fails verification when:
    - c1: the cache format is unknown, the block size is not a multiple of the
      values in a cell of the cache, or values in keys are longer than these;
    - c2: the KV heads do not divide the heads, a head has more than 4096
      elements, or the window is negative;
    - c3: the number of ALiBi slopes is not that of the heads;
    - c4: a buffer has fewer columns than the kernel needs, or is not padded to
      whole tiles; or there are fewer sinks than heads;
    - c5: the partial results have too few rows.

    Example:
    ```mlir
    mllm.kernel.merge_attention partials(%p : memref<1056x48xf32>) outs(%y : memref<512x64xf32>)
        {kv_format = "bf16", heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16, block_size = 16, scale = 0.25}
    ```
  }];
  let arguments = !con((ins
    Arg<Optional<AnyMemRef>, "a score per head: a packed vector, or one row", [MemRead]>:$sinks,
    Arg<MLLM_F32Rows, "partial results, in the layout PartialResults", [MemRead]>:$partials,
    Arg<MLLM_F32Rows, "[tokens, heads * value_dim]", [MemWrite]>:$out), MLLM_AttentionAttributes);
  let assemblyFormat = [{
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)? `partials` `(` $partials `:` type($partials) `)`
    `outs` `(` $out `:` type($out) `)` attr-dict
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_CACHEKERNELS
