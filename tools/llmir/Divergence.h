//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divergence of a model's next-token distributions from those of a reference.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TOOLS_LLMIR_DIVERGENCE_H
#define LLMIR_TOOLS_LLMIR_DIVERGENCE_H

#include "llmir/Support/MappedFile.h"
#include "llmir/Support/Span.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmir::cli {

/// Compares logits, position by position, with those in a file.
class Divergence {
public:
  /// `path` is a NumPy file as written by `perplexity --logits`: float32
  /// [positions, vocabulary], in C order. Fails for any other shape.
  static Expected<Divergence> open(const std::string &path, int64_t positions,
                                   int64_t vocabulary);

  /// Compares the logits [vocabulary] of the next position. Fails if the
  /// reference has a value that is not finite.
  Status compare(Span<const float> row);

  /// KL divergence: the sum over the vocabulary of p (log p - log q) in nats,
  /// of the reference's distribution p and the model's q; the mean of all
  /// positions.
  double mean() const;
  /// The 99th percentile of the positions' divergences.
  double percentile99() const;
  /// Fraction of positions where both have the same most likely token.
  double topAgreement() const;

private:
  explicit Divergence(MappedFile file) : file(std::move(file)) {}
  Status readHeader(int64_t positions, int64_t vocabulary);

  MappedFile file;
  size_t dataBegin = 0; ///< Of the first row, in bytes.
  std::vector<double> divergences;
  int64_t agreeing = 0;
};

} // namespace llmir::cli

#endif // LLMIR_TOOLS_LLMIR_DIVERGENCE_H
