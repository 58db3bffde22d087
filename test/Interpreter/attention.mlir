// RUN: llmir-translate --interpret %s

// Zero keys make all scores 0; values 1, 10, 100, 1000 show which tokens were
// visible.
func.func private @values() -> (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) {
  %q = arith.constant dense<1.0> : tensor<1x4x1x1xf32>
  %k = arith.constant dense<0.0> : tensor<1x4x1x1xf32>
  %v = arith.constant dense<[[[[1.0]], [[10.0]], [[100.0]], [[1000.0]]]]> : tensor<1x4x1x1xf32>
  return %q, %k, %v : tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>
}

func.func @causal_and_window() {
  %q, %k, %v = call @values() : () -> (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>)
  %all = llm.attention %q, %k, %v
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %e0 = arith.constant dense<277.75> : tensor<1x4x1x1xf32>
  check.expect_close %all, %e0 : tensor<1x4x1x1xf32>
  %causal = llm.attention %q, %k, %v {causal = true}
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %e1 = arith.constant dense<[[[[1.0]], [[5.5]], [[37.0]], [[277.75]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %causal, %e1 : tensor<1x4x1x1xf32>
  %window = llm.attention %q, %k, %v {causal = true, window = 2}
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %e2 = arith.constant dense<[[[[1.0]], [[5.5]], [[55.0]], [[550.0]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %window, %e2 : tensor<1x4x1x1xf32>
  %both = llm.attention %q, %k, %v {window = 2}
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %e4 = arith.constant dense<[[[[5.5]], [[37.0]], [[370.0]], [[550.0]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %both, %e4 : tensor<1x4x1x1xf32>
  %chunks = llm.attention %q, %k, %v {window = 2, chunked}
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %e5 = arith.constant dense<[[[[5.5]], [[5.5]], [[550.0]], [[550.0]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %chunks, %e5 : tensor<1x4x1x1xf32>
  // The slope log 2: each step back halves the weight.
  %alibi = llm.attention %q, %k, %v {causal = true, alibi_slopes = array<f64: 0.69314718055994531>}
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %e3 = arith.constant dense<[[[[1.0]], [[7.0]], [[60.142857143]], [[561.4]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %alibi, %e3 {nmse = 1.0e-12 : f64} : tensor<1x4x1x1xf32>
  return
}

func.func @mask_and_sinks() {
  %q, %k, %v = call @values() : () -> (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>)
  // The last query sees nothing.
  %m = arith.constant dense<[[[[true, false, false, false], [false, true, false, false],
                               [false, false, true, true], [false, false, false, false]]]]> : tensor<1x1x4x4xi1>
  %hidden = llm.attention %q, %k, %v mask(%m)
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x1x4x4xi1>) -> tensor<1x4x1x1xf32>
  %e0 = arith.constant dense<[[[[1.0]], [[10.0]], [[550.0]], [[0.0]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %hidden, %e0 : tensor<1x4x1x1xf32>
  // A fourth operand is the mask; log 3 for key 1.
  %a = arith.constant dense<[[[[0.0, 1.0986122887, 0xFF800000, 0xFF800000]]]]> : tensor<1x1x1x4xf32>
  %added = llm.attention %q, %k, %v, %a
      : tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x1x1x4xf32> -> tensor<1x4x1x1xf32>
  %e1 = arith.constant dense<7.75> : tensor<1x4x1x1xf32>
  check.expect_close %added, %e1 : tensor<1x4x1x1xf32>
  // A sink as heavy as the four keys together: log 4.
  %s = arith.constant dense<1.3862943611> : tensor<1xf32>
  %sunk = llm.attention %q, %k, %v sinks(%s)
      : (tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1x4x1x1xf32>, tensor<1xf32>) -> tensor<1x4x1x1xf32>
  %e2 = arith.constant dense<138.875> : tensor<1x4x1x1xf32>
  check.expect_close %sunk, %e2 : tensor<1x4x1x1xf32>
  return
}

// Scores 0 and 2 log 3, halved: weights 1 : 3. Values are longer than keys.
func.func @scale_and_soft_cap() {
  %q = arith.constant dense<2.0> : tensor<1x1x1x1xf32>
  %k = arith.constant dense<[[[[0.0]], [[1.0986122887]]]]> : tensor<1x2x1x1xf32>
  %v = arith.constant dense<[[[[0.0, 4.0]], [[8.0, 0.0]]]]> : tensor<1x2x1x2xf32>
  %y = llm.attention %q, %k, %v {scale = 0.5 : f64}
      : (tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x2xf32>) -> tensor<1x1x1x2xf32>
  %e = arith.constant dense<[[[[6.0, 1.0]]]]> : tensor<1x1x1x2xf32>
  check.expect_close %y, %e : tensor<1x1x1x2xf32>
  // A cap of 1e-9 makes all scores equal.
  %z = llm.attention %q, %k, %v {scale = 0.5 : f64, soft_cap = 1.0e-9 : f64}
      : (tensor<1x1x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1x2x1x2xf32>) -> tensor<1x1x1x2xf32>
  %f = arith.constant dense<[[[[4.0, 2.0]]]]> : tensor<1x1x1x2xf32>
  check.expect_close %z, %f : tensor<1x1x1x2xf32>
  return
}

// Rank 3 is one head; query heads share the heads of keys and values.
func.func @forms(%q: tensor<2x3x4x8xf16>, %k: tensor<2x5x2x8xf16>, %v: tensor<2x5x2x8xf16>) {
  %y = llm.attention %q, %k, %v {causal = true}
      : (tensor<2x3x4x8xf16>, tensor<2x5x2x8xf16>, tensor<2x5x2x8xf16>) -> tensor<2x3x4x8xf16>
  %y2 = tensor.extract_slice %y[0, 0, 2, 0] [2, 3, 1, 8] [1, 1, 1, 1] : tensor<2x3x4x8xf16> to tensor<2x3x8xf16>
  %q2 = tensor.extract_slice %q[0, 0, 2, 0] [2, 3, 1, 8] [1, 1, 1, 1] : tensor<2x3x4x8xf16> to tensor<2x3x8xf16>
  %k1 = tensor.extract_slice %k[0, 0, 1, 0] [2, 5, 1, 8] [1, 1, 1, 1] : tensor<2x5x2x8xf16> to tensor<2x5x8xf16>
  %v1 = tensor.extract_slice %v[0, 0, 1, 0] [2, 5, 1, 8] [1, 1, 1, 1] : tensor<2x5x2x8xf16> to tensor<2x5x8xf16>
  %one = llm.attention %q2, %k1, %v1 {causal = true}
      : (tensor<2x3x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> tensor<2x3x8xf16>
  check.expect_equal %one, %y2 : tensor<2x3x8xf16>
  return
}
