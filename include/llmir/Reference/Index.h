//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops mean that choose numbers by indices, and those that find indices.
// Indices that point outside are failures; none counts from the end.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_INDEX_H
#define LLMIR_REFERENCE_INDEX_H

#include "llmir/Reference/Shape.h"

#include <utility>

namespace llmir::reference {

/// Fails unless all indices are from 0 up to but without `size`.
Status checkIndices(const Tensor &indices, int64_t size);

/// result[…, j…, …] = table[…, indices[j…], …]: the indices' dimensions stand
/// in the place of `dim`. Fails where an index is outside of `dim`.
Expected<Tensor> gather(const Tensor &table, const Tensor &indices,
                        int64_t dim);

/// x with result[…, indices[i…], …] = source[i…], the index standing in the
/// place of `dim`; of several numbers for one place the last in row-major order
/// stays. `indices` and `source` have one shape, no larger than x's but in
/// `dim`. Fails where an index is outside of `dim`, or a shape does not fit.
Expected<Tensor> scatter(const Tensor &x, const Tensor &indices,
                         const Tensor &source, int64_t dim);

/// x with its numbers at places where `mask` (which broadcasts to x) is true
/// replaced by those of `source`, in row-major order. Fails where the source
/// has fewer numbers than there are places, or the mask does not broadcast.
Expected<Tensor> maskedScatter(const Tensor &x, const Tensor &mask,
                               const Tensor &source);

/// What chooses along one dimension of index(): a range, or the numbers of a
/// tensor.
struct Indexer {
  IndexRange range;
  const Tensor *tensor = nullptr;
};

/// One indexer per dimension. Tensors broadcast to one shape and choose
/// together, number by number; this shape stands in the place of the first
/// tensor where the tensors are neighbours, else before all other dimensions
/// (NumPy's rule). Fails where tensors do not broadcast or an index is outside.
Expected<Tensor> index(const Tensor &x, const std::vector<Indexer> &indexers);

/// The indices that sort a dimension, the same for equal numbers as they stand
/// (the sort is stable, descending too). NaN counts as the greatest. i32.
Tensor argsort(const Tensor &x, int64_t dim, bool descending);

/// The k greatest (or least) numbers of a dimension, in order, and their
/// indices (i32) as argsort() has them. k is at most the dimension's size.
std::pair<Tensor, Tensor> topK(const Tensor &x, int64_t k, int64_t dim,
                               bool largest);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_INDEX_H
