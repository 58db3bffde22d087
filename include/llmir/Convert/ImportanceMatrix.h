//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statistics of activations by which quantization errors are weighted, as
// llama.cpp collects them ("imatrix"): for each matrix, the mean square of each
// element of its input.
//
// Two formats are read: GGUF files with tensors NAME.in_sum2 and NAME.counts,
// and the older .dat files. Everything is checked; files are not trusted.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERT_IMPORTANCEMATRIX_H
#define LLMIR_CONVERT_IMPORTANCEMATRIX_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

class ImportanceMatrix {
public:
  static Expected<ImportanceMatrix> open(const std::string &path);

  /// Positive weights for the columns of a tensor of `matrices` matrices
  /// (experts) of `columns` columns, one matrix after the other; empty if the
  /// file has none. InvalidFile if it has another number of them.
  Expected<Span<const float>> find(std::string_view tensor, int64_t matrices,
                                   int64_t columns) const;
  size_t size() const { return entries.size(); }
  const std::string &file() const { return name; }
  const std::string &dataset() const { return datasetName; } ///< May be empty.
  int64_t chunks() const { return chunkCount; }              ///< 0: not known.

private:
  Status readOld(Span<const uint8_t> bytes);
  Status readGGUF(const std::string &path);
  Status add(std::string_view tensor, std::vector<float> weights,
             int64_t columns);

  std::string name;
  std::map<std::string, std::vector<float>, std::less<>> entries;
  std::string datasetName;
  int64_t chunkCount = 0;
};

} // namespace llmir

#endif // LLMIR_CONVERT_IMPORTANCEMATRIX_H
