//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Embedding.h"

#include "mllm/nn/Functional.h"

using namespace mllm;

Tensor models::pooled(const Tensor &x, llmir::Pooling pooling) {
  if (pooling == llmir::Pooling::Mean)
    return nn::F::mean(x, 0, /*keepDim=*/true);
  if (pooling == llmir::Pooling::First)
    return nn::F::slice(x, {{0, 1}});
  return nn::F::slice(x, {{-1, kSymbolic}});
}

Tensor models::ofUnitLength(const Tensor &x) {
  // The square of the length below which a row is one of zeros.
  constexpr double least = 1e-24;
  // The root of y is exp(ln(y) / 2).
  Tensor squares = nn::F::sum(x * x, -1, /*keepDim=*/true);
  return x / nn::F::exp(nn::F::log(squares + least) * 0.5);
}
