//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far a model's next-token distributions are from those of a reference.
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

/// Holds logits, position by position, against a file of the reference's.
class Divergence {
public:
  /// `path` is a NumPy file as `perplexity --logits` writes it: float32
  /// [positions, vocabulary], in C order. Refuses any other shape.
  static Expected<Divergence> open(const std::string &path, int64_t positions,
                                   int64_t vocabulary);

  /// The logits [vocabulary] of the next position. Fails where the reference
  /// has a value that is not finite.
  Status compare(Span<const float> row);

  /// Sum over the vocabulary of p (log p - log q), p the reference's
  /// distribution and q the model's, in nats; the mean over all positions.
  double mean() const;
  /// What 99 of 100 positions do not exceed.
  double percentile99() const;
  /// The share of positions where both have the same likeliest token.
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
