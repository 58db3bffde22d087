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

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

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
  Columns, ///< Contiguous ranges of 16-column tiles, all rows.
  Heads,   ///< (token, head) pairs, dealt out in turn.
};

/// Cosines and sines of the step's positions, computed in f64 and stored as
/// f32. Buffers: cos, sin [tokens, rotary dimension / 2]. Split by Rows.
struct RopeAnglesSpec {
  static constexpr llvm::StringLiteral kind = "rope_angles";
  llvm::SmallVector<double> frequencies; ///< Angle = position * frequency.
  double scaling = 1.0;                  ///< Factor on both cos and sin.
};

/// Rows of the embedding table. Weights: table (tiles16). Buffers: out.
/// Split by Rows.
struct EmbeddingSpec {
  static constexpr llvm::StringLiteral kind = "embedding";
  std::string format;
  int64_t rows = 0, columns = 0; ///< Vocabulary, hidden size.
};

/// Copies the listed rows. Buffers: x [tokens, K], out [logit rows, K].
/// Split by Rows of the output.
struct SelectRowsSpec {
  static constexpr llvm::StringLiteral kind = "select_rows";
  int64_t columns = 0;
};

/// y = x / sqrt(mean(x^2) + eps) * w over groups of `columns`; `groups` > 1
/// normalises each head of a row. Weights: w (vector). Buffers: x, out.
/// Split by Rows.
struct RmsNormSpec {
  static constexpr llvm::StringLiteral kind = "rms_norm";
  int64_t columns = 0, groups = 1;
  double eps = 0;
  RowSpace over = RowSpace::Tokens;
};

/// y = x W^T (+ b). Weights: W (tiles16) [, b (vector)]. Buffers: x, out.
/// Split by Columns.
struct LinearSpec {
  static constexpr llvm::StringLiteral kind = "linear";
  std::string format;
  int64_t rows = 0, columns = 0; ///< N, K.
  bool bias = false;
  RowSpace over = RowSpace::Tokens;
};

/// A scalar region applied to each element. Buffers: inputs…, out.
/// Split by Columns.
struct ElementwiseSpec {
  static constexpr llvm::StringLiteral kind = "elementwise";
  int64_t columns = 0;
  RowSpace over = RowSpace::Tokens;
};

/// Rotates the halves of each head. Buffers: cos, sin, x, out. Split by Heads.
struct RopeSpec {
  static constexpr llvm::StringLiteral kind = "rope";
  int64_t heads = 0, headDim = 0, rotaryDim = 0;
};

/// Writes the step's K and V into the cache, rounded to its element type.
/// Buffers: k, v [tokens, KV heads * head dim]. Split by Heads (of KV).
struct AppendKVSpec {
  static constexpr llvm::StringLiteral kind = "append_kv";
  std::string kvFormat;
  int64_t kvHeads = 0, headDim = 0, blockSize = 0;
};

/// Causal grouped-query attention over the paged cache. Buffers: q, out
/// [tokens, heads * head dim]. Split by Heads (of q).
struct PagedAttentionSpec {
  static constexpr llvm::StringLiteral kind = "paged_attention";
  std::string kvFormat;
  int64_t heads = 0, kvHeads = 0, headDim = 0, blockSize = 0;
  double scale = 0;
};

/// The parameters as the dictionary of a kernel op.
template <typename Spec>
mlir::DictionaryAttr toParameters(mlir::MLIRContext *context, const Spec &spec);

/// The parameters of a kernel op of the spec's kind; a diagnostic names what
/// is missing or of the wrong type.
template <typename Spec> mlir::FailureOr<Spec> fromKernel(KernelOp kernel);

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_KERNELSPEC_H
