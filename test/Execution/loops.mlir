// Structured ops of linalg in functions: compiled, they are loops over a scalar
// region. Element-wise with broadcast, comparisons and choices, reductions,
// products of matrices, convolutions, transposition; sizes 0 and 1; every type.

// RUN: llmir-translate %s --compare | FileCheck %s
// RUN: llmir-translate %s --compare --workers=1 | FileCheck %s
// RUN: llmir-translate %s --compare --workers=3 --level=x86-64-v3 | FileCheck %s

#id2 = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#none2 = affine_map<(i, j) -> ()>

// A column and a row make a matrix; the scalar is of rank 0.
// CHECK: @broadcast result 0: nmse
func.func @broadcast(%x: tensor<5x1xf32>, %y: tensor<19xf32>, %s: tensor<f32>) -> tensor<5x19xf32> {
  %init = tensor.empty() : tensor<5x19xf32>
  %z = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, 0)>, #column, #none2, #id2],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %s : tensor<5x1xf32>, tensor<19xf32>, tensor<f32>) outs(%init : tensor<5x19xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    %product = arith.mulf %sum, %c : f32
    linalg.yield %product : f32
  } -> tensor<5x19xf32>
  return %z : tensor<5x19xf32>
}

// CHECK: @functions result 0: nmse
func.func @functions(%x: tensor<3x2x7xf32>) -> tensor<3x2x7xf32> {
  %init = tensor.empty() : tensor<3x2x7xf32>
  %half = arith.constant 0.5 : f32
  %z = linalg.map ins(%x : tensor<3x2x7xf32>) outs(%init : tensor<3x2x7xf32>)
    (%a: f32, %out: f32) {
      %e = math.exp %a : f32
      %l = math.log %e : f32
      %s = math.sin %l : f32
      %c = math.cos %a : f32
      %t = math.tanh %s : f32
      %abs = math.absf %c : f32
      %root = math.sqrt %abs : f32
      %f = math.floor %root : f32
      %r = arith.subf %root, %f : f32
      %erf = math.erf %r : f32
      %sum = arith.addf %erf, %t : f32
      %y = arith.mulf %sum, %half : f32
      linalg.yield %y : f32
    }
  return %z : tensor<3x2x7xf32>
}

// Numbers of 16 bits are rounded at every op.
// CHECK: @small_floats result 0: nmse 0.00e+00
// CHECK: @small_floats result 1: nmse 0.00e+00
func.func @small_floats(%x: tensor<4x18xbf16>, %y: tensor<4x18xf16>) -> (tensor<4x18xbf16>, tensor<4x18xf16>) {
  %i = tensor.empty() : tensor<4x18xbf16>
  %j = tensor.empty() : tensor<4x18xf16>
  %c = arith.constant 0.1 : bf16
  %a = linalg.map ins(%x : tensor<4x18xbf16>) outs(%i : tensor<4x18xbf16>)
    (%e: bf16, %out: bf16) {
      %s = arith.addf %e, %c : bf16
      %m = arith.mulf %s, %e : bf16
      linalg.yield %m : bf16
    }
  %b = linalg.map ins(%y : tensor<4x18xf16>) outs(%j : tensor<4x18xf16>)
    (%e: f16, %out: f16) {
      %wide = arith.extf %e : f16 to f32
      %m = arith.mulf %wide, %wide : f32
      %n = arith.truncf %m : f32 to f16
      %s = arith.subf %n, %e : f16
      linalg.yield %s : f16
    }
  return %a, %b : tensor<4x18xbf16>, tensor<4x18xf16>
}

// Comparisons are i1, which choose; a bool is returned as it is.
// CHECK: @compare result 0: equal
// CHECK: @compare result 1: nmse 0.00e+00
func.func @compare(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>) -> (tensor<6x5xi1>, tensor<6x5xf32>) {
  %i = tensor.empty() : tensor<6x5xi1>
  %j = tensor.empty() : tensor<6x5xf32>
  %less = linalg.map ins(%x, %y : tensor<6x5xf32>, tensor<6x5xf32>) outs(%i : tensor<6x5xi1>)
    (%a: f32, %b: f32, %out: i1) {
      %c = arith.cmpf olt, %a, %b : f32
      linalg.yield %c : i1
    }
  %least = linalg.map ins(%less, %x, %y : tensor<6x5xi1>, tensor<6x5xf32>, tensor<6x5xf32>) outs(%j : tensor<6x5xf32>)
    (%c: i1, %a: f32, %b: f32, %out: f32) {
      %s = arith.select %c, %a, %b : f32
      linalg.yield %s : f32
    }
  return %less, %least : tensor<6x5xi1>, tensor<6x5xf32>
}

// i64 and i32, loop indices, a quotient by a constant.
// CHECK: @integers result 0: equal
// CHECK: @integers result 1: equal
// CHECK: @integers result 2: nmse 0.00e+00
func.func @integers(%x: tensor<4x9xi64> {check.range = array<i64: -99, 99>},
                    %y: tensor<9xi32> {check.range = array<i64: -99, 99>})
    -> (tensor<4x9xi64>, tensor<4xi32>, tensor<4x9xf32>) {
  %i = tensor.empty() : tensor<4x9xi64>
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i64
  %init = tensor.empty() : tensor<4xi32>
  %k = tensor.empty() : tensor<4x9xf32>
  %a = linalg.generic {indexing_maps = [#id2, #column, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x9xi64>, tensor<9xi32>) outs(%i : tensor<4x9xi64>) {
  ^bb0(%p: i64, %q: i32, %out: i64):
    %row = linalg.index 0 : index
    %n = arith.index_cast %row : index to i64
    %wide = arith.extsi %q : i32 to i64
    %m = arith.muli %p, %n : i64
    %s = arith.addi %m, %wide : i64
    %d = arith.divsi %s, %seven : i64
    linalg.yield %d : i64
  } -> tensor<4x9xi64>
  %filled = linalg.fill ins(%zero : i32) outs(%init : tensor<4xi32>) -> tensor<4xi32>
  %sum = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x9xi64>) outs(%filled : tensor<4xi32>) {
  ^bb0(%p: i64, %out: i32):
    %n = arith.trunci %p : i64 to i32
    %s = arith.addi %n, %out : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  %f = linalg.map ins(%x : tensor<4x9xi64>) outs(%k : tensor<4x9xf32>)
    (%p: i64, %out: f32) {
      %n = arith.sitofp %p : i64 to f32
      linalg.yield %n : f32
    }
  return %a, %sum, %f : tensor<4x9xi64>, tensor<4xi32>, tensor<4x9xf32>
}

// Over the first dimension, over the last, over all, and over nothing.
// CHECK: @reduce result 0: nmse
// CHECK: @reduce result 1: nmse 0.00e+00
// CHECK: @reduce result 2: nmse
// CHECK: @reduce result 3: nmse 0.00e+00
func.func @reduce(%x: tensor<7x21xf32>, %none: tensor<3x0xf32>)
    -> (tensor<21xf32>, tensor<7xf32>, tensor<f32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e0 = tensor.empty() : tensor<21xf32>
  %e1 = tensor.empty() : tensor<7xf32>
  %e2 = tensor.empty() : tensor<f32>
  %e3 = tensor.empty() : tensor<3xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<21xf32>) -> tensor<21xf32>
  %i1 = linalg.fill ins(%least : f32) outs(%e1 : tensor<7xf32>) -> tensor<7xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
  %i3 = linalg.fill ins(%least : f32) outs(%e3 : tensor<3xf32>) -> tensor<3xf32>
  %a = linalg.reduce ins(%x : tensor<7x21xf32>) outs(%i0 : tensor<21xf32>) dimensions = [0]
    (%n: f32, %acc: f32) {
      %s = arith.addf %acc, %n : f32
      linalg.yield %s : f32
    }
  %b = linalg.reduce ins(%x : tensor<7x21xf32>) outs(%i1 : tensor<7xf32>) dimensions = [1]
    (%n: f32, %acc: f32) {
      %s = arith.maximumf %acc, %n : f32
      linalg.yield %s : f32
    }
  %c = linalg.reduce ins(%x : tensor<7x21xf32>) outs(%i2 : tensor<f32>) dimensions = [0, 1]
    (%n: f32, %acc: f32) {
      %q = arith.mulf %n, %n : f32
      %s = arith.addf %acc, %q : f32
      linalg.yield %s : f32
    }
  %d = linalg.reduce ins(%none : tensor<3x0xf32>) outs(%i3 : tensor<3xf32>) dimensions = [1]
    (%n: f32, %acc: f32) {
      %s = arith.maximumf %acc, %n : f32
      linalg.yield %s : f32
    }
  return %a, %b, %c, %d : tensor<21xf32>, tensor<7xf32>, tensor<f32>, tensor<3xf32>
}

// CHECK: @matmul result 0: nmse
// CHECK: @matmul result 1: nmse
func.func @matmul(%a: tensor<5x13xf32>, %b: tensor<13x18xf32>, %c: tensor<3x2x4xf32>, %d: tensor<3x4x5xf32>)
    -> (tensor<5x18xf32>, tensor<3x2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<5x18xf32>
  %e1 = tensor.empty() : tensor<3x2x5xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<5x18xf32>) -> tensor<5x18xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x2x5xf32>) -> tensor<3x2x5xf32>
  %x = linalg.matmul ins(%a, %b : tensor<5x13xf32>, tensor<13x18xf32>) outs(%i0 : tensor<5x18xf32>) -> tensor<5x18xf32>
  %y = linalg.batch_matmul ins(%c, %d : tensor<3x2x4xf32>, tensor<3x4x5xf32>) outs(%i1 : tensor<3x2x5xf32>) -> tensor<3x2x5xf32>
  return %x, %y : tensor<5x18xf32>, tensor<3x2x5xf32>
}

// A convolution of stride 2 and dilation 3, over a rearranged operand.
// CHECK: @convolve result 0: nmse
func.func @convolve(%x: tensor<2x60xf32>, %w: tensor<4x3x5xf32>) -> tensor<2x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %image = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 3, 20] : tensor<2x60xf32> into tensor<2x3x20xf32>
  %e = tensor.empty() : tensor<2x4x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(b, o, x, c, k) -> (b, c, x + 3 * k)>,
                       affine_map<(b, o, x, c, k) -> (o, c, k)>,
                       affine_map<(b, o, x, c, k) -> (b, o, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%image, %w : tensor<2x3x20xf32>, tensor<4x3x5xf32>) outs(%i : tensor<2x4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4x6xf32>
  return %y : tensor<2x4x6xf32>
}

// CHECK: @transpose result 0: nmse 0.00e+00
// CHECK: @transpose result 1: equal
// CHECK: @transpose result 2: nmse 0.00e+00
func.func @transpose(%x: tensor<3x4x5xf32>, %m: tensor<2x3xi1>, %one: tensor<1x1xf32>)
    -> (tensor<5x3x4xf32>, tensor<3x2xi1>, tensor<1x1xf32>) {
  %e0 = tensor.empty() : tensor<5x3x4xf32>
  %e1 = tensor.empty() : tensor<3x2xi1>
  %e2 = tensor.empty() : tensor<1x1xf32>
  %a = linalg.transpose ins(%x : tensor<3x4x5xf32>) outs(%e0 : tensor<5x3x4xf32>) permutation = [2, 0, 1]
  %b = linalg.transpose ins(%m : tensor<2x3xi1>) outs(%e1 : tensor<3x2xi1>) permutation = [1, 0]
  %c = linalg.transpose ins(%one : tensor<1x1xf32>) outs(%e2 : tensor<1x1xf32>) permutation = [1, 0]
  return %a, %b, %c : tensor<5x3x4xf32>, tensor<3x2xi1>, tensor<1x1xf32>
}

// Nothing is computed of nothing, and a slice is put into a tensor.
// CHECK: @empty result 0: nmse 0.00e+00
// CHECK: @empty result 1: nmse 0.00e+00
func.func @empty(%x: tensor<0x4xf32>, %y: tensor<4x6xf32>, %z: tensor<2x3xf32>) -> (tensor<4x0xf32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x0xf32>
  %a = linalg.transpose ins(%x : tensor<0x4xf32>) outs(%e : tensor<4x0xf32>) permutation = [1, 0]
  %b = tensor.insert_slice %z into %y[1, 0] [2, 3] [2, 2] : tensor<2x3xf32> into tensor<4x6xf32>
  return %a, %b : tensor<4x0xf32>, tensor<4x6xf32>
}

// The mask of attention is the result of a comparison.
// CHECK: @computed_mask result 0: nmse
func.func @computed_mask(%q: tensor<1x3x2x8xf32>, %k: tensor<1x5x2x8xf32>, %x: tensor<1x1x3x5xf32>) -> tensor<1x3x2x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x3x5xi1>
  %m = linalg.map ins(%x : tensor<1x1x3x5xf32>) outs(%e : tensor<1x1x3x5xi1>)
    (%a: f32, %out: i1) {
      %c = arith.cmpf oge, %a, %zero : f32
      linalg.yield %c : i1
    }
  %y = llm.attention %q, %k, %k mask(%m) : (tensor<1x3x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x1x3x5xi1>) -> tensor<1x3x2x8xf32>
  return %y : tensor<1x3x2x8xf32>
}
