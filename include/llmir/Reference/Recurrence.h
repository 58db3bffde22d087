//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference implementations of ops on the states of layers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_RECURRENCE_H
#define LLMIR_REFERENCE_RECURRENCE_H

#include "llmir/Reference/Tensor.h"

namespace llmir::reference {

/// Convolves each channel of x [T, C] with weight [K, C]; `tail` [K - 1, C] has
/// the rows before those of x, and then those before the next ones.
Tensor causalConv(const Tensor &x, const Tensor &weight, Tensor &tail);

/// The operands of linear attention: q and k [T, G, D], v [T, H, V], decay and,
/// for the delta rule, beta [T, H]. H is a multiple of G.
struct LinearAttention {
  const Tensor &q, &k, &v, &decay;
  const Tensor *beta = nullptr;
  bool interleaved = false; ///< Head h has key head h mod G, not h / (H / G).
};

/// Computes the result [T, H, V] of the tokens in order, and updates the
/// matrices [H, D, V].
Tensor linearAttention(const LinearAttention &operands, Tensor &matrices);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_RECURRENCE_H
