// Ops of arith, math and tensor between those of llm: kernels of the program
// like any other, which give what the interpreter says.

// RUN: llmir-translate %s --compare --max-nmse=1e-11 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=1 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=4 --level=x86-64-v3 | FileCheck %s

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// Ops that only the next one reads are one kernel; others are read twice.
// CHECK-DAG: @floats result 0: nmse
// CHECK-DAG: @floats result 1: nmse
func.func @floats(%x: tensor<3x19xf32>, %y: tensor<3x19xf32>) -> (tensor<3x19xf32>, tensor<3x19xf32>) {
  %half = arith.constant dense<0.5> : tensor<3x19xf32>
  %row = arith.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %a = arith.addf %x, %y : tensor<3x19xf32>
  %b = arith.mulf %a, %half : tensor<3x19xf32>
  %c = arith.subf %b, %x : tensor<3x19xf32>
  %d = arith.negf %c : tensor<3x19xf32>
  %e = arith.maximumf %d, %y : tensor<3x19xf32>
  %f = arith.minimumf %e, %b : tensor<3x19xf32>
  %s = llm.silu %f : tensor<3x19xf32>
  %g = arith.maxnumf %s, %x : tensor<3x19xf32>
  %h = arith.minnumf %g, %half : tensor<3x19xf32>
  %m = math.fma %h, %x, %y : tensor<3x19xf32>
  %d2 = arith.addf %row, %row : tensor<3x1xf32>
  %k = tensor.collapse_shape %d2 [[0, 1]] : tensor<3x1xf32> into tensor<3xf32>
  %k0 = tensor.expand_shape %k [[0, 1]] output_shape [3, 1] : tensor<3xf32> into tensor<3x1xf32>
  %w = tensor.concat dim(1) %m, %k0 : (tensor<3x19xf32>, tensor<3x1xf32>) -> tensor<3x20xf32>
  %v = tensor.extract_slice %w[0, 1] [3, 19] [1, 1] : tensor<3x20xf32> to tensor<3x19xf32>
  %q = arith.divf %v, %half : tensor<3x19xf32>
  return %q, %a : tensor<3x19xf32>, tensor<3x19xf32>
}

// Numbers of 16 bits are rounded at every op.
// CHECK-DAG: @small_floats result 0: nmse 0.00e+00
// CHECK-DAG: @small_floats result 1: nmse 0.00e+00
func.func @small_floats(%x: tensor<4x18xbf16>, %y: tensor<7xf16>) -> (tensor<4x18xbf16>, tensor<7xf16>) {
  %c = arith.constant dense<0.1> : tensor<4x18xbf16>
  %s = arith.addf %x, %c : tensor<4x18xbf16>
  %m = arith.mulf %s, %x : tensor<4x18xbf16>
  %wide = arith.extf %y : tensor<7xf16> to tensor<7xf32>
  %sq = arith.mulf %wide, %wide : tensor<7xf32>
  %n = arith.truncf %sq : tensor<7xf32> to tensor<7xf16>
  %d = arith.subf %n, %y : tensor<7xf16>
  return %m, %d : tensor<4x18xbf16>, tensor<7xf16>
}

// CHECK-DAG: @comparisons result 0: equal
// CHECK-DAG: @comparisons result 1: nmse 0.00e+00
// CHECK-DAG: @comparisons result 2: equal
// CHECK-DAG: @comparisons result 3: nmse 0.00e+00
func.func @comparisons(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>, %i: tensor<6x5xi32> {check.range = array<i64: -3, 3>},
                       %t: i1 {check.values = true})
    -> (tensor<6x5xi1>, tensor<6x5xf32>, tensor<6x5xi1>, tensor<6x5xf32>) {
  %zero = arith.constant dense<0> : tensor<6x5xi32>
  %less = arith.cmpf olt, %x, %y : tensor<6x5xf32>
  %notless = arith.cmpf uge, %x, %y : tensor<6x5xf32>
  %least = arith.select %less, %x, %y : tensor<6x5xi1>, tensor<6x5xf32>
  %neg = arith.cmpi slt, %i, %zero : tensor<6x5xi32>
  %large = arith.cmpi ugt, %i, %zero : tensor<6x5xi32>
  %a = arith.andi %neg, %large : tensor<6x5xi1>
  %o = arith.ori %a, %notless : tensor<6x5xi1>
  %b = arith.xori %o, %less : tensor<6x5xi1>
  %whole = arith.select %t, %least, %y : tensor<6x5xf32>
  return %less, %least, %b, %whole : tensor<6x5xi1>, tensor<6x5xf32>, tensor<6x5xi1>, tensor<6x5xf32>
}

// Quotients by anything, also by 0, never trap.
// CHECK-DAG: @integers result 0: equal
// CHECK-DAG: @integers result 1: equal
// CHECK-DAG: @integers result 2: equal
// CHECK-DAG: @integers result 3: equal
// CHECK-DAG: @integers result 4: equal
// CHECK-DAG: @integers result 5: equal
func.func @integers(%x: tensor<5x17xi32> {check.range = array<i64: -99, 99>}, %y: tensor<5x17xi32> {check.range = array<i64: -4, 5>},
                    %z: tensor<9xi64> {check.range = array<i64: -99, 99>})
    -> (tensor<5x17xi32>, tensor<5x17xi32>, tensor<5x17xi32>, tensor<5x17xi32>, tensor<5x17xi32>, tensor<9xi64>) {
  %q = arith.divsi %x, %y : tensor<5x17xi32>
  %r = arith.remsi %x, %y : tensor<5x17xi32>
  %f = arith.floordivsi %x, %y : tensor<5x17xi32>
  %c = arith.ceildivsi %x, %y : tensor<5x17xi32>
  %fc = arith.muli %f, %c : tensor<5x17xi32>
  %u = arith.divui %x, %y : tensor<5x17xi32>
  %v = arith.remui %y, %x : tensor<5x17xi32>
  %cu = arith.ceildivui %x, %y : tensor<5x17xi32>
  %uv = arith.xori %u, %v : tensor<5x17xi32>
  %ucv = arith.addi %uv, %cu : tensor<5x17xi32>
  %three = arith.constant dense<3> : tensor<5x17xi32>
  %left = arith.shli %x, %three : tensor<5x17xi32>
  %right = arith.shrsi %left, %three : tensor<5x17xi32>
  %high = arith.shrui %x, %three : tensor<5x17xi32>
  %bits = arith.subi %right, %high : tensor<5x17xi32>
  %most = arith.maxui %bits, %y : tensor<5x17xi32>
  %least = arith.minsi %most, %x : tensor<5x17xi32>
  %z2 = arith.muli %z, %z : tensor<9xi64>
  %z3 = arith.remsi %z2, %z : tensor<9xi64>
  %z4 = arith.addi %z3, %z2 : tensor<9xi64>
  return %q, %r, %fc, %ucv, %least, %z4 : tensor<5x17xi32>, tensor<5x17xi32>, tensor<5x17xi32>, tensor<5x17xi32>, tensor<5x17xi32>, tensor<9xi64>
}

// CHECK-DAG: @casts result 0: nmse 0.00e+00
// CHECK-DAG: @casts result 1: equal
// CHECK-DAG: @casts result 2: equal
// CHECK-DAG: @casts result 3: nmse 0.00e+00
// CHECK-DAG: @casts result 4: equal
func.func @casts(%x: tensor<2x7xf32> {check.range = array<f64: -90.0, 90.0>}, %b: tensor<2x7xi8>, %t: tensor<2x7xi1>)
    -> (tensor<2x7xf32>, tensor<2x7xi32>, tensor<2x7xi64>, tensor<2x7xbf16>, tensor<2x7xi8>) {
  %i = arith.fptosi %x : tensor<2x7xf32> to tensor<2x7xi32>
  %f = arith.sitofp %i : tensor<2x7xi32> to tensor<2x7xf32>
  %w = arith.extui %b : tensor<2x7xi8> to tensor<2x7xi32>
  %s = arith.extsi %b : tensor<2x7xi8> to tensor<2x7xi64>
  %u = arith.uitofp %t : tensor<2x7xi1> to tensor<2x7xbf16>
  %n = arith.trunci %w : tensor<2x7xi32> to tensor<2x7xi8>
  %d = arith.addi %n, %b : tensor<2x7xi8>
  %e = arith.bitcast %f : tensor<2x7xf32> to tensor<2x7xi32>
  %g = arith.xori %e, %w : tensor<2x7xi32>
  return %f, %g, %s, %u, %d : tensor<2x7xf32>, tensor<2x7xi32>, tensor<2x7xi64>, tensor<2x7xbf16>, tensor<2x7xi8>
}

// Every unary function, and compositions.
// CHECK-DAG: @functions result 0: nmse
// CHECK-DAG: @functions result 1: nmse
// CHECK-DAG: @functions result 2: nmse
// CHECK-DAG: @functions result 3: nmse
// CHECK-DAG: @functions result 4: nmse
// CHECK-DAG: @functions result 5: nmse
// CHECK-DAG: @functions result 6: nmse
// CHECK-DAG: @functions result 7: nmse
// CHECK-DAG: @functions result 8: nmse
// CHECK-DAG: @functions result 9: nmse
// CHECK-DAG: @functions result 10: nmse
// CHECK-DAG: @functions result 11: nmse
func.func @functions(%x: tensor<65xf32> {check.range = array<f64: 0.01, 0.99>})
    -> (tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>,
        tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>) {
  %exp = math.exp %x : tensor<65xf32>
  %exp2 = math.exp2 %exp : tensor<65xf32>
  %expm1 = math.expm1 %exp2 : tensor<65xf32>
  %log = math.log %x : tensor<65xf32>
  %log2 = math.log2 %x : tensor<65xf32>
  %log10 = math.log10 %x : tensor<65xf32>
  %log1p = math.log1p %x : tensor<65xf32>
  %logs = arith.addf %log2, %log10 : tensor<65xf32>
  %sin = math.sin %log : tensor<65xf32>
  %cos = math.cos %log : tensor<65xf32>
  %tan = math.tan %x : tensor<65xf32>
  %asin = math.asin %x : tensor<65xf32>
  %acos = math.acos %x : tensor<65xf32>
  %arcs = arith.subf %asin, %acos : tensor<65xf32>
  %atan = math.atan %log : tensor<65xf32>
  %atan2 = math.atan2 %log, %x : tensor<65xf32>
  %at = arith.addf %atan, %atan2 : tensor<65xf32>
  %sinh = math.sinh %x : tensor<65xf32>
  %cosh = math.cosh %x : tensor<65xf32>
  %tanh = math.tanh %log : tensor<65xf32>
  %hyper = arith.mulf %sinh, %cosh : tensor<65xf32>
  %hyper2 = arith.addf %hyper, %tanh : tensor<65xf32>
  %asinh = math.asinh %x : tensor<65xf32>
  %acosh = math.acosh %exp : tensor<65xf32>
  %atanh = math.atanh %x : tensor<65xf32>
  %ah = arith.addf %asinh, %acosh : tensor<65xf32>
  %ah2 = arith.addf %ah, %atanh : tensor<65xf32>
  %sqrt = math.sqrt %x : tensor<65xf32>
  %rsqrt = math.rsqrt %x : tensor<65xf32>
  %cbrt = math.cbrt %x : tensor<65xf32>
  %roots = arith.addf %sqrt, %rsqrt : tensor<65xf32>
  %roots3 = arith.addf %roots, %cbrt : tensor<65xf32>
  %pow = math.powf %x, %exp : tensor<65xf32>
  %erf = math.erf %log : tensor<65xf32>
  %erfc = math.erfc %x : tensor<65xf32>
  %erfs = arith.addf %erf, %erfc : tensor<65xf32>
  %trig = arith.addf %sin, %cos : tensor<65xf32>
  return %expm1, %logs, %log1p, %trig, %tan, %arcs, %at, %hyper2, %ah2, %roots3, %pow, %erfs
    : tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>,
      tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>, tensor<65xf32>
}

// Integers, signs and classes of floats.
// CHECK-DAG: @whole result 0: nmse 0.00e+00
// CHECK-DAG: @whole result 1: nmse 0.00e+00
// CHECK-DAG: @whole result 2: equal
// CHECK-DAG: @whole result 3: equal
func.func @whole(%x: tensor<33xf32> {check.range = array<f64: -9.0, 9.0>}, %i: tensor<33xi32> {check.range = array<i64: -999, 999>})
    -> (tensor<33xf32>, tensor<33xf32>, tensor<33xi1>, tensor<33xi32>) {
  %f = math.floor %x : tensor<33xf32>
  %c = math.ceil %f : tensor<33xf32>
  %t = math.trunc %x : tensor<33xf32>
  %r = math.round %x : tensor<33xf32>
  %e = math.roundeven %x : tensor<33xf32>
  %a = math.absf %t : tensor<33xf32>
  %s = math.copysign %a, %r : tensor<33xf32>
  %m = arith.addf %s, %e : tensor<33xf32>
  %zero = arith.constant dense<0.0> : tensor<33xf32>
  %n = arith.divf %zero, %zero : tensor<33xf32>
  %least = math.clampf %x to [%f, %m] : tensor<33xf32>
  %isnan = math.isnan %n : tensor<33xf32>
  %isfinite = math.isfinite %x : tensor<33xf32>
  %is = arith.andi %isnan, %isfinite : tensor<33xi1>
  %abs = math.absi %i : tensor<33xi32>
  %lz = math.ctlz %abs : tensor<33xi32>
  %tz = math.cttz %i : tensor<33xi32>
  %ones = math.ctpop %i : tensor<33xi32>
  %p = arith.addi %lz, %tz : tensor<33xi32>
  %q = arith.muli %p, %ones : tensor<33xi32>
  return %m, %c, %is, %q : tensor<33xf32>, tensor<33xf32>, tensor<33xi1>, tensor<33xi32>
}

//===----------------------------------------------------------------------===//
// Scalars: tensors of rank 0 for the program
//===----------------------------------------------------------------------===//

// CHECK-DAG: @scalars result 0: nmse
// CHECK-DAG: @scalars result 1: equal
// CHECK-DAG: @scalars result 2: nmse
func.func @scalars(%x: tensor<2x3xf32>, %a: f32, %n: i32 {check.values = 7 : i32}, %at: index {check.values = 1 : index})
    -> (f32, i32, tensor<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %two = arith.constant 2 : i32
  %e = tensor.extract %x[%at, %c2] : tensor<2x3xf32>
  %f = tensor.extract %x[%c0, %at] : tensor<2x3xf32>
  %g = arith.mulf %e, %a : f32
  %h = arith.addf %g, %f : f32
  %i = arith.index_cast %at : index to i32
  %j = arith.muli %i, %n : i32
  %k = arith.divsi %n, %two : i32
  %l = arith.subi %j, %k : i32
  %all = tensor.splat %h : tensor<2x3xf32>
  %y = arith.mulf %all, %x : tensor<2x3xf32>
  %z = tensor.insert %h into %y[%c0, %at] : tensor<2x3xf32>
  %w = tensor.insert %a into %z[%c0, %c0] : tensor<2x3xf32>
  return %h, %l, %w : f32, i32, tensor<2x3xf32>
}

// Values without a buffer: constants, single elements, sizes.
// CHECK-DAG: @elements result 0: nmse 0.00e+00
// CHECK-DAG: @elements result 1: equal
// CHECK-DAG: @elements result 2: equal
// CHECK-DAG: @elements result 3: nmse 0.00e+00
func.func @elements(%a: f32, %x: tensor<4x6xf32>) -> (tensor<2x2xf32>, tensor<3xi64>, index, tensor<f32>) {
  %one = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<4x6xf32>
  %r = tensor.rank %x : tensor<4x6xf32>
  %m = arith.muli %n, %r : index
  %s = arith.index_cast %m : index to i64
  %t = arith.constant 5 : i64
  %u = tensor.from_elements %s, %t, %s : tensor<3xi64>
  %b = arith.negf %a : f32
  %y = tensor.from_elements %a, %one, %b, %a : tensor<2x2xf32>
  %zero = tensor.from_elements %b : tensor<f32>
  return %y, %u, %m, %zero : tensor<2x2xf32>, tensor<3xi64>, index, tensor<f32>
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

// Slices at offsets that are known only at run time, into and out of tensors.
// CHECK-DAG: @computed_slices result 0: nmse 0.00e+00
// CHECK-DAG: @computed_slices result 1: nmse 0.00e+00
// CHECK-DAG: @computed_slices result 2: equal
func.func @computed_slices(%x: tensor<7x20xf32>, %i: tensor<4x6xi32> {check.range = array<i64: -99, 99>},
                           %a: index {check.values = 3 : index}, %b: index {check.values = 2 : index})
    -> (tensor<3x5xf32>, tensor<7x20xf32>, tensor<6xi32>) {
  %s = tensor.extract_slice %x[1, %a] [3, 5] [2, 3] : tensor<7x20xf32> to tensor<3x5xf32>
  %t = tensor.insert_slice %s into %x[%b, %a] [3, 5] [2, 1] : tensor<3x5xf32> into tensor<7x20xf32>
  %row = tensor.extract_slice %i[%b, 0] [1, 6] [1, 1] : tensor<4x6xi32> to tensor<6xi32>
  return %s, %t, %row : tensor<3x5xf32>, tensor<7x20xf32>, tensor<6xi32>
}

// CHECK-DAG: @padded result 0: nmse 0.00e+00
// CHECK-DAG: @padded result 1: equal
func.func @padded(%x: tensor<2x3xf32>, %i: tensor<4xi32> {check.range = array<i64: -9, 9>}, %by: f32) -> (tensor<5x4xf32>, tensor<7xi32>) {
  %seven = arith.constant 7 : i32
  %y = tensor.pad %x low[1, 0] high[2, 1] {
  ^bb0(%r: index, %c: index):
    tensor.yield %by : f32
  } : tensor<2x3xf32> to tensor<5x4xf32>
  %j = tensor.pad %i low[3] high[0] {
  ^bb0(%r: index):
    tensor.yield %seven : i32
  } : tensor<4xi32> to tensor<7xi32>
  return %y, %j : tensor<5x4xf32>, tensor<7xi32>
}

// CHECK-DAG: @generated result 0: equal
// CHECK-DAG: @generated result 1: nmse 0.00e+00
func.func @generated(%x: tensor<6xf32>, %by: f32) -> (tensor<3x4xi64>, tensor<2x3xf32>) {
  %y = tensor.generate {
  ^bb0(%r: index, %c: index):
    %four = arith.constant 4 : index
    %m = arith.muli %r, %four : index
    %n = arith.addi %m, %c : index
    %w = arith.index_cast %n : index to i64
    tensor.yield %w : i64
  } : tensor<3x4xi64>
  %shape = arith.constant dense<[2, 3]> : tensor<2xi64>
  %z = tensor.reshape %x(%shape) : (tensor<6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %k = tensor.cast %z : tensor<2x3xf32> to tensor<2x3xf32>
  return %y, %k : tensor<3x4xi64>, tensor<2x3xf32>
}

// Scalars in the loops of structured ops.
// CHECK-DAG: @structured result 0: nmse
func.func @structured(%x: tensor<3x4xf32>, %a: f32, %b: f32) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%a : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = arith.mulf %a, %b : f32
  %y = linalg.map ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>)
    (%n: f32, %out: f32) {
      %p = arith.mulf %n, %c : f32
      %q = arith.addf %p, %b : f32
      linalg.yield %q : f32
    }
  %z = linalg.add ins(%y, %f : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// Between the ops of a layer.
// CHECK-DAG: @layer result 0: nmse
func.func @layer(%x: tensor<5x16xf32>, %w: tensor<32x16xf32>, %n: tensor<16xf32>, %v: tensor<16x32xf32>) -> tensor<5x16xf32> {
  %cap = arith.constant dense<30.0> : tensor<5x32xf32>
  %h = llm.rms_norm %x, %n {eps = 1.0e-5 : f64} : tensor<5x16xf32>, tensor<16xf32>
  %p = llm.linear %h, %w : tensor<5x16xf32>, tensor<32x16xf32> -> tensor<5x32xf32>
  %s = arith.divf %p, %cap : tensor<5x32xf32>
  %t = math.tanh %s : tensor<5x32xf32>
  %u = arith.mulf %t, %cap : tensor<5x32xf32>
  %d = llm.linear %u, %v : tensor<5x32xf32>, tensor<16x32xf32> -> tensor<5x16xf32>
  %r = arith.addf %d, %x : tensor<5x16xf32>
  return %r : tensor<5x16xf32>
}

// Rows of whole tiles, which are vectors, in views of other rows; a constant row
// is NaN; values added to the zero padding must not be visible.
// CHECK-DAG: @tiles result 0: nmse
// CHECK-DAG: @tiles result 1: nmse
// CHECK-DAG: @tiles result 2: nmse 0.00e+00
func.func @tiles(%x: tensor<6x8xf32>, %y: tensor<3x16xf32>, %w: tensor<20x8xf32>, %h: tensor<2x32xbf16>)
    -> (tensor<3x16xf32>, tensor<6x20xf32>, tensor<2x32xf16>) {
  %one = arith.constant dense<1.0> : tensor<3x16xf32>
  %ones = arith.constant dense<1.0> : tensor<6x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<6x8xf32> into tensor<48xf32>
  %v = tensor.expand_shape %flat [[0, 1]] output_shape [3, 16] : tensor<48xf32> into tensor<3x16xf32>
  %a = math.cos %v : tensor<3x16xf32>
  %b = arith.addf %a, %one : tensor<3x16xf32>
  %s = llm.silu %b : tensor<3x16xf32>
  %c = math.fma %s, %y, %one : tensor<3x16xf32>
  %z = arith.addf %x, %ones : tensor<6x8xf32>
  %e = math.exp %z : tensor<6x8xf32>
  %d = llm.linear %e, %w : tensor<6x8xf32>, tensor<20x8xf32> -> tensor<6x20xf32>
  %twos = arith.constant dense<2.0> : tensor<2x32xf32>
  %f = arith.extf %h : tensor<2x32xbf16> to tensor<2x32xf32>
  %g = arith.divf %f, %twos : tensor<2x32xf32>
  %i = arith.truncf %g : tensor<2x32xf32> to tensor<2x32xf16>
  return %c, %d, %i : tensor<3x16xf32>, tensor<6x20xf32>, tensor<2x32xf16>
}

// Nothing of it.
// CHECK-DAG: @nothing result 0: nmse 0.00e+00
func.func @nothing(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %y = arith.addf %x, %x : tensor<0x4xf32>
  %z = math.exp %y : tensor<0x4xf32>
  return %z : tensor<0x4xf32>
}
