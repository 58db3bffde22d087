//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kinds of kernels a program can call and the parameters of each: the one
// definition that the conversion to programs writes and the emitters read.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELSPEC_H
#define LLMIR_DIALECT_MLLM_KERNELSPEC_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace llmir::mllm::program {

class KernelOp;

/// Over which rows of its buffers a kernel works: every token of the step, or
/// only the rows whose logits are wanted.
enum class RowSpace { Tokens, LogitRows };

/// How the work of a kernel is divided among the workers. Two kernels with the
/// same division touch the same elements from the same worker, so that no
/// barrier is needed between them.
enum class WorkSplit {
  Rows,    ///< Contiguous ranges of tokens (or logits rows).
  Columns, ///< Contiguous ranges of units of 16-column tiles, all rows.
  Heads,   ///< (token, head) pairs, dealt out in turn.
  Items,   ///< Attention's own, by their cost.
};

/// Heads that stay with one worker where columns are shared out by heads: the
/// fewest that fill whole tiles of 16 columns.
constexpr int64_t headsPerUnit(int64_t headDim) {
  int64_t heads = 1;
  while (heads * headDim % 16 != 0)
    heads *= 2;
  return heads;
}
/// The same in tiles: the unit of a matmul whose result is heads.
constexpr int64_t tilesPerUnit(int64_t headDim) {
  return headsPerUnit(headDim) * headDim / 16;
}

/// Cosines and sines of the step's positions, computed in f64 and stored as
/// f32. Buffers: cos, sin [tokens, rotary dimension / 2]. Split by Rows.
struct RopeAnglesSpec {
  static constexpr llvm::StringLiteral kind = "rope_angles";
  static constexpr int64_t outputs = 2;
  llvm::SmallVector<double> frequencies; ///< Angle = position * frequency.
  double scaling = 1.0;                  ///< Factor on both cos and sin.
};

/// Rows of an embedding table, chosen by the tokens' ids or by their positions.
/// Weights: table (tiles16). Buffers: out. Split by Rows.
struct EmbeddingSpec {
  static constexpr llvm::StringLiteral kind = "embedding";
  std::string format;
  int64_t rows = 0, columns = 0; ///< Vocabulary or context, hidden size.
  bool positions = false;        ///< By the step's positions, not token ids.
};

/// Copies the listed rows. Buffers: x [tokens, K], out [logit rows, K].
/// Split by Rows of the output.
struct SelectRowsSpec {
  static constexpr llvm::StringLiteral kind = "select_rows";
  int64_t columns = 0;
};

/// y = x / sqrt(mean(x^2) + eps) [* w] over groups of `columns`; `groups` > 1
/// normalises each head of a row. Weights: [w (vector)]. Buffers: x, out.
/// Split by Rows; by Columns, in units of whole heads, where there are several.
struct RmsNormSpec {
  static constexpr llvm::StringLiteral kind = "rms_norm";
  int64_t columns = 0, groups = 1;
  double eps = 0;
  RowSpace over = RowSpace::Tokens;
  bool weight = true;
};

/// y = (x - mean(x)) / sqrt(variance(x) + eps) [* w] [+ b] over groups of
/// `columns`. Weights: [w (vector)] [, b (vector)]. Buffers: x, out. Split by
/// Rows.
struct LayerNormSpec {
  static constexpr llvm::StringLiteral kind = "layer_norm";
  int64_t columns = 0, groups = 1;
  double eps = 0;
  bool weight = false, bias = false;
  RowSpace over = RowSpace::Tokens;
};

/// y = exp(x - max(x)) / sum of these, over groups of `columns`. Buffers: x,
/// out. Split by Rows.
struct SoftmaxSpec {
  static constexpr llvm::StringLiteral kind = "softmax";
  int64_t columns = 0, groups = 1;
  RowSpace over = RowSpace::Tokens;
};

/// y = x W^T (+ b). Weights: W (tiles16) [, b (vector)]. Buffers: x, out. W of
/// bf16 takes rows that `round_rows` has made, any other rows of f32. Split by
/// Columns.
struct LinearSpec {
  static constexpr llvm::StringLiteral kind = "linear";
  std::string format;
  int64_t rows = 0, columns = 0; ///< N, K.
  bool bias = false;
  RowSpace over = RowSpace::Tokens;
  int64_t unit = 0; ///< Tiles that stay with one worker; 0: one.
};

/// y = x W^T (+ b) where W is integers with scales. Weights: W (an
/// IntegerFormat) [, b (vector)]. Buffers: x, out. Without `segment`, x is rows
/// of f32; with it, rows that `quantize_rows` has made for this W in segments
/// of as many values. A scalar region is that of LinearSpec. Split by Columns.
struct QuantizedLinearSpec {
  static constexpr llvm::StringLiteral kind = "quantized_linear";
  std::string format;            ///< A name of IntegerFormat.
  int64_t rows = 0, columns = 0; ///< N, K.
  bool bias = false;
  int64_t segment = 0;
  RowSpace over = RowSpace::Tokens;
  int64_t unit = 0; ///< Tiles that stay with one worker; 0: one.
};

/// Each row as int8 with a scale for every `group` neighbours, the last group
/// perhaps shorter: scale = max|x| / 127, q = roundeven(x / scale), 0 where the
/// scale is 0, all in f32. Written as a QuantizedRowLayout of `segment` (which
/// divides `group`, or holds all of K) and `padded`. With `topK`, rows are the
/// places of a mixture of experts, as many for each token. Buffers: x, out.
/// Split by Rows.
struct QuantizeRowsSpec {
  static constexpr llvm::StringLiteral kind = "quantize_rows";
  int64_t columns = 0, group = 0, segment = 0, padded = 0;
  RowSpace over = RowSpace::Tokens;
  int64_t topK = 0; ///< 0: one row for each of `over`.
};

/// Each row rounded to bf16, nearest even: 4-byte words of two neighbours, the
/// first in the low half, zero behind the last. Buffers: x, out. Split by Rows.
struct RoundRowsSpec {
  static constexpr llvm::StringLiteral kind = "round_rows";
  int64_t columns = 0;
  RowSpace over = RowSpace::Tokens;

  static int64_t words(int64_t columns) { return (columns + 1) / 2; }
};

/// Packs integers that the program has as the f32 numbers that `quantize`
/// writes: a matrix [rows, columns] whose number (n, k) is element
/// n * rowStride + k * columnStride of a tensor in rows of `tensorColumns`,
/// with the scale (and zero point) of row n and group g at n / scaleRows *
/// scaleRowStride + g * scaleGroupStride of a grid in rows of `gridColumns`.
/// Buffers: q, scales [, zero points], out (the packed bytes, 16 words in a
/// row). The format's scales are f32. Any worker may touch any element.
struct PackIntegersSpec {
  static constexpr llvm::StringLiteral kind = "pack_integers";
  std::string format; ///< A name of IntegerFormat.
  int64_t rows = 0, columns = 0;
  int64_t tensorColumns = 0, rowStride = 0, columnStride = 0;
  int64_t gridColumns = 0, scaleRowStride = 0, scaleGroupStride = 0;
  int64_t scaleRows = 1; ///< Rows that share their scales.
};

/// A scalar region applied to each element. Buffers: inputs…, out.
/// Split by Columns.
struct ElementwiseSpec {
  static constexpr llvm::StringLiteral kind = "elementwise";
  int64_t columns = 0;
  RowSpace over = RowSpace::Tokens;
  int64_t unit = 0; ///< Tiles that stay with one worker; 0: one.
};

/// Rotates the halves of each head, or else its neighbouring pairs.
/// Buffers: cos, sin, x, out. Split by Columns, in units of whole heads.
struct RopeSpec {
  static constexpr llvm::StringLiteral kind = "rope";
  int64_t heads = 0, headDim = 0, rotaryDim = 0;
  bool halves = true;
};

/// Writes the step's K and V into the cache, rounded to its element type.
/// Buffers: k [tokens, KV heads * head dim], v [tokens, KV heads * value dim].
/// Split by Columns, in units of whole heads (the larger of K's and V's).
struct AppendKVSpec {
  static constexpr llvm::StringLiteral kind = "append_kv";
  static constexpr int64_t outputs = 0;
  std::string kvFormat;
  int64_t kvHeads = 0, headDim = 0, blockSize = 0;
  int64_t valueDim = 0; ///< Head size of V; 0: head dim.
};

/// Gathers `rows` tokens of each sequence from the cache; zero from a
/// sequence's length on. Buffers: k [sequences * rows, KV heads * head dim],
/// v [sequences * rows, KV heads * value dim]. Split by Heads (of KV).
struct LookupKVSpec {
  static constexpr llvm::StringLiteral kind = "lookup_kv";
  static constexpr int64_t outputs = 2;
  std::string kvFormat;
  int64_t kvHeads = 0, headDim = 0, blockSize = 0;
  int64_t valueDim = 0; ///< Head size of V; 0: head dim.
  int64_t rows = 0;     ///< Tokens per sequence.
};

/// Head size of V of a spec of a cache kernel.
template <typename Spec> int64_t valueDim(const Spec &spec) {
  return spec.valueDim ? spec.valueDim : spec.headDim;
}

/// KV heads that stay with one worker of append_kv: those of K and of V fill
/// whole tiles.
inline int64_t appendHeadsPerUnit(const AppendKVSpec &spec) {
  return std::max(headsPerUnit(spec.headDim), headsPerUnit(valueDim(spec)));
}

/// Where a kernel finds an operand that it may do without.
enum class OperandPlace { None, Weight, Buffer };

/// Grouped-query attention over the paged cache:
///   score = cap(scale * q . k) + slope * (key - position) + mask
/// where cap(s) = soft cap * tanh(s / soft cap), over the keys that the row may
/// see; a row that sees none gives 0. Weights: [sinks (vector of heads)].
/// Buffers: q [tokens, heads * head dim], [mask], [sinks (one row of heads)],
/// [partial results], out [tokens, heads * value dim]. Split by Items.
struct PagedAttentionSpec {
  static constexpr llvm::StringLiteral kind = "paged_attention";
  std::string kvFormat;
  int64_t heads = 0, kvHeads = 0, headDim = 0, blockSize = 0;
  double scale = 0;
  int64_t valueDim = 0; ///< Head size of V; 0: head dim.
  bool causal = true;   ///< A row sees no key behind its own position.
  int64_t window = 0;   ///< Keys that a row sees up to its own; 0: all.
  double softCap = 0;   ///< 0: none.
  /// A score per head that joins the denominator and has no value.
  OperandPlace sinks = OperandPlace::None;
  llvm::SmallVector<double> alibiSlopes; ///< One per head, or empty.
  /// Elements from one sequence, head, query of the sequence, token of the step
  /// and key to the next in the mask buffer, row after row; 0 where the mask
  /// does not depend on it. Empty: no mask.
  llvm::SmallVector<int64_t> maskStrides;
  /// Rows of the buffer of partial results; 0: there is none. In a step with
  /// `split_attention`, items are single chunks of keys, and their results go
  /// there instead of to `out`.
  int64_t partialRows = 0;
};

/// Merges the partial results of attention with the same parameters, in a step
/// with `split_attention`. Weights: [sinks]. Buffers: [sinks], partial results,
/// out. Split by Items: who reads them has waited before.
struct MergeAttentionSpec : PagedAttentionSpec {
  static constexpr llvm::StringLiteral kind = "merge_attention";
};

/// Query heads of one KV head that an item of attention has: all of them, where
/// they are not too many for one worker's memory.
int64_t attentionItemHeads(const PagedAttentionSpec &spec);

/// The buffer of partial results: a row for each head of each pair of a token
/// and a chunk, heads of an item padded to blocks of four, with the sums of
/// values, 16 sums of weights and 16 columns for the greatest score.
struct PartialResults {
  int64_t rows, columns;
};
PartialResults partialResults(const PagedAttentionSpec &spec);

/// Copies a box of elements from one tensor to another. Both are seen as flat
/// sequences of elements, row after row without padding, of rows of `columns`:
/// element i of the box goes from `from` + sum(i_d * fromStrides_d) to
/// `to` + sum(i_d * toStrides_d). So a reshape is a box of one dimension, and a
/// slice, a concatenation and a transposition boxes of several; the number of
/// rows is in the sizes, not in the step. Buffers: x, out. Any worker may touch
/// any element.
struct CopyBoxSpec {
  static constexpr llvm::StringLiteral kind = "copy_box";
  llvm::SmallVector<int64_t> sizes, fromStrides, toStrides;
  int64_t fromColumns = 0, from = 0;
  int64_t toColumns = 0, to = 0;
};

/// Where the scale of each element of a tensor is: a grid whose cells are boxes
/// of `cell` elements, numbered in row-major order (cells at the end of a
/// dimension may be smaller). Tensors lie in rows of `columns` elements in flat
/// order, grids in rows of `gridColumns`.
struct QuantGrid {
  llvm::SmallVector<int64_t> shape, cell;
  int64_t columns = 0, gridColumns = 0;
};

/// q = clamp(roundeven(x / scale) + zero point), the integers as f32. Buffers:
/// x, scales [, zero points (f32 or i32)], out. Any worker may touch any
/// element.
struct QuantizeSpec {
  static constexpr llvm::StringLiteral kind = "quantize";
  QuantGrid grid;
  int64_t bits = 8;
  bool symmetric = true;
};

/// x = scale * (q - zero point). Buffers: q, scales [, zero points (f32 or
/// i32)], out. Any worker may touch any element.
struct DequantizeSpec {
  static constexpr llvm::StringLiteral kind = "dequantize";
  QuantGrid grid;
  bool symmetric = true;
};

/// The scales, and the zero points where not symmetric, that use the range of
/// the integers in every cell. Buffers: x, scales [, zero points]. Any worker
/// may touch any element.
struct QuantParamsSpec {
  static constexpr llvm::StringLiteral kind = "quant_params";
  static constexpr int64_t inputs = 1;
  QuantGrid grid;
  int64_t bits = 8;
  bool symmetric = true;
};

/// The experts of each token by descending score, the lower of equal ones
/// first, and their weights: softmax or sigmoid of the scores, divided by their
/// sum where `normalize`. Buffers: logits [tokens, experts], weights
/// [tokens, topK], chosen (i32) [tokens, topK]. Split by Rows.
struct MoERouteSpec {
  static constexpr llvm::StringLiteral kind = "moe_route";
  static constexpr int64_t outputs = 2;
  int64_t experts = 0, topK = 0;
  bool sigmoid = false, normalize = true;
};

/// Sorts the pairs (token, choice) by expert, each expert's by token. With pair
/// t * topK + j = choice j of token t, in one row each: `offsets` has the first
/// place of each expert and the number of places, `pairs` the pair at each
/// place, `places` the place of each pair, -1 where the choice is no expert.
/// Buffers, all i32: chosen [tokens, topK], offsets [experts + 1], pairs and
/// places [tokens * topK]. The first worker's work.
struct MoESortSpec {
  static constexpr llvm::StringLiteral kind = "moe_sort";
  static constexpr int64_t outputs = 3;
  int64_t experts = 0, topK = 0;
};

/// The row of each place's token. Buffers: pairs (i32), x [tokens, K], out
/// [tokens * topK, K]. Any worker may touch any element.
struct MoEGatherSpec {
  static constexpr llvm::StringLiteral kind = "moe_gather";
  int64_t columns = 0, topK = 0;
};

/// y = x W_e^T for the places of each expert e. Weights: `experts` matrices
/// [rows, columns] (tiles16), one after the other. Buffers: offsets (i32), x
/// [places, K] as `linear` takes it, or `quantized_linear` where the format is
/// an IntegerFormat, out [places, N]. Split by Columns.
struct MoELinearSpec {
  static constexpr llvm::StringLiteral kind = "moe_linear";
  std::string format;
  int64_t experts = 0, rows = 0, columns = 0; ///< E, N, K.
  int64_t segment = 0;                        ///< As of QuantizedLinearSpec.
};

/// silu(gate) * up at each place, with `rounded` as `round_rows` writes it.
/// Buffers: gate, up, out [places, N]. Split by Columns.
struct MoEGateSpec {
  static constexpr llvm::StringLiteral kind = "moe_gate";
  int64_t columns = 0, topK = 0;
  bool rounded = false;
};

/// The sum over a token's pairs, by ascending place, of weight * x. Buffers:
/// places (i32), weights [tokens, topK], x [places, K], out [tokens, K]. Split
/// by Rows.
struct MoECombineSpec {
  static constexpr llvm::StringLiteral kind = "moe_combine";
  int64_t columns = 0, topK = 0;
};

/// The scalar region at each point of a nest of loops, over elements of buffers
/// of f32, i32 or i64. Loop d runs from 0 to sizes[d]; the first `parallel`
/// loops each write an element of their own, the others reduce, in ascending
/// order, the last loop fastest. `maps` says for each buffer at which (row,
/// column) the element of a point lies; the initial value's and the output's
/// depend on parallel loops alone. The region takes the index of each loop and
/// the element of each buffer but the output; where loops reduce, the last
/// buffer before the output holds initial values, and its argument is what has
/// been reduced so far. It yields the output's element. Integers are divided by
/// constants that are neither 0 nor -1, or unsigned by what is at least 1. Rows
/// of the output are zero behind `columns`. Buffers: inputs…, [initial], out.
/// Any worker may touch any element.
struct LoopsSpec {
  static constexpr llvm::StringLiteral kind = "loops";
  llvm::SmallVector<int64_t> sizes;
  int64_t parallel = 0;
  llvm::SmallVector<mlir::AffineMap> maps;
  int64_t columns = 0; ///< Of the output, without padding.
};

/// out[p] = x[p, i[p]] over the points p of a nest of loops, where i is an
/// index from 0 to `bound`: a negative one counts from the end, and what lies
/// beyond either end is the element at that end. `maps` says where the elements
/// lie: those of the index and the output as functions of the loops, that of x
/// as one of the loops and, the symbol, the index. Buffers: index (i32 or i64),
/// x (f32, i32 or i64), out. Any worker may touch any element.
struct GatherSpec {
  static constexpr llvm::StringLiteral kind = "gather";
  llvm::SmallVector<int64_t> sizes;
  int64_t bound = 0;
  llvm::SmallVector<mlir::AffineMap> maps;
  int64_t columns = 0; ///< Of the output, without padding.
};

/// out[p, i[p]] = x[p] at the points p in ascending order, the last loop
/// fastest, so that the last of several writers of an element is the one that
/// stays. The index is as GatherSpec has it and depends on the first `indexed`
/// loops alone; an index beyond either end writes nothing. Elements that no
/// point names keep what they hold. Buffers: index (i32 or i64), x (f32, i32 or
/// i64), out. Any worker may touch any element.
struct ScatterSpec {
  static constexpr llvm::StringLiteral kind = "scatter";
  llvm::SmallVector<int64_t> sizes;
  int64_t indexed = 0, bound = 0;
  llvm::SmallVector<mlir::AffineMap> maps;
};

/// The first `count` numbers of each row of `columns` in ascending or
/// descending order, and where in the row they lie; equal ones in the order of
/// the row, NaN as greater than all others. Buffers: x [rows, columns] (f32,
/// i32 or i64), values [rows, count] as x, indices (i32) [rows, count], two of
/// scratch (i32) [rows, columns]. Any worker may touch any element.
struct SortSpec {
  static constexpr llvm::StringLiteral kind = "sort";
  static constexpr int64_t outputs = 4;
  int64_t rows = 0, columns = 0, count = 0;
  bool descending = false;
};

/// How many of a kernel's buffers, the last ones, it writes: `outputs` of its
/// spec, or all behind `inputs`, or one. It may read all others.
int64_t countOutputs(KernelOp kernel);

/// The parameters as the dictionary of a kernel op.
template <typename Spec>
mlir::DictionaryAttr toParameters(mlir::MLIRContext *context, const Spec &spec);

/// The parameters of a kernel op of the spec's kind; a diagnostic names what
/// is missing or of the wrong type.
template <typename Spec> mlir::FailureOr<Spec> fromKernel(KernelOp kernel);

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_KERNELSPEC_H
