// RUN: llmir-translate --interpret %s

func.func @route() {
  // Logarithms of 1, 3 and 4; the first and the last are equal.
  %l = arith.constant dense<[[0.0, 1.0986122887, 1.3862943611, 0.0]]> : tensor<1x4xf32>
  %x, %w = llm.moe_route %l {top_k = 2} : (tensor<1x4xf32>) -> (tensor<1x2xi32>, tensor<1x2xf32>)
  %ex = arith.constant dense<[[2, 1]]> : tensor<1x2xi32>
  %ew = arith.constant dense<[[0.5714285714, 0.4285714286]]> : tensor<1x2xf32>
  check.expect_equal %x, %ex : tensor<1x2xi32>
  check.expect_close %w, %ew {nmse = 1.0e-13 : f64} : tensor<1x2xf32>
  %y, %v = llm.moe_route %l {top_k = 3, score = "sigmoid", normalize = false}
     : (tensor<1x4xf32>) -> (tensor<1x3xi32>, tensor<1x3xf32>)
  %ey = arith.constant dense<[[2, 1, 0]]> : tensor<1x3xi32>
  %ev = arith.constant dense<[[0.8, 0.75, 0.5]]> : tensor<1x3xf32>
  check.expect_equal %y, %ey : tensor<1x3xi32>
  check.expect_close %v, %ev {nmse = 1.0e-13 : f64} : tensor<1x3xf32>
  return
}

// The sum over experts, with linear and swiglu for each.
func.func @ffn(%x: tensor<1x4xf32>, %gate: tensor<2x3x4xf32>, %up: tensor<2x3x4xf32>, %down: tensor<2x4x3xf32>) {
  %experts = arith.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %weights = arith.constant dense<[[0.25, 0.75]]> : tensor<1x2xf32>
  %y = llm.moe_ffn %x, %experts, %weights, %gate, %up, %down
     : (tensor<1x4xf32>, tensor<1x2xi32>, tensor<1x2xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>)
       -> tensor<1x4xf32>
  %y0 = call @expert(%x, %gate, %up, %down) : (tensor<1x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<1x4xf32>
  %g1 = tensor.extract_slice %gate[1, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<1x3x4xf32>
  %g = tensor.concat dim(0) %g1, %g1 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %u1 = tensor.extract_slice %up[1, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<1x3x4xf32>
  %u = tensor.concat dim(0) %u1, %u1 : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %d1 = tensor.extract_slice %down[1, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<1x4x3xf32>
  %d = tensor.concat dim(0) %d1, %d1 : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<2x4x3xf32>
  %y1 = call @expert(%x, %g, %u, %d) : (tensor<1x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>) -> tensor<1x4xf32>
  %c0 = arith.constant dense<0.75> : tensor<1x4xf32>
  %c1 = arith.constant dense<0.25> : tensor<1x4xf32>
  %a = llm.mul %y0, %c0 : tensor<1x4xf32>
  %b = llm.mul %y1, %c1 : tensor<1x4xf32>
  %e = llm.add %a, %b : tensor<1x4xf32>
  check.expect_close %y, %e {nmse = 1.0e-12 : f64} : tensor<1x4xf32>
  return
}

/// Expert 0 alone.
func.func private @expert(%x: tensor<1x4xf32>, %gate: tensor<2x3x4xf32>, %up: tensor<2x3x4xf32>, %down: tensor<2x4x3xf32>) -> tensor<1x4xf32> {
  %g = tensor.extract_slice %gate[0, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<3x4xf32>
  %u = tensor.extract_slice %up[0, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<3x4xf32>
  %d = tensor.extract_slice %down[0, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<4x3xf32>
  %gx = llm.linear %x, %g : tensor<1x4xf32>, tensor<3x4xf32> -> tensor<1x3xf32>
  %ux = llm.linear %x, %u : tensor<1x4xf32>, tensor<3x4xf32> -> tensor<1x3xf32>
  %h = llm.swiglu %gx, %ux : tensor<1x3xf32>
  %y = llm.linear %h, %d : tensor<1x3xf32>, tensor<4x3xf32> -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// llm.linear for each head.
func.func @heads(%x: tensor<2x3x4xf32>, %w: tensor<3x5x4xf32>) {
  %y = llm.head_linear %x, %w : (tensor<2x3x4xf32>, tensor<3x5x4xf32>) -> tensor<2x3x5xf32>
  %x1 = tensor.extract_slice %x[0, 1, 0] [2, 1, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x4xf32>
  %w1 = tensor.extract_slice %w[1, 0, 0] [1, 5, 4] [1, 1, 1] : tensor<3x5x4xf32> to tensor<5x4xf32>
  %e = llm.linear %x1, %w1 : tensor<2x4xf32>, tensor<5x4xf32> -> tensor<2x5xf32>
  %y1 = tensor.extract_slice %y[0, 1, 0] [2, 1, 5] [1, 1, 1] : tensor<2x3x5xf32> to tensor<2x5xf32>
  check.expect_close %y1, %e {nmse = 1.0e-13 : f64} : tensor<2x5xf32>
  return
}

func.func @sample(%l: tensor<3x50xf32>) {
  %x = arith.constant dense<[[0.0, 3.0, 3.0], [5.0, 4.0, 4.5]]> : tensor<2x3xf32>
  %greedy = llm.sample %x : (tensor<2x3xf32>) -> tensor<2xi32>
  %e = arith.constant dense<[1, 0]> : tensor<2xi32>
  check.expect_equal %greedy, %e : tensor<2xi32>
  // One candidate only: as good as greedy.
  %one = llm.sample %l {temperature = 2.0, top_k = 1, seed = 3} : (tensor<3x50xf32>) -> tensor<3xi32>
  %best = llm.sample %l : (tensor<3x50xf32>) -> tensor<3xi32>
  check.expect_equal %one, %best : tensor<3xi32>
  // Row r is drawn with the seed of row 0 plus r.
  %all = llm.sample %l {temperature = 2.0, top_p = 0.9, seed = 3} : (tensor<3x50xf32>) -> tensor<3xi32>
  %l2 = tensor.extract_slice %l[2, 0] [1, 50] [1, 1] : tensor<3x50xf32> to tensor<1x50xf32>
  %third = llm.sample %l2 {temperature = 2.0, top_p = 0.9, seed = 5} : (tensor<1x50xf32>) -> tensor<1xi32>
  %a2 = tensor.extract_slice %all[2] [1] [1] : tensor<3xi32> to tensor<1xi32>
  check.expect_equal %a2, %third : tensor<1xi32>
  return
}
