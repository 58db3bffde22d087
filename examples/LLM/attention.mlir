// Causal grouped-query attention over three tokens: two query heads share one
// head of keys and values. The same again with a sliding window, a soft cap and
// attention sinks.
//
// RUN: llmir-translate --interpret %s
// RUN: llmir-translate --execute %s
// RUN: llmir-translate --compare %s

func.func @main() {
  // [batch, tokens, heads, head size]
  %q = arith.constant dense<[[[[0.0, 0.5, 0.25, 0.0], [-0.25, 0.25, -0.0, 0.75]], [[1.0, -0.25, 0.5, 0.0], [0.25, 0.75, -0.75, -0.75]], [[-1.0, 0.75, 0.5, 0.75], [1.0, 0.5, -0.0, 0.5]]]]> : tensor<1x3x2x4xf32>
  %k = arith.constant dense<[[[[-0.75, 0.25, -0.75, 1.0]], [[0.0, -0.25, -0.5, 0.5]], [[-0.0, 0.25, -1.0, 0.25]]]]> : tensor<1x3x1x4xf32>
  %v = arith.constant dense<[[[[0.25, 0.25, 1.0, 0.25]], [[-0.25, -0.25, 0.5, -1.0]], [[0.25, 0.25, -0.5, -0.75]]]]> : tensor<1x3x1x4xf32>

  %0 = llm.attention %q, %k, %v {causal = true, scale = 0.5 : f32}
      : (tensor<1x3x2x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>) -> tensor<1x3x2x4xf32>
  // The first token attends only to itself: its rows are the first row of %v.
  %expected = arith.constant dense<[[[[0.25, 0.25, 1.0, 0.25], [0.25, 0.25, 1.0, 0.25]], [[-0.06122967, -0.06122967, 0.68877033, -0.52807416], [0.0, 0.0, 0.75, -0.375]], [[0.12367264, 0.12367264, 0.5063506, -0.31069976], [0.08033544, 0.08033544, 0.28851448, -0.53537538]]]]> : tensor<1x3x2x4xf32>
  check.expect_close %0, %expected {nmse = 1.0e-12 : f64} : tensor<1x3x2x4xf32>

  // Each token attends to itself and the one before; scores are capped at 2; a
  // sink takes part of the weight of each row.
  %sinks = arith.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %1 = llm.attention %q, %k, %v sinks(%sinks) {causal = true, window = 2, soft_cap = 2.0 : f64}
      : (tensor<1x3x2x4xf32>, tensor<1x3x1x4xf32>, tensor<1x3x1x4xf32>, tensor<2xf32>) -> tensor<1x3x2x4xf32>
  %limited = arith.constant dense<[[[[0.0925565, 0.0925565, 0.37022599, 0.0925565], [0.20401346, 0.20401346, 0.81605385, 0.20401346]], [[-0.0279513, -0.0279513, 0.32583964, -0.24677374], [0.0, 0.0, 0.62395778, -0.31197889]], [[-0.00209448, -0.00209448, 0.00418896, -0.47051637], [0.00667476, 0.00667476, -0.01334952, -0.74618317]]]]> : tensor<1x3x2x4xf32>
  check.expect_close %1, %limited {nmse = 1.0e-12 : f64} : tensor<1x3x2x4xf32>
  return
}
