//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types of the `llm` dialect and the type constraints of its ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_TYPES_TD
#define LLM_TYPES_TD

include "mlir/Dialect/LLM/IR/LLMBase.td"
include "mlir/IR/AttrTypeBase.td"

class LLM_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<LLM_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

def LLM_PagedKVCacheType : LLM_Type<"PagedKVCache", "paged_kv_cache"> {
  let summary = "Paged storage for the keys and values of all layers and sequences";
  let description = [{
    ```mlir
    !llm.paged_kv_cache<elementType, numLayers, numHeads, headDim, blockSize, maxSeqLen>
    !llm.paged_kv_cache<elementType, …, maxSeqLen, valueDim = V>
    !llm.paged_kv_cache<elementType, …, maxSeqLen, valuesInKeys = V>
    ```
    Storage for the keys and values of a model. A block holds `blockSize`
    consecutive tokens of one sequence in one layer. The block table of a
    sequence lists its blocks in order; the blocks need not be contiguous, and a
    sequence of n tokens occupies ⌈n / blockSize⌉ of them. Value heads have
    `headDim` elements, or `valueDim` if it is given. With `valuesInKeys`, each
    value is the first V elements of its key, as in multi-head latent attention
    (DeepSeek-V2, arXiv:2405.04434), and only keys are stored: the values of an
    append must be these elements.

    An i8 cache has one scale per head and token: scale = max|x| / 127 over the
    elements of the head, q = clamp(roundeven(x / scale), -127, 127), and reads
    return scale · q, or NaN for the whole head if one of its elements was not
    finite. Operands and results of ops on such a cache have element type f32.

    A value of this type is the state of the cache at one point of the program.
    It is used linearly: an append produces a new value, after which the old one
    may not be used (`-llm-check-cache-use`), because bufferization keeps one
    cache in memory and appends update it in place.

    Fails verification when
    - c1: the element type is not f16, bf16, f32 or i8;
    - c2: an integer parameter is not positive;
    - c3: `blockSize` is not a power of two, or `blockSize` elements occupy less
      than 4 bytes;
    - c4: `valuesInKeys` exceeds `headDim`.

    Example: `!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::Type", "Stored element type: f16, bf16, f32 or i8">:$elementType,
    AttrOrTypeParameter<"int64_t", "Number of decoder layers">:$numLayers,
    AttrOrTypeParameter<"int64_t", "Number of KV heads per layer">:$numHeads,
    AttrOrTypeParameter<"int64_t", "Number of elements of a key head">:$headDim,
    AttrOrTypeParameter<"int64_t", "Number of tokens per block">:$blockSize,
    AttrOrTypeParameter<"int64_t", "Maximum number of tokens of a sequence">:$maxSeqLen,
    AttrOrTypeParameter<"int64_t", "Number of elements of a value head">:$valueDim,
    AttrOrTypeParameter<"bool", "Whether values are the first elements of keys">:$valuesInKeys
  );
  let assemblyFormat = [{
    `<` $elementType `,` $numLayers `,` $numHeads `,` $headDim `,` $blockSize
    `,` $maxSeqLen `` custom<ValueDim>($valueDim, $valuesInKeys, ref($headDim)) `>`
  }];
  let builders = [
    // Value heads have as many elements as key heads.
    TypeBuilder<(ins "::mlir::Type":$elementType, "int64_t":$numLayers,
                     "int64_t":$numHeads, "int64_t":$headDim,
                     "int64_t":$blockSize, "int64_t":$maxSeqLen), [{
      return $_get($_ctxt, elementType, numLayers, numHeads, headDim, blockSize,
                   maxSeqLen, /*valueDim=*/headDim, /*valuesInKeys=*/false);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The element type of keys and values outside the cache: f32 for an i8
    /// cache, the stored type otherwise.
    ::mlir::Type getComputeElementType() const {
      ::mlir::Type stored = getElementType();
      return stored.isInteger() ? ::mlir::Float32Type::get(getContext())
                                : stored;
    }
    /// The maximum number of blocks of a sequence in one layer.
    int64_t getMaxBlocksPerSequence() const {
      return (getMaxSeqLen() - 1) / getBlockSize() + 1;
    }
  }];
}

def LLM_QuantizedTensorType : LLM_Type<"QuantizedTensor", "quantized_tensor"> {
  let summary = "A quantized tensor";
  let description = [{
    ```mlir
    !llm.quantized_tensor<elementType, shape, isSymmetric, isPerChannel, quantAxis, groupSize, numBits>
    !llm.quantized_tensor<elementType, shape, …, numBits, format = name>
    ```
    An element has the value `scale * (q - zero_point)`; a symmetric tensor has
    no zero points. There is one scale for the whole tensor, one per index of
    `quantAxis` (per channel), or one per group of `groupSize` consecutive
    elements of a row. -1 means "no axis" or "no groups"; so does a group that
    is not shorter than a row. If the element type has more than `numBits` bits,
    it holds integers of `numBits` bits.

    `format` names a stored block format (a row of TensorFormats.def: `q8_0`,
    `q4_k`, `iq4_xs`, `mxfp4` and others). Scales are then stored inside the
    blocks, as in the checkpoint, and `groupSize` is the number of elements per
    block. A format that adds a minimum to each group is asymmetric. The
    elements of some formats are indexes of a codebook (Codebooks.def).

    The parser also accepts `[4096 x 4096]` for `[4096, 4096]`, and
    `symmetric|asymmetric` and `per_channel|per_tensor` for `true|false`.

    Fails verification when
    - c1: the element type is not a signless i4, i8 or i16, nor, in a block
      format, i2, i3, i5 or i6;
    - c2: `numBits` is not between 2 and the bit width of the element type, or,
      in a block format, is not equal to it;
    - c3: the shape is empty or a dimension is not positive;
    - c4: `quantAxis` is neither -1 nor a dimension;
    - c5: it is per channel and `quantAxis` is -1;
    - c6: `groupSize` is neither -1 nor positive;
    - c7: `groupSize` does not divide the grouped dimension;
    - c8: `format` is unknown, or is not a block format;
    - c9: symmetry, `groupSize` or `numBits` differs from that of the format.

    Example: `!llm.quantized_tensor<i8, [4096, 4096], true, false, -1, 32, 8,
    format = q8_0>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::Type", "Storage element type: i4, i8 or i16; also i2, i3, i5 or i6 in block formats">:$elementType,
    ArrayRefParameter<"int64_t", "Shape of the represented tensor; [N, K] for a weight with N outputs and K inputs">:$shape,
    AttrOrTypeParameter<"bool", "True if there are no zero points">:$isSymmetric,
    AttrOrTypeParameter<"bool", "True if each index of quantAxis has its own scale">:$isPerChannel,
    AttrOrTypeParameter<"int64_t", "Dimension with one scale per index, or -1">:$quantAxis,
    AttrOrTypeParameter<"int64_t", "Number of consecutive elements of a row that share a scale, or -1">:$groupSize,
    AttrOrTypeParameter<"int64_t", "Bits per stored element, at most the width of the element type">:$numBits,
    StringRefParameter<"Stored block format, or empty", "\"\"">:$format
  );
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Returns the type of a tensor of `shape` stored in the block format
    /// `format` of TensorFormats.def ("q8_0"), or null if the format is unknown
    /// or is not a block format. Does not verify the shape (see verify).
    static QuantizedTensorType getForFormat(::mlir::MLIRContext *context,
                                            ::llvm::ArrayRef<int64_t> shape,
                                            ::llvm::StringRef format);

    int64_t getRank() const { return getShape().size(); }

    /// The dimension that groups divide: the last one, or the first if the last
    /// one is the quantAxis.
    int64_t getGroupedDim() const {
      return getRank() > 1 && getQuantAxis() == getRank() - 1 ? 0 : getRank() - 1;
    }

    /// The shape of the scales: the grid of groups, [size of quantAxis], or
    /// [1].
    ::llvm::SmallVector<int64_t> getScaleShape() const;

    /// True if a row has more than one group.
    bool hasGroups() const {
      return getGroupSize() > 0 && getGroupSize() < getShape()[getGroupedDim()];
    }
  }];
}

def LLM_ShardedTensorType : LLM_Type<"ShardedTensor", "sharded_tensor"> {
  let summary = "One of several equal slices of a tensor";
  let description = [{
    ```mlir
    !llm.sharded_tensor<originalType, shardDim, numShards, shardIndex>
    ```
    Slice `shardIndex` of the `numShards` equal slices of a tensor of type
    `originalType` in dimension `shardDim`. Concatenating slices 0, 1, … in
    `shardDim` yields the original tensor.

    Fails verification when
    - c1: `shardDim` is not a dimension of `originalType`;
    - c2: `numShards` is not positive;
    - c3: `shardIndex` is negative or not less than `numShards`;
    - c4: `numShards` does not divide the size of `shardDim`, or that size is
      dynamic.

    Example: `!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 4, 2>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::RankedTensorType", "Type of the whole tensor">:$originalType,
    AttrOrTypeParameter<"int64_t", "Dimension that is sliced">:$shardDim,
    AttrOrTypeParameter<"int64_t", "Number of slices">:$numShards,
    AttrOrTypeParameter<"int64_t", "0-based index of this slice">:$shardIndex
  );
  let assemblyFormat = "`<` $originalType `,` $shardDim `,` $numShards `,` $shardIndex `>`";
  let extraClassDeclaration = [{
    /// The type of the slice as a tensor.
    ::mlir::RankedTensorType getShardType() const;
  }];
}

//===----------------------------------------------------------------------===//
// Constraints on operands
//===----------------------------------------------------------------------===//

/// Activations and plain weights.
def LLM_Float : AnyTypeOf<[F16, BF16, F32]>;
class LLM_FloatTensorOfRank<list<int> ranks> : TensorRankOf<[F16, BF16, F32], ranks>;
def LLM_FloatTensor : RankedTensorOf<[F16, BF16, F32], [HasRankGreaterOrEqualPred<1>]>;
def LLM_FloatVector : LLM_FloatTensorOfRank<[1]>;

/// Per-token and per-sequence integers.
def LLM_IndexVector : TensorRankOf<[I32], [1]>;
def LLM_IndexTable : TensorRankOf<[I32], [1, 2]>;

/// A boolean or additive attention mask.
def LLM_MaskTensor : TensorRankOf<[I1, F16, BF16, F32], [2, 3, 4]>;

def LLM_QuantizedMatrix : DialectType<LLM_Dialect,
    CPred<"::llvm::isa<::mlir::llm::QuantizedTensorType>($_self) && "
          "::llvm::cast<::mlir::llm::QuantizedTensorType>($_self).getRank() == 2">,
    "quantized matrix", "::mlir::llm::QuantizedTensorType">;

/// A matrix of weights, plain or quantized.
def LLM_WeightMatrix : AnyTypeOf<[LLM_FloatTensorOfRank<[2]>, LLM_QuantizedMatrix],
                                 "matrix of weights">;
/// Any parameter of a model.
def LLM_Weight : AnyTypeOf<[LLM_FloatTensor, LLM_QuantizedTensorType], "weight">;

#endif // LLM_TYPES_TD
