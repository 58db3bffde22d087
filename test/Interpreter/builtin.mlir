// RUN: llmir-translate --interpret %s

// A loop that doubles, and a branch of it.
func.func @control(%x: tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%l = %x) -> (tensor<3xf32>) {
    %last = arith.cmpi eq, %i, %c1 : index
    %n = scf.if %last -> (tensor<3xf32>) {
      scf.yield %l : tensor<3xf32>
    } else {
      %d = arith.addf %l, %l : tensor<3xf32>
      scf.yield %d : tensor<3xf32>
    }
    scf.yield %n : tensor<3xf32>
  }
  %four = arith.constant dense<4.0> : tensor<3xf32>
  %e = arith.mulf %x, %four : tensor<3xf32>
  check.expect_equal %y, %e : tensor<3xf32>
  return
}

func.func @integers() {
  %a = arith.constant 7 : i32
  %b = arith.constant -2 : i32
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %a, %b : i32
  %max = arith.constant 2147483647 : i32
  %w = arith.addi %max, %a : i32
  %eq = arith.constant -3 : i32
  %er = arith.constant 1 : i32
  %ew = arith.constant -2147483642 : i32
  check.expect_equal %q, %eq : i32
  check.expect_equal %r, %er : i32
  check.expect_equal %w, %ew : i32
  return
}

func.func @views(%x: tensor<2x6xf32>) {
  %v = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xf32> into tensor<2x2x3xf32>
  %s = tensor.extract_slice %v[0, 1, 0] [2, 1, 2] [1, 1, 2] : tensor<2x2x3xf32> to tensor<2x2xf32>
  %a = tensor.extract_slice %x[0, 3] [2, 1] [1, 1] : tensor<2x6xf32> to tensor<2x1xf32>
  %b = tensor.extract_slice %x[0, 5] [2, 1] [1, 1] : tensor<2x6xf32> to tensor<2x1xf32>
  %e = tensor.concat dim(1) %a, %b : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  check.expect_equal %s, %e : tensor<2x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x6xf32>
  %i = tensor.insert_slice %e into %z[0, 2] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<2x6xf32>
  %o = tensor.extract_slice %i[0, 2] [2, 2] [1, 1] : tensor<2x6xf32> to tensor<2x2xf32>
  check.expect_equal %o, %e : tensor<2x2xf32>
  %d = arith.constant 1 : index
  %n = tensor.dim %x, %d : tensor<2x6xf32>
  %six = arith.constant 6 : index
  check.expect_equal %n, %six : index
  return
}

// linalg's product is the projection's; its body rounds after each step.
func.func @products(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) {
  %t = tensor.empty() : tensor<3x4xf32>
  %wt = linalg.transpose ins(%w : tensor<4x3xf32>) outs(%t : tensor<3x4xf32>) permutation = [1, 0]
  %z = arith.constant dense<0.0> : tensor<2x4xf32>
  %y = linalg.matmul ins(%x, %wt : tensor<2x3xf32>, tensor<3x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  %e = llm.linear %x, %w : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<2x4xf32>
  check.expect_close %y, %e {nmse = 1.0e-13 : f64} : tensor<2x4xf32>
  %two = arith.constant 2.0 : f32
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e : tensor<2x4xf32>) outs(%z : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.mulf %in, %two : f32
    linalg.yield %m : f32
  } -> tensor<2x4xf32>
  %s = llm.add %e, %e : tensor<2x4xf32>
  check.expect_equal %g, %s : tensor<2x4xf32>
  return
}
