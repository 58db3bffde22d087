//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --quantize asks for.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_PIPELINES_WEIGHTQUANTIZATION_H
#define LLMIR_PIPELINES_WEIGHTQUANTIZATION_H

#include "llmir/Support/Status.h"
#include "llmir/Support/TensorFormat.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace llmir {

/// How the weights of projections are quantized while compiling.
struct WeightQuantization {
  std::string scheme;           ///< Of -llm-quantize; empty: none.
  bool byteActivations = false; ///< Inputs beside that scheme are int8 as well.
  /// The block format in which the layers' projections are stored, instead of a
  /// scheme; nullopt: as in the checkpoint.
  std::optional<TensorFormat> blocks;
  /// The block format of the projection to the vocabulary, of 8 bits beside any
  /// scheme with inputs of int8: an error there changes tokens, and nothing
  /// later makes up for it. nullopt: as in the checkpoint.
  std::optional<TensorFormat> vocabulary;

  /// "none"; "q8" and "q4" for the block formats Q8_0 and Q4_0; "int8" or
  /// "int4", then perhaps, in any order, ":g32", ":g64" or ":g128" for the
  /// group, ":asym" for zero points and ":a8" or ":a32" for inputs of int8, as
  /// by default, or f32. ":plain-head" behind any of them leaves the projection
  /// to the vocabulary as it is in the checkpoint, as ":a32" does.
  static Expected<WeightQuantization> fromName(const std::string &name);
  /// The spelling of what fromName gave, for messages: "int4:g128", "q8".
  std::string name() const;
};

/// What storeInBlocks did.
struct StoredInBlocks {
  int64_t changed = 0; ///< Weights that got another format.
  int64_t left = 0;    ///< Wanted ones whose rows are not whole blocks.
};

/// Gives the weights of projections of a traced model the block formats that
/// `wanted` names: types of `mllm.tensor.register` change, values are rounded
/// when they are packed. A table of embeddings that is the projection to the
/// vocabulary too is stored once, in that one's format. Weights in few bits
/// stay as they are.
StoredInBlocks storeInBlocks(mlir::ModuleOp module,
                             const WeightQuantization &wanted);

} // namespace llmir

#endif // LLMIR_PIPELINES_WEIGHTQUANTIZATION_H
