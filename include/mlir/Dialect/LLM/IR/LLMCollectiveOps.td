//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharding and collective ops. A function with `llm.num_ranks = n` is run by n
// ranks in lockstep; each value exists once per rank. An op with `group_size` =
// g communicates within groups of g consecutive ranks: rank r is member r mod g
// of group r / g. The shard of an op with `num_shards` = n is given, or is that
// of the rank: r mod n.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_COLLECTIVE_OPS_TD
#define LLM_COLLECTIVE_OPS_TD

include "mlir/Dialect/LLM/IR/LLMTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_ShardedTensorOrTensor
    : AnyTypeOf<[LLM_FloatTensor, LLM_ShardedTensorType], "tensor or sharded tensor">;
/// A matrix of weights, or one rank's shard of it.
def LLM_ShardedMatrix
    : AnyTypeOf<[LLM_FloatTensorOfRank<[2]>, LLM_ShardedTensorType],
                "matrix of weights, whole or sharded">;

def LLM_ShardOp : LLM_PositionalOp<"shard", [Pure]> {
  let summary = "Take one of several equal slices of a tensor";
  let description = [{
    `result = x[…, i · n to (i + 1) · n, …]` in dimension `dim`, where n = size
    / `num_shards` and i = `shard_index`, or the rank modulo `num_shards` if
    that is absent. The result is the slice as a plain tensor or as a
    `!llm.sharded_tensor`, whose type records the whole.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `num_shards` is not positive, or does not divide the size of `dim`;
    - c3: `shard_index` is negative or not less than `num_shards`;
    - c4: the result type is neither the type of `x` with `dim` divided, nor the
      sharded tensor type of `x`, `dim`, `num_shards` and `shard_index`.

    Example:
    ```mlir
    %s = llm.shard %w {dim = 1, num_shards = 4} : (tensor<64x172xf32>) -> tensor<64x43xf32>
    %t = llm.shard %w {dim = 1, num_shards = 4, shard_index = 2}
       : (tensor<64x172xf32>) -> !llm.sharded_tensor<tensor<64x172xf32>, 1, 4, 2>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "Whole tensor">:$x,
    Arg<LLM_IntAttr, "Dimension that is sliced">:$dim,
    Arg<LLM_IntAttr, "Number of slices">:$num_shards,
    Arg<OptionalAttr<LLM_IntAttr>, "Index of the slice; that of the rank if absent">:$shard_index);
  let results = (outs Res<LLM_ShardedTensorOrTensor, "Slice">:$result);
  let builders = [
    // The slice of the rank, as a plain tensor.
    OpBuilder<(ins "::mlir::Value":$x, "int64_t":$dim, "int64_t":$numShards)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def LLM_ShardedLinearOp : LLM_PositionalOp<"sharded_linear", [Pure]> {
  let summary = "One rank's shard of a projection";
  let description = [{
    Shard i = `shard_id` of n = `num_shards` of `x · w + bias`, where `w` is
    `[K, N]` (inputs first, unlike the weight of `llm.linear`, which is
    `[N, K]`):
    ```
    shard_dim = 1 (column parallel):  x · w[:, i] + bias[i]      […, N/n]
    shard_dim = 0 (row parallel):     x[…, i] · w[i, :]          […, N]
    ```
    where `[i]` is the i-th of n slices. Column shards are concatenated by
    `all_gather`, row shards are summed by `all_reduce` or `reduce_scatter`; in
    the row form, only shard 0 adds `bias`, so that the sum includes it once.

    The op slices its operands, unless an attribute or type states that an
    operand is this rank's slice; this is never inferred from sizes. `weight` is
    a slice if it is a `!llm.sharded_tensor` or with `weight_is_shard`. With
    `x_is_shard` (row form), a row of `x` has the K/n elements of `[i]`; with
    `bias_is_shard` (column form), `bias` has N/n elements.

    Fails verification when
    - c1: `shard_dim` is neither 0 nor 1;
    - c2: `num_shards` is not positive;
    - c3: `shard_id` is negative or not less than `num_shards`;
    - c4: a sharded `weight` is not a matrix of f16, bf16 or f32, or differs in
      `shard_dim`, `num_shards` or `shard_id`;
    - c5: a row of `x` does not have K elements, or K/n with `x_is_shard`;
    - c6: the result is not `[…, N/n]` in the column form, `[…, N]` in the row
      form;
    - c7: `bias` does not have N elements, or N/n with `bias_is_shard`;
    - c8: a dimension to be sliced is not a multiple of `num_shards`;
    - c9: `x_is_shard` is given in the column form, or `bias_is_shard` in the
      row form or without a bias.

    Dynamic sizes that violate c5, c7 or c8 are runtime errors.

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
    Arg<LLM_ShardedMatrix, "Weights [K, N], or a shard of them">:$weight,
    Arg<Optional<LLM_FloatVector>, "Bias [N], or [N/n] with bias_is_shard">:$bias,
    Arg<LLM_IntAttr, "Dimension of the weight that is sliced: 0 inputs, 1 outputs">:$shard_dim,
    Arg<LLM_IntAttr, "Number of shards (n)">:$num_shards,
    Arg<LLM_IntAttr, "0-based index of this shard">:$shard_id,
    Arg<UnitAttr, "Row form: x is already this shard's slice">:$x_is_shard,
    Arg<UnitAttr, "The weight is already this shard's slice">:$weight_is_shard,
    Arg<UnitAttr, "Column form: the bias is already this shard's slice">:$bias_is_shard);
  let results = (outs Res<LLM_FloatTensor, "This shard's outputs, or partial sums">:$result);
  let extraClassDeclaration = [{
    bool isColumnParallel() { return getShardDim() == 1; }
    /// Shape of the weight operand: that of the shard if it is one.
    ::llvm::SmallVector<int64_t> getGivenWeightShape();
    /// True if `weight` is already the shard and must not be sliced.
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
  let summary = "Concatenate the values of all ranks of a group";
  let description = [{
    `result = concat_dim(x of member 0, …, x of member g - 1)`, the same on
    every rank of the group; g = `group_size`.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `group_size` is not positive or does not divide `llm.num_ranks` of the
      function;
    - c3: the size of the result does not fit in 63 bits.

    Example:
    ```mlir
    %y = llm.all_gather %x {dim = 1, group_size = 4} : (tensor<?x43xf32>) -> tensor<?x172xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "This rank's value">:$x,
    Arg<LLM_IntAttr, "Dimension in which values are concatenated">:$dim,
    Arg<LLM_IntAttr, "Number of ranks per group">:$group_size);
  let results = (outs Res<LLM_FloatTensor, "Concatenation, group_size times as large in dim">:$result);
  let hasCanonicalizer = 1;
}

def LLM_AllReduceOp : LLM_CollectiveOp<"all_reduce", [AllTypesMatch<["x", "result"]>]> {
  let summary = "Element-wise reduction over the ranks of a group";
  let description = [{
    `result = x₀ ∘ x₁ ∘ … ∘ x_{g-1}`, the same on every rank of the group, where
    x_i is the value of member i, g = `group_size`, and ∘ is +, max or min;
    "mean" is the sum divided by g. The reduction is in rank order, in f32, and
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
    Arg<LLM_IntAttr, "Number of ranks per group">:$group_size,
    Arg<DefaultValuedAttr<StrAttr, "\"sum\"">, "Reduction: sum, mean, max or min">:$reduce_op);
  let results = (outs Res<LLM_FloatTensor, "Reduced value, same type as x">:$result);
}

def LLM_ReduceScatterOp : LLM_CollectiveOp<"reduce_scatter", [InferTypeOpAdaptor]> {
  let summary = "Reduce over the ranks of a group and give each rank one slice";
  let description = [{
    Member i of the group receives the i-th of `group_size` slices, in dimension
    `dim`, of the values of all members reduced as by `all_reduce`.

    Fails verification when
    - c1: `dim` is not a dimension of `x`;
    - c2: `group_size` is not positive or does not divide `llm.num_ranks` of the
      function;
    - c3: `group_size` does not divide the size of `dim`;
    - c4: `reduce_op` is not one of sum, mean, max, min.

    A dynamic size of `dim` that `group_size` does not divide is a runtime
    error.

    Example:
    ```mlir
    %y = llm.reduce_scatter %x {dim = 1, group_size = 4, reduce_op = "sum"}
       : (tensor<?x64xf32>) -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins
    Arg<LLM_FloatTensor, "This rank's value">:$x,
    Arg<LLM_IntAttr, "Dimension that is sliced">:$dim,
    Arg<LLM_IntAttr, "Number of ranks per group">:$group_size,
    Arg<DefaultValuedAttr<StrAttr, "\"sum\"">, "Reduction: sum, mean, max or min">:$reduce_op);
  let results = (outs Res<LLM_FloatTensor, "This rank's slice, with dim divided by group_size">:$result);
}

#endif // LLM_COLLECTIVE_OPS_TD
