//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference embedding, projections, norms, positions and activations: the ops
// of LLMOps.td. T tokens, K inputs, N outputs, H heads, D elements of a head.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_NN_H
#define LLMIR_REFERENCE_NN_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <functional>

namespace llmir::reference {

/// result[t] = table[ids[t]]; ids [T] less than V, table [V, K].
Tensor embedding(const Tensor &ids, const Tensor &table);

/// result[…, n] = Σ_k x[…, k] · weight[n, k] (+ bias[n]); weight [N, K]. If the
/// weight is bf16, x is rounded to bf16.
Tensor linear(const Tensor &x, const Tensor &weight,
              const Tensor *bias = nullptr);

/// result[…, h, n] = Σ_k x[…, h, k] · weight[h, n, k]: linear() for each head.
Tensor headLinear(const Tensor &x, const Tensor &weight);

struct MatMulParams {
  bool transposeA = false; ///< a is […, K, M], otherwise […, M, K].
  bool transposeB = false; ///< b is […, N, K], otherwise […, K, N].
};
/// result[…, m, n] = Σ_k a[…, m, k] · b[…, k, n]; the dimensions before the
/// last two are broadcast. Fails if they cannot be, or if a and b differ in K.
Expected<Tensor> matmul(const Tensor &a, const Tensor &b,
                        const MatMulParams &params);

/// result[…, k] = x[…, k] / sqrt(mean_k(x²) + eps) (· weight[k]).
Tensor rmsNorm(const Tensor &x, const Tensor *weight, double eps);

/// result[…, k] = (x[…, k] − mean_k(x)) / sqrt(variance_k(x) + eps)
/// (· weight[k]) (+ bias[k]), the variance over K elements.
Tensor layerNorm(const Tensor &x, const Tensor *weight, const Tensor *bias,
                 double eps);

/// result[…, k] = exp(x[…, k]) / Σ_k exp(x[…, k]). A row of −inf yields zeros.
Tensor softmax(const Tensor &x);
/// The same along dimension `axis`.
Tensor softmax(const Tensor &x, int64_t axis);

/// result[b, c, …] = (x[b, c, …] − mean_c(x)) / sqrt(variance_c(x) + eps)
///                   · weight[c] + bias[c] for x [B, C, …]: normalizes the
/// channels of each position, like LayerNorm2d of Segment Anything.
Tensor layerNormOfChannels(const Tensor &x, const Tensor *weight,
                           const Tensor *bias, double eps);

/// Rotates the pairs of each head of x [T, H, D] by
/// angle = positions[t] · frequencies[j], all cosines and sines times
/// `scaling`. Pair j is (j, j + R), where R is the number of frequencies, or
/// (2j, 2j + 1) if `interleaved`. Elements from 2·R on are copied.
Tensor rope(const Tensor &x, const Tensor &positions,
            const std::vector<double> &frequencies, double scaling,
            bool interleaved);

// In sigmoid, silu and the approximations of gelu, an exponential that
// overflows f32 is infinite (llm.silu).

/// 1 / (1 + exp(−x)).
double sigmoid(double x);
/// max(x, 0); NaN is preserved.
double relu(double x);
/// x / (1 + exp(−x)).
double silu(double x);

enum class GeluApproximation { None, Tanh, Quick };
/// none:  x/2 · (1 + erf(x / √2))
/// tanh:  x / (1 + exp(−2 · √(2/π) · (x + 0.044715 · x³))), which is
///        x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
/// quick: x / (1 + exp(−1.702 · x))
double gelu(double x, GeluApproximation approximation);

/// round(silu(gate)) · up, rounded to the element type of `gate`; bit-identical
/// to the product after silu.
Tensor swiglu(const Tensor &gate, const Tensor &up);

/// A function of one element, for float64 and int64. Exact for integers if
/// created from a generic lambda.
struct UnaryFunction {
  template <typename F> UnaryFunction(F f) : ofFloats(f), ofIntegers(f) {}
  std::function<double(double)> ofFloats;
  std::function<int64_t(int64_t)> ofIntegers;
};
/// The same for a function of two elements of one type.
struct BinaryFunction {
  template <typename F> BinaryFunction(F f) : ofFloats(f), ofIntegers(f) {}
  std::function<double(double, double)> ofFloats;
  std::function<int64_t(int64_t, int64_t)> ofIntegers;
};

/// function(x[i]), and function(x[i], y[i]) of equal shapes and element types.
Tensor map(const Tensor &x, const UnaryFunction &function);
Tensor map(const Tensor &x, const Tensor &y, const BinaryFunction &function);

/// result[r, …] = x[rows[r], …]; `rows` are less than the first size of x.
Tensor selectRows(const Tensor &x, const Tensor &rows);
/// The mean of rows offsets[s] to offsets[s + 1] - 1 of x for each s, or zeros
/// if there are none. Offsets must be valid.
Tensor meanRows(const Tensor &x, const Tensor &offsets);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_NN_H
