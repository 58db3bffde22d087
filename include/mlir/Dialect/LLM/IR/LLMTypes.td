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
  let summary = "The keys and values of all layers and sequences, in blocks";
  let description = [{
    ```mlir
    !llm.paged_kv_cache<elementType, numLayers, numHeads, headDim, blockSize, maxSeqLen>
    !llm.paged_kv_cache<elementType, …, maxSeqLen, valueDim = V>
    ```
    Storage for the keys and values of a model. A block holds `blockSize`
    consecutive tokens of one sequence in one layer; a sequence's block table
    lists its blocks in order, so that a sequence of n tokens occupies
    ⌈n / blockSize⌉ blocks wherever they lie. Heads of values have `headDim`
    numbers too, or `valueDim` where that is given and another number.

    Numbers of i8 have a scale for each head of each token: scale = max|x| / 127
    over the head's numbers, q = roundeven(x / scale) within ±127, and x is read
    back as scale · q: NaN where one of the head's numbers is not finite. Outside
    the cache they are f32.

    A value of this type is the cache at one moment. It is used linearly: an
    append makes a new value, and the value before it may not be used any more
    (`-llm-check-cache-use`), because after bufferization there is one cache in
    memory and appends write to it in place.

    Fails verification when
    - c1: the element type is not f16, bf16, f32 or i8;
    - c2: a count or a size is not positive;
    - c3: `blockSize` is not a power of two, or is less than the elements that fill 4 bytes.

    Example: `!llm.paged_kv_cache<f16, 12, 16, 64, 16, 4096>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::Type", "Type of a stored number: f16, bf16, f32 or i8">:$elementType,
    AttrOrTypeParameter<"int64_t", "Number of decoder layers">:$numLayers,
    AttrOrTypeParameter<"int64_t", "Key and value heads of a layer">:$numHeads,
    AttrOrTypeParameter<"int64_t", "Numbers in one head of one token">:$headDim,
    AttrOrTypeParameter<"int64_t", "Tokens in one block">:$blockSize,
    AttrOrTypeParameter<"int64_t", "Most tokens that a sequence can have">:$maxSeqLen,
    AttrOrTypeParameter<"int64_t", "Numbers in one head of the values of one token">:$valueDim
  );
  let assemblyFormat = [{
    `<` $elementType `,` $numLayers `,` $numHeads `,` $headDim `,` $blockSize
    `,` $maxSeqLen `` custom<ValueDim>($valueDim, ref($headDim)) `>`
  }];
  let builders = [
    // Values have heads as long as the keys'.
    TypeBuilder<(ins "::mlir::Type":$elementType, "int64_t":$numLayers,
                     "int64_t":$numHeads, "int64_t":$headDim,
                     "int64_t":$blockSize, "int64_t":$maxSeqLen), [{
      return $_get($_ctxt, elementType, numLayers, numHeads, headDim, blockSize,
                   maxSeqLen, /*valueDim=*/headDim);
    }]>
  ];
  let extraClassDeclaration = [{
    /// Type of a number that goes in or comes out: f32 where bytes with scales
    /// are stored, else that of stored ones.
    ::mlir::Type getNumberType() const {
      ::mlir::Type stored = getElementType();
      return stored.isInteger() ? ::mlir::Float32Type::get(getContext())
                                : stored;
    }
    /// Most blocks that one sequence occupies in one layer.
    int64_t getMaxBlocksPerSequence() const {
      return (getMaxSeqLen() - 1) / getBlockSize() + 1;
    }
  }];
}

def LLM_QuantizedTensorType : LLM_Type<"QuantizedTensor", "quantized_tensor"> {
  let summary = "A tensor stored in few bits with scales";
  let description = [{
    ```mlir
    !llm.quantized_tensor<elementType, shape, isSymmetric, isPerChannel, quantAxis, groupSize, numBits>
    !llm.quantized_tensor<elementType, shape, …, numBits, format = name>
    ```
    A number is `scale * (q - zero_point)`; a symmetric tensor has no zero
    points. Scales belong to the whole tensor, to an index of `quantAxis`
    (per channel), or to a group of `groupSize` neighbours in a row. -1 stands
    for "no axis" and "no groups"; a group at least as long as a row is none
    either. An element of more than `numBits` bits holds an integer of `numBits` bits.

    `format` names a stored block format (a row of TensorFormats.def: `q8_0`,
    `q4_0`, `q4_1`, `q4_k`, `q5_k`, `q6_k`); scales then lie beside the numbers,
    as in the checkpoint, and `groupSize` is the numbers of a block. A format
    that adds a minimum to each group is asymmetric.

    `[4096 x 4096]`, `symmetric|asymmetric` and `per_channel|per_tensor` are
    accepted where `[4096, 4096]`, `true|false` are printed.

    Fails verification when
    - c1: the element type is not a signless i4, i8 or i16, nor, in a block
      format, i5 or i6;
    - c2: `numBits` is not from 2 to the element type's width, or, in a format, not that width;
    - c3: the shape is empty or a size is not positive;
    - c4: `quantAxis` is neither -1 nor a dimension;
    - c5: it is per channel and `quantAxis` is -1;
    - c6: `groupSize` is neither -1 nor positive;
    - c7: `groupSize` does not divide the grouped dimension;
    - c8: `format` is unknown, or is not a block format;
    - c9: symmetry, `groupSize` or `numBits` is not the format's.

    Example: `!llm.quantized_tensor<i8, [4096, 4096], true, false, -1, 32, 8, format = q8_0>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::Type", "Type of a stored number: i4, i8 or i16; i5 or i6 in block formats">:$elementType,
    ArrayRefParameter<"int64_t", "Sizes of the tensor that is represented; a weight is [N, K]: N outputs, K inputs">:$shape,
    AttrOrTypeParameter<"bool", "True where zero means zero: no zero points">:$isSymmetric,
    AttrOrTypeParameter<"bool", "True where each index of quantAxis has its own scale">:$isPerChannel,
    AttrOrTypeParameter<"int64_t", "Dimension whose indices have scales of their own, or -1">:$quantAxis,
    AttrOrTypeParameter<"int64_t", "Neighbours in a row that share a scale, or -1">:$groupSize,
    AttrOrTypeParameter<"int64_t", "Bits of a stored number: at most those of the element type">:$numBits,
    StringRefParameter<"Stored block format, or empty", "\"\"">:$format
  );
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The type of a tensor of `shape` stored in the block format `format` of
    /// TensorFormats.def ("q8_0"); null when the format is unknown or is no
    /// block format. Sizes are not checked here (see verify).
    static QuantizedTensorType getForFormat(::mlir::MLIRContext *context,
                                            ::llvm::ArrayRef<int64_t> shape,
                                            ::llvm::StringRef format);

    int64_t getRank() const { return getShape().size(); }

    /// The dimension in which groups lie: the last one, or the first where the
    /// last one has scales of its own.
    int64_t getGroupedDim() const {
      return getRank() > 1 && getQuantAxis() == getRank() - 1 ? 0 : getRank() - 1;
    }

    /// The shape of the scales of the whole: the group grid; one per index of
    /// quantAxis; or [1].
    ::llvm::SmallVector<int64_t> getScaleShape() const;

    /// True when several groups of one row have scales of their own.
    bool hasGroups() const {
      return getGroupSize() > 0 && getGroupSize() < getShape()[getGroupedDim()];
    }
  }];
}

def LLM_ShardedTensorType : LLM_Type<"ShardedTensor", "sharded_tensor"> {
  let summary = "One of the equal slices into which a tensor was cut";
  let description = [{
    ```mlir
    !llm.sharded_tensor<originalType, shardDim, numShards, shardIndex>
    ```
    The slice `shardIndex` of `numShards` in dimension `shardDim` of a tensor of
    type `originalType`. Slices 0, 1, … joined in `shardDim` give the original.

    Fails verification when
    - c1: `shardDim` is no dimension of `originalType`;
    - c2: `numShards` is not positive;
    - c3: `shardIndex` is negative or not below `numShards`;
    - c4: `numShards` does not divide the size of `shardDim`, or that size is
      not known.

    Example: `!llm.sharded_tensor<tensor<4096x4096xf16>, 1, 4, 2>`
  }];
  let parameters = (ins
    TypeParameter<"::mlir::RankedTensorType", "Type of the tensor before it was cut">:$originalType,
    AttrOrTypeParameter<"int64_t", "Dimension that is cut">:$shardDim,
    AttrOrTypeParameter<"int64_t", "Number of slices">:$numShards,
    AttrOrTypeParameter<"int64_t", "Number of this slice, from 0">:$shardIndex
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

/// Which scores of attention count, or numbers that are added to them.
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
