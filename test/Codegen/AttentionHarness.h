//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A paged cache that tests fill, and the expected results of attention over it,
// computed by the reference.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CODEGEN_ATTENTIONHARNESS_H
#define LLMIR_TEST_CODEGEN_ATTENTIONHARNESS_H

#include "KernelHarness.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Reference/Attention.h"

#include <tuple>

namespace llmir::test {

/// The attributes of attention kernels.
struct AttentionAttributes {
  std::string kvFormat;
  int64_t heads = 0, kvHeads = 0, headDim = 0, valueDim = 0, blockSize = 0;
  double scale = 0;
  bool causal = true;
  int64_t window = 0;
  double softCap = 0;
  std::vector<double> alibiSlopes = {};
  std::vector<int64_t> maskStrides = {};
  bool chunked = false;

  kernel::AttentionShape shape() const {
    return {heads, kvHeads, headDim, valueDim};
  }
  /// Adds a kernel with these attributes.
  template <typename OpT, typename... Operands>
  void call(KernelProgram &program, Operands... operands) const {
    mlir::Builder b(program.getContext());
    program.call<OpT>(operands..., llvm::StringRef(kvFormat), heads, kvHeads,
                      headDim, valueDim, blockSize, /*values_in_keys=*/false,
                      scale, causal, window, softCap,
                      alibiSlopes.empty() ? mlir::DenseF64ArrayAttr()
                                          : b.getDenseF64ArrayAttr(alibiSlopes),
                      maskStrides.empty() ? mlir::DenseI64ArrayAttr()
                                          : b.getDenseI64ArrayAttr(maskStrides),
                      chunked);
  }
};

/// Keys and queries of one sequence: the queries are its last tokens.
struct SequenceShape {
  int64_t keys, queries;
};

/// The pool of one layer. Everything around the layer and all elements without
/// a stored token are NaN.
class KVPool {
public:
  KVPool(TensorFormat format, const KVBlockLayout &layout, int64_t numBlocks);

  /// Rounds a token's K [KV heads * head dim] and V to the format and stores
  /// them.
  void store(int64_t slot, const float *keys, const float *values);

  TensorFormat format;
  KVBlockLayout layout;
  AlignedBytes bytes;
};

/// Sequences with their keys and values, as [position, KV head, dim].
class CachedBatch {
public:
  CachedBatch(TensorFormat format, const KVBlockLayout &layout,
              std::vector<SequenceShape> shapes, uint64_t seed);

  /// A step of the sequences in that order, with keys and values stored in a
  /// new pool, in shuffled blocks. Entries of the block tables past a
  /// sequence's end are invalid.
  StepInputs place(const std::vector<size_t> &order);
  /// The number of blocks of a sequence.
  int64_t numBlocks(size_t sequence) const;
  /// The values as stored in the cache.
  std::vector<double> cached(const std::vector<float> &values) const;

  TensorFormat format;
  KVBlockLayout layout;
  std::vector<SequenceShape> shapes;
  std::vector<std::vector<float>> keys, values; ///< [sequence]
  std::unique_ptr<KVPool> pool;
};

/// The rounding of compiled code on a level: none, or queries to two bf16
/// values and weights to one on levels with bf16 dot products.
struct AttentionRounding {
  AttentionRounding(const CPULevel &level, TensorFormat format)
      : bf16(format == TensorFormat::BF16 && level.hasBf16Dots()) {}

  void apply(reference::AttentionParams &params) const {
    params.rounding = bf16 ? reference::AttentionRounding::Bf16
                           : reference::AttentionRounding::None;
  }
  /// The remaining error bound: weights close to a tie between two bf16 values
  /// may be rounded to either, 6e-9 for each of them in some 100 rows of 32
  /// keys.
  double tolerance() const { return bf16 ? 5e-8 : 1e-10; }

  bool bf16;
};

/// One level for each kind of code of attention over 16- and 32-bit elements,
/// if possible the best one of this processor.
std::vector<const CPULevel *> attentionLevels();

/// Test parameters: levels, types of the cache, cases. All combinations are
/// covered with LLMIR_LONG_TESTS; otherwise a case has one type on a level and
/// another one on the next.
template <typename Case>
std::vector<std::tuple<const CPULevel *, TensorFormat, Case>>
attentionParameters(const std::vector<TensorFormat> &formats,
                    const std::vector<Case> &cases) {
  std::vector<std::tuple<const CPULevel *, TensorFormat, Case>> parameters;
  size_t turn = 0;
  for (const CPULevel *level : attentionLevels()) {
    for (size_t f = 0; f < formats.size(); ++f)
      for (size_t i = 0; i < cases.size(); ++i)
        if (isLongTest() || (i + turn) % formats.size() == f)
          parameters.emplace_back(level, formats[f], cases[i]);
    turn += coverageOf(level) == Coverage::Whole ? 1 : 0;
  }
  return parameters;
}

} // namespace llmir::test

#endif // LLMIR_TEST_CODEGEN_ATTENTIONHARNESS_H
