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

// Integers taken as unsigned, bits, and quotients rounded in every way.
func.func @bits() {
  %a = arith.constant dense<[7, -7, 7, -7, 5]> : tensor<5xi8>
  %b = arith.constant dense<[2, 2, -2, -2, 0]> : tensor<5xi8>
  %floor = arith.floordivsi %a, %b : tensor<5xi8>
  %efloor = arith.constant dense<[3, -4, -4, 3, 0]> : tensor<5xi8>
  check.expect_equal %floor, %efloor : tensor<5xi8>
  %ceil = arith.ceildivsi %a, %b : tensor<5xi8>
  %eceil = arith.constant dense<[4, -3, -3, 4, 0]> : tensor<5xi8>
  check.expect_equal %ceil, %eceil : tensor<5xi8>
  %divu = arith.divui %a, %b : tensor<5xi8>
  %edivu = arith.constant dense<[3, 124, 0, 0, 0]> : tensor<5xi8>
  check.expect_equal %divu, %edivu : tensor<5xi8>
  %remu = arith.remui %a, %b : tensor<5xi8>
  %eremu = arith.constant dense<[1, 1, 7, -7, 5]> : tensor<5xi8>
  check.expect_equal %remu, %eremu : tensor<5xi8>
  %ceilu = arith.ceildivui %a, %b : tensor<5xi8>
  %eceilu = arith.constant dense<[4, 125, 1, 1, 0]> : tensor<5xi8>
  check.expect_equal %ceilu, %eceilu : tensor<5xi8>
  %maxu = arith.maxui %a, %b : tensor<5xi8>
  %emaxu = arith.constant dense<[7, -7, -2, -2, 5]> : tensor<5xi8>
  check.expect_equal %maxu, %emaxu : tensor<5xi8>
  %minu = arith.minui %a, %b : tensor<5xi8>
  %eminu = arith.constant dense<[2, 2, 7, -7, 0]> : tensor<5xi8>
  check.expect_equal %minu, %eminu : tensor<5xi8>
  %less = arith.cmpi ult, %a, %b : tensor<5xi8>
  %eless = arith.constant dense<[false, false, true, true, false]> : tensor<5xi1>
  check.expect_equal %less, %eless : tensor<5xi1>
  %two = arith.constant dense<2> : tensor<5xi8>
  %left = arith.shli %a, %two : tensor<5xi8>
  %eleft = arith.constant dense<[28, -28, 28, -28, 20]> : tensor<5xi8>
  check.expect_equal %left, %eleft : tensor<5xi8>
  %right = arith.shrsi %a, %two : tensor<5xi8>
  %eright = arith.constant dense<[1, -2, 1, -2, 1]> : tensor<5xi8>
  check.expect_equal %right, %eright : tensor<5xi8>
  %high = arith.shrui %a, %two : tensor<5xi8>
  %ehigh = arith.constant dense<[1, 62, 1, 62, 1]> : tensor<5xi8>
  check.expect_equal %high, %ehigh : tensor<5xi8>
  %lz = math.ctlz %a : tensor<5xi8>
  %elz = arith.constant dense<[5, 0, 5, 0, 5]> : tensor<5xi8>
  check.expect_equal %lz, %elz : tensor<5xi8>
  %tz = math.cttz %b : tensor<5xi8>
  %etz = arith.constant dense<[1, 1, 1, 1, 8]> : tensor<5xi8>
  check.expect_equal %tz, %etz : tensor<5xi8>
  %pop = math.ctpop %b : tensor<5xi8>
  %epop = arith.constant dense<[1, 1, 7, 7, 0]> : tensor<5xi8>
  check.expect_equal %pop, %epop : tensor<5xi8>
  %abs = math.absi %a : tensor<5xi8>
  %eabs = arith.constant dense<[7, 7, 7, 7, 5]> : tensor<5xi8>
  check.expect_equal %abs, %eabs : tensor<5xi8>
  %pow = math.ipowi %b, %two : tensor<5xi8>
  %epow = arith.constant dense<[4, 4, 4, 4, 0]> : tensor<5xi8>
  check.expect_equal %pow, %epow : tensor<5xi8>
  %wide = arith.extui %a : tensor<5xi8> to tensor<5xi32>
  %ewide = arith.constant dense<[7, 249, 7, 249, 5]> : tensor<5xi32>
  check.expect_equal %wide, %ewide : tensor<5xi32>
  %float = arith.uitofp %a : tensor<5xi8> to tensor<5xf32>
  %efloat = arith.constant dense<[7.0, 249.0, 7.0, 249.0, 5.0]> : tensor<5xf32>
  check.expect_equal %float, %efloat : tensor<5xf32>
  %word = arith.bitcast %efloat : tensor<5xf32> to tensor<5xi32>
  %eword = arith.constant dense<[0x40E00000, 0x43790000, 0x40E00000, 0x43790000, 0x40A00000]> : tensor<5xi32>
  check.expect_equal %word, %eword : tensor<5xi32>
  %back = arith.bitcast %word : tensor<5xi32> to tensor<5xf32>
  check.expect_equal %back, %efloat : tensor<5xf32>
  // A true i1 is -1 as a signed integer.
  %t = arith.constant dense<[true, false]> : tensor<2xi1>
  %s = arith.extsi %t : tensor<2xi1> to tensor<2xi32>
  %es = arith.constant dense<[-1, 0]> : tensor<2xi32>
  check.expect_equal %s, %es : tensor<2xi32>
  return
}

// NaN is what unordered comparisons are for, and is neither finite nor normal.
func.func @classes() {
  %x = arith.constant dense<[0x7FC00000, 0x7F800000, 0x00000001, 1.0]> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %uno = arith.cmpf uno, %x, %one : tensor<4xf32>
  %nan = math.isnan %x : tensor<4xf32>
  check.expect_equal %uno, %nan : tensor<4xi1>
  %enan = arith.constant dense<[true, false, false, false]> : tensor<4xi1>
  check.expect_equal %nan, %enan : tensor<4xi1>
  %inf = math.isinf %x : tensor<4xf32>
  %einf = arith.constant dense<[false, true, false, false]> : tensor<4xi1>
  check.expect_equal %inf, %einf : tensor<4xi1>
  %finite = math.isfinite %x : tensor<4xf32>
  %efinite = arith.constant dense<[false, false, true, true]> : tensor<4xi1>
  check.expect_equal %finite, %efinite : tensor<4xi1>
  %normal = math.isnormal %x : tensor<4xf32>
  %enormal = arith.constant dense<[false, false, false, true]> : tensor<4xi1>
  check.expect_equal %normal, %enormal : tensor<4xi1>
  %ult = arith.cmpf ult, %x, %one : tensor<4xf32>
  %eult = arith.constant dense<[true, false, true, false]> : tensor<4xi1>
  check.expect_equal %ult, %eult : tensor<4xi1>
  %one_ = arith.cmpf one, %x, %one : tensor<4xf32>
  %eone = arith.constant dense<[false, true, true, false]> : tensor<4xi1>
  check.expect_equal %one_, %eone : tensor<4xi1>
  %ueq = arith.cmpf ueq, %x, %one : tensor<4xf32>
  %eueq = arith.constant dense<[true, false, false, true]> : tensor<4xi1>
  check.expect_equal %ueq, %eueq : tensor<4xi1>
  return
}

// Elements, padding, tensors that are computed, and a loop with a condition.
func.func @elements(%x: tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %y = tensor.insert %two into %x[%c0, %c1] : tensor<2x2xf32>
  %e = tensor.extract %y[%c0, %c1] : tensor<2x2xf32>
  check.expect_equal %e, %two : f32
  %p = tensor.pad %y low[1, 0] high[0, 2] {
  ^bb0(%r: index, %c: index):
    tensor.yield %two : f32
  } : tensor<2x2xf32> to tensor<3x4xf32>
  %twos = arith.constant dense<2.0> : tensor<1x4xf32>
  %top = tensor.extract_slice %p[0, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  check.expect_equal %top, %twos : tensor<1x4xf32>
  %inner = tensor.extract_slice %p[1, 0] [2, 2] [1, 1] : tensor<3x4xf32> to tensor<2x2xf32>
  check.expect_equal %inner, %y : tensor<2x2xf32>
  %g = tensor.generate {
  ^bb0(%r: index, %c: index):
    %n = arith.addi %r, %c : index
    %w = arith.index_cast %n : index to i32
    tensor.yield %w : i32
  } : tensor<2x3xi32>
  %eg = arith.constant dense<[[0, 1, 2], [1, 2, 3]]> : tensor<2x3xi32>
  check.expect_equal %g, %eg : tensor<2x3xi32>
  %shape = arith.constant dense<[3, 2]> : tensor<2xi32>
  %rs = tensor.reshape %eg(%shape) : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  %ers = arith.constant dense<[[0, 1], [2, 1], [2, 3]]> : tensor<3x2xi32>
  check.expect_equal %rs, %ers : tensor<3x2xi32>
  %rank = tensor.rank %rs : tensor<3x2xi32>
  %c2 = arith.constant 2 : index
  check.expect_equal %rank, %c2 : index
  %hundred = arith.constant 100.0 : f32
  %d = scf.while (%a = %two) : (f32) -> f32 {
    %isless = arith.cmpf olt, %a, %hundred : f32
    scf.condition(%isless) %a : f32
  } do {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    scf.yield %b : f32
  }
  %ed = arith.constant 128.0 : f32
  check.expect_equal %d, %ed : f32
  return
}
