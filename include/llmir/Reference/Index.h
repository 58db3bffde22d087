//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference ops that gather and scatter by indices, or compute indices.
// Out-of-range (including negative) indices are failures.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_INDEX_H
#define LLMIR_REFERENCE_INDEX_H

#include "llmir/Reference/Shape.h"

#include <utility>

namespace llmir::reference {

/// Fails unless all indices are in [0, size).
Status checkIndices(const Tensor &indices, int64_t size);

/// result[…, j…, …] = table[…, indices[j…], …]: the dimensions of the indices
/// replace `dim`. Fails if an index is out of range.
Expected<Tensor> gather(const Tensor &table, const Tensor &indices,
                        int64_t dim);

/// x with result[…, indices[i…], …] = source[i…], where the index applies to
/// `dim`; if several elements have the same destination, the last in row-major
/// order is written. `indices` and `source` have the same shape, no larger than
/// that of x except in `dim`. Fails if an index is out of range, or if a shape
/// is invalid.
Expected<Tensor> scatter(const Tensor &x, const Tensor &indices,
                         const Tensor &source, int64_t dim);

/// Replaces the elements of x where `mask` (broadcast to x) is true by those of
/// `source`, in row-major order. Fails if the source has too few elements, or
/// if the mask cannot be broadcast.
Expected<Tensor> maskedScatter(const Tensor &x, const Tensor &mask,
                               const Tensor &source);

/// The indexer of one dimension of index(): a range or an index tensor.
struct Indexer {
  IndexRange range;
  const Tensor *tensor = nullptr;
};

/// One indexer per dimension. Index tensors are broadcast, and corresponding
/// elements form an index tuple; the broadcast shape replaces the indexed
/// dimensions if these are adjacent, and comes before all other dimensions
/// otherwise (NumPy's rule). Fails if tensors cannot be broadcast or an index
/// is out of range.
Expected<Tensor> index(const Tensor &x, const std::vector<Indexer> &indexers);

/// The indices (i32) that sort a dimension stably, also in descending order.
/// NaN is greater than all other values.
Tensor argsort(const Tensor &x, int64_t dim, bool descending);

/// The k greatest (or least) elements of a dimension, in order, and their
/// indices (i32) according to argsort(). k is at most the size of the
/// dimension.
std::pair<Tensor, Tensor> topK(const Tensor &x, int64_t k, int64_t dim,
                               bool largest);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_INDEX_H
