//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work shared by ranks. A function with `llm.num_ranks = n` is run by n ranks
// in lockstep; each value exists once per rank. An op with `group_size` = g
// exchanges values among g neighbouring ranks: rank r is member r mod g of
// group r / g. An op with `num_shards` = n is told its shard, or takes that of
// its rank: r mod n.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_COLLECTIVE_OPS_TD
#define LLM_COLLECTIVE_OPS_TD

include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_ShardedTensorOrTensor
    : AnyTypeOf<[LLM_FloatTensor, LLM_ShardedTensorType], "tensor or sharded tensor">;
/// A matrix of weights, or one rank's share of it.
def LLM_ShardedMatrix
    : AnyTypeOf<[LLM_FloatTensorOfRank<[2]>, LLM_ShardedTensorType],
                "matrix of weights, whole or sharded">;

def LLM_ShardOp : LLM_PositionalOp<"shard", [Pure]> {
  let summary = "One of the equal slices of a tensor";
  let description = [{
    `result = x[…, i · n to (i + 1) · n, …]` in dimension `dim`, where n =
    size / `num_shards` and i = `shard_index`, or the rank modulo `num_shards`
    where that is absent. The result is the slice as a tensor, or the same
    numbers as a `!llm.sharded_tensor`, whose type remembers the whole.

    Fails verification when
    - c1: `dim` is no dimension of `x`;
    - c2: `num_shards` is not positive, or does not divide the size of `dim`;
    - c3: `shard_index` is negative or not below `num_shards`;
    - c4: the result is not the slice's type: the type of `x` with `dim`
      divided, or the sharded tensor of `x`, `dim`, `num_shards` and
      `shard_index`.

    Example:
    ```mlir
    %s = llm.shard %w {dim = 1, num_shards = 4} : (tensor<64x172xf32>) -> tensor<64x43xf32>
    %t = llm.shard %w {dim = 1, num_shards = 4, shard_index = 2}
       : (tensor<64x172xf32>) -> !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "The whole">:$x,
    Arg<LLM_IntAttr, "Dimension that is cut">:$dim,
    Arg<LLM_IntAttr, "Number of slices">:$num_shards,
    Arg<OptionalAttr<LLM_IntAttr>, "Number of the slice; absent means the rank's">:$shard_index);
  let results = (outs Res<LLM_ShardedTensorOrTensor, "The slice">:$result);
  let builders = [
    // The slice of the rank, as a tensor.
    OpBuilder<(ins "::mlir::Value":$x, "int64_t":$dim, "int64_t":$numShards)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def LLM_ShardedLinearOp : LLM_PositionalOp<"sharded_linear", [Pure]> {
  let summary = "One rank's share of a projection";
  let description = [{
    Of `x · w + bias`, with `w` `[K, N]` (inputs first, as in the documents; the
    weight of `llm.linear` is `[N, K]`), shard i = `shard_id` of n =
    `num_shards` computes:
    ```
    shard_dim = 1 (column parallel):  x · w[:, i] + bias[i]      […, N/n]
    shard_dim = 0 (row parallel):     x[…, i] · w[i, :]          […, N]
    ```
    where `[i]` is the i-th of n slices. Column shards are joined by
    `all_gather`, row shards are summed by `all_reduce` or `reduce_scatter`; in
    the row form shard 0 alone adds `bias`, so that the sum has it once.

    Operands are whole, and sliced here, unless the op says that they are this
    rank's slice already; sizes decide nothing. The slice of `weight` is a
    `!llm.sharded_tensor`, or any matrix with `weight_is_shard`. With `x_is_shard`
    (row form) a row of `x` has the K/n numbers of `[i]`, and with `bias_is_shard`
    (column form) `bias` has the N/n.

    Fails verification when
    - c1: `shard_dim` is neither 0 nor 1;
    - c2: `num_shards` is not positive;
    - c3: `shard_id` is negative or not below `num_shards`;
    - c4: a sharded `weight` is no matrix of f16, bf16 or f32, or of another
      `shard_dim`, `num_shards` or `shard_id`;
    - c5: a row of `x` does not have K numbers, or K/n with `x_is_shard`;
    - c6: the result is not `[…, N/n]` in the column form, `[…, N]` in the row
      form;
    - c7: `bias` does not have N entries, or N/n with `bias_is_shard`;
    - c8: a dimension that is to be sliced is no multiple of `num_shards`;
    - c9: `x_is_shard` is given in the column form, or `bias_is_shard` in the row
      form or without a bias.

    Sizes that are known only at run time and break c5, c7 or c8 are an error of
    that run.

    Example:
    ```mlir
    %y = llm.sharded_linear %x, %w {num_shards = 4, shard_dim = 1, shard_id = 0}
       : (tensor<4x4096xf16>, tensor<4096x4096xf16>) -> tensor<4x1024xf16>
    %z = llm.sharded_linear %y, %rows {num_shards = 4, shard_dim = 0, shard_id = 0, weight_is_shard, x_is_shard}
       : (tensor<4x1024xf16>, tensor<1024x4096xf16>) -> tensor<4x4096xf16>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Inputs […, K], or […, K/n] with x_is_shard">:$x,
    Arg<LLM_ShardedMatrix, "Weights [K, N], or the shard of them">:$weight,
    Arg<Optional<LLM_FloatVector>, "Added to each row [N], or [N/n] with bias_is_shard">:$bias,
    Arg<LLM_IntAttr, "Dimension of the weight that is cut: 0 inputs, 1 outputs">:$shard_dim,
    Arg<LLM_IntAttr, "Number of shards n">:$num_shards,
    Arg<LLM_IntAttr, "Number of this shard, from 0">:$shard_id,
    Arg<UnitAttr, "Row form: x is this shard's inputs">:$x_is_shard,
    Arg<UnitAttr, "The weight is this shard's, as a sharded tensor is">:$weight_is_shard,
    Arg<UnitAttr, "Column form: the bias is that of this shard's outputs">:$bias_is_shard);
  let results = (outs Res<LLM_FloatTensor, "This shard's outputs, or partial sums">:$result);
  let extraClassDeclaration = [{
    bool isColumnParallel() { return getShardDim() == 1; }
    /// Sizes of the weight as it is given: those of the shard where it is one.
    ::llvm::SmallVector<int64_t> getGivenWeightShape();
    /// True where `weight` is the shard already and must not be sliced.
    bool isWeightShard();
  }];
  let hasVerifier = 1;
}

class LLM_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : LLM_PositionalOp<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
  let hasFolder = 1;
}

def LLM_AllGatherOp : LLM_CollectiveOp<"all_gather", [InferTypeOpAdaptor]> {
  let summary = "The values of all ranks of a group, one after the other";
  let description = [{
    `result = concat_dim(x of member 0, …, x of member g - 1)`, the same on
    every rank of the group; g = `group_size`.

    Fails verification when
    - c1: `dim` is no dimension of `x`;
    - c2: `group_size` is not positive, or does not divide the `llm.num_ranks`
      of the function;
    - c3: the result's size does not fit in 63 bits.

    Example:
    ```mlir
    %y = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<?x43xf32>) -> tensor<?x172xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "This rank's part">:$x,
    Arg<LLM_IntAttr, "Dimension in which the parts are joined">:$dim,
    Arg<LLM_IntAttr, "Ranks of a group">:$group_size);
  let results = (outs Res<LLM_FloatTensor, "The whole: dim is group_size times as long">:$result);
  let hasCanonicalizer = 1;
}

def LLM_AllReduceOp : LLM_CollectiveOp<"all_reduce", [AllTypesMatch<["x", "result"]>]> {
  let summary = "The values of all ranks of a group, reduced element by element";
  let description = [{
    `result = x₀ ∘ x₁ ∘ … ∘ x_{g-1}`, the same on every rank of the group, where
    x_i is the value of member i, g = `group_size`, and ∘ is +, max or min;
    "mean" is the sum divided by g. The order is that of the ranks, in f32, and
    the result is rounded once.

    Fails verification when
    - c1: `reduce_op` is not one of sum, mean, max, min;
    - c2: `group_size` is not positive, or does not divide the `llm.num_ranks`
      of the function.

    Example:
    ```mlir
    %y = llm.all_reduce %x {group_size = 4, reduce_op = "sum"} : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "This rank's value">:$x,
    Arg<LLM_IntAttr, "Ranks of a group">:$group_size,
    Arg<DefaultValuedAttr<StrAttr, "\"sum\"">, "sum, mean, max or min">:$reduce_op);
  let results = (outs Res<LLM_FloatTensor, "The reduced value, of x's type">:$result);
}

def LLM_ReduceScatterOp : LLM_CollectiveOp<"reduce_scatter", [InferTypeOpAdaptor]> {
  let summary = "Each rank's slice of what all_reduce would give";
  let description = [{
    Member i of the group receives the i-th of `group_size` slices, in dimension
    `dim`, of the values of all members reduced as by `all_reduce`.

    Fails verification when
    - c1: `dim` is no dimension of `x`;
    - c2: `group_size` is not positive, or does not divide the `llm.num_ranks`
      of the function;
    - c3: `group_size` does not divide the size of `dim`;
    - c4: `reduce_op` is not one of sum, mean, max, min.

    A size of `dim` that is known only at run time, and that `group_size` does not
    divide, is an error of that run.

    Example:
    ```mlir
    %y = llm.reduce_scatter %x {dim = 1, group_size = 4, reduce_op = "sum"}
       : (tensor<?x64xf32>) -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "This rank's value">:$x,
    Arg<LLM_IntAttr, "Dimension that is cut">:$dim,
    Arg<LLM_IntAttr, "Ranks of a group">:$group_size,
    Arg<DefaultValuedAttr<StrAttr, "\"sum\"">, "sum, mean, max or min">:$reduce_op);
  let results = (outs Res<LLM_FloatTensor, "This rank's slice: dim is group_size times as short">:$result);
}

#endif // LLM_COLLECTIVE_OPS_TD
