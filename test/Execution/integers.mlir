// Integers of 64 bits in compiled functions: every op that computes or moves
// them, with values beyond 32 bits, gives the results of the interpreter, which
// is exact. Numbers that differ only in their upper halves are among them.

// RUN: llmir-translate %s --compare > %t.txt && FileCheck %s < %t.txt
// RUN: not grep -v ': equal$' %t.txt
// RUN: llmir-translate %s --compare --workers=5 --level=x86-64-v3 | diff %t.txt -

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// CHECK: @arithmetic result 0: equal
// CHECK: @arithmetic result 8: equal
func.func @arithmetic(%a: tensor<3x37xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>},
                      %b: tensor<3x37xi64> {check.range = array<i64: -40000000000, 40000000000>},
                      %c: tensor<37xi64> {check.range = array<i64: -3, 3>})
    -> (tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>,
        tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>) {
  %0 = mllm.linalg.add %a, %b : tensor<3x37xi64>
  %1 = mllm.linalg.sub %b, %a : tensor<3x37xi64>
  %2 = mllm.linalg.mul %a, %b : tensor<3x37xi64>
  %3 = mllm.linalg.mul %b, %b : tensor<3x37xi64>
  %4 = mllm.linalg.div %a, %b : tensor<3x37xi64>
  %5 = mllm.linalg.div %a, %c : (tensor<3x37xi64>, tensor<37xi64>) -> tensor<3x37xi64>
  %6 = mllm.linalg.neg %a : tensor<3x37xi64>
  %7 = mllm.linalg.abs %a : tensor<3x37xi64>
  %8 = mllm.linalg.clip %a {min_val = -4.0e18 : f64, max_val = 5.0e12 : f64} : tensor<3x37xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
    : tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>,
      tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>, tensor<3x37xi64>
}

// Scalars that 32 bits lack, and those of fewer bits.
// CHECK: @scalars result 0: equal
// CHECK: @scalars result 7: equal
func.func @scalars(%a: tensor<40xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>},
                   %i: tensor<40xi32> {check.range = array<i64: -2147483648, 2147483648>}, %h: tensor<40xi16> {check.range = array<i64: -32768, 32768>})
    -> (tensor<40xi64>, tensor<40xi64>, tensor<40xi64>, tensor<40xi64>, tensor<40xi64>,
        tensor<40xi32>, tensor<40xi32>, tensor<40xi16>) {
  %0 = mllm.linalg.add %a {scalar = 1.0e12 : f64} : tensor<40xi64>
  %1 = mllm.linalg.sub %a {scalar = 1.0e12 : f64} : tensor<40xi64>
  %2 = mllm.linalg.mul %a {scalar = 5.0e9 : f64} : tensor<40xi64>
  %3 = mllm.linalg.div %a {scalar = 5.0e9 : f64} : tensor<40xi64>
  %4 = mllm.linalg.div %a {scalar = -1.0 : f64} : tensor<40xi64>
  %5 = mllm.linalg.add %i {scalar = 2147483647.0 : f64} : tensor<40xi32>
  %6 = mllm.linalg.div %i {scalar = -1.0 : f64} : tensor<40xi32>
  %7 = mllm.linalg.mul %h {scalar = 32767.0 : f64} : tensor<40xi16>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<40xi64>, tensor<40xi64>, tensor<40xi64>, tensor<40xi64>, tensor<40xi64>,
      tensor<40xi32>, tensor<40xi32>, tensor<40xi16>
}

// The least integer, which has no negative, and quotients by 0.
// CHECK: @least result 0: equal
// CHECK: @least result 4: equal
func.func @least() -> (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) {
  %x = mllm.tensor.constant dense<[-9223372036854775808, 9223372036854775807, -9007199254740993]> : tensor<3xi64>
  %one = mllm.tensor.constant dense<-1> : tensor<3xi64>
  %none = mllm.tensor.constant dense<0> : tensor<3xi64>
  %0 = mllm.linalg.div %x, %one : tensor<3xi64>
  %1 = mllm.linalg.div %x, %none : tensor<3xi64>
  %2 = mllm.linalg.neg %x : tensor<3xi64>
  %3 = mllm.linalg.abs %x : tensor<3xi64>
  %4 = mllm.linalg.mul %x, %x : tensor<3xi64>
  return %0, %1, %2, %3, %4 : tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>
}

// Loops of linalg, with the ops that divide and combine bits.
// CHECK: @loops result 0: equal
// CHECK: @loops result 1: equal
#id = affine_map<(i) -> (i)>
func.func @loops(%a: tensor<50xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>},
                 %b: tensor<50xi64> {check.range = array<i64: 1, 4000000000000>}) -> (tensor<50xi64>, tensor<50xi64>) {
  %init = tensor.empty() : tensor<50xi64>
  %mask = arith.constant 4503599627370497 : i64
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<50xi64>, tensor<50xi64>) outs(%init : tensor<50xi64>) {
  ^bb0(%x: i64, %y: i64, %out: i64):
    %q = arith.divsi %x, %y : i64
    %r = arith.remsi %x, %y : i64
    %m = arith.muli %q, %r : i64
    %n = arith.xori %m, %mask : i64
    %s = arith.maxsi %n, %y : i64
    linalg.yield %s : i64
  } -> tensor<50xi64>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<50xi64>) outs(%init : tensor<50xi64>) {
  ^bb0(%x: i64, %out: i64):
    %place = linalg.index 0 : index
    %i = arith.index_cast %place : index to i64
    %scaled = arith.muli %i, %mask : i64
    %sum = arith.addi %scaled, %x : i64
    linalg.yield %sum : i64
  } -> tensor<50xi64>
  return %0, %1 : tensor<50xi64>, tensor<50xi64>
}

// Where a processor would stop: a quotient by 0 is 0 and leaves the dividend,
// and the least number divided by -1 is itself.
// CHECK: @no_quotient result 0: equal
// CHECK: @no_quotient result 1: equal
// CHECK: @no_quotient result 2: equal
func.func @no_quotient() -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi32>) {
  %x = arith.constant dense<[-9223372036854775808, -9223372036854775808, 7, -5000000000]> : tensor<4xi64>
  %y = arith.constant dense<[-1, 0, 0, -1]> : tensor<4xi64>
  %v = arith.constant dense<[-2147483648, -2147483648, 7, 5]> : tensor<4xi32>
  %w = arith.constant dense<[-1, 0, 0, -2]> : tensor<4xi32>
  %init = tensor.empty() : tensor<4xi64>
  %short = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xi64>, tensor<4xi64>) outs(%init : tensor<4xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %q = arith.divsi %a, %b : i64
    linalg.yield %q : i64
  } -> tensor<4xi64>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xi64>, tensor<4xi64>) outs(%init : tensor<4xi64>) {
  ^bb0(%a: i64, %b: i64, %out: i64):
    %r = arith.remsi %a, %b : i64
    linalg.yield %r : i64
  } -> tensor<4xi64>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%v, %w : tensor<4xi32>, tensor<4xi32>) outs(%short : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %q = arith.divsi %a, %b : i32
    linalg.yield %q : i32
  } -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi64>, tensor<4xi64>, tensor<4xi32>
}

//===----------------------------------------------------------------------===//
// Comparisons and reductions
//===----------------------------------------------------------------------===//

// All are equal in their lower halves, or in their upper ones.
// CHECK: @comparisons result 0: equal
// CHECK: @comparisons result 6: equal
func.func @comparisons() -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi64>) {
  %a = mllm.tensor.constant dense<[4294967297, -4294967295, 1, 8589934592, 4294967296, -1]> : tensor<6xi64>
  %b = mllm.tensor.constant dense<[1, 1, 8589934593, 8589934593, 4294967296, 4294967295]> : tensor<6xi64>
  %0 = mllm.linalg.equal %a, %b : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %1 = mllm.linalg.compare not_equal %a, %b : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %2 = mllm.linalg.compare less %a, %b : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %3 = mllm.linalg.compare less_equal %a, %b : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %4 = mllm.linalg.compare greater %a, %b : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %5 = mllm.linalg.compare greater_equal %a, %b : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %6 = mllm.linalg.where %2, %a, %b : (tensor<6xi1>, tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi64>
}

// The reduction of no elements is the extreme value of the type.
// CHECK: @reductions result 0: equal
// CHECK: @reductions result 7: equal
func.func @reductions(%x: tensor<4x19xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>}, %none: tensor<3x0xi64> {check.range = array<i64: 0, 1>})
    -> (tensor<4xi64>, tensor<19xi64>, tensor<i64>, tensor<4x1xi64>, tensor<i64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) {
  %0 = mllm.linalg.reduce_sum %x {dim = 1 : i64} : tensor<4x19xi64> -> tensor<4xi64>
  %1 = mllm.linalg.reduce_sum %x {dim = 0 : i64} : tensor<4x19xi64> -> tensor<19xi64>
  %2 = mllm.linalg.reduce_sum %x : tensor<4x19xi64> -> tensor<i64>
  %3 = mllm.linalg.reduce_max %x {dim = 1 : i64, keep_dim} : tensor<4x19xi64> -> tensor<4x1xi64>
  %4 = mllm.linalg.reduce_min %x : tensor<4x19xi64> -> tensor<i64>
  %5 = mllm.linalg.reduce_max %none {dim = 1 : i64} : tensor<3x0xi64> -> tensor<3xi64>
  %6 = mllm.linalg.reduce_min %none {dim = 1 : i64} : tensor<3x0xi64> -> tensor<3xi64>
  %7 = mllm.linalg.reduce_sum %none {dim = 1 : i64} : tensor<3x0xi64> -> tensor<3xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<4xi64>, tensor<19xi64>, tensor<i64>, tensor<4x1xi64>, tensor<i64>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>
}

// A sum carried across iterations, and a count of iterations.
// CHECK: @sums_so_far result 0: equal
// CHECK: @sums_so_far result 1: equal
func.func @sums_so_far(%x: tensor<8xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>},
                       %n: tensor<i64> {check.values = dense<8> : tensor<i64>}) -> (tensor<8xi64>, tensor<i64>) {
  %zero = mllm.linalg.fill zeros %n : tensor<i64>
  %sums, %last = mllm.cf.for %n (%x, %zero) : (tensor<i64>, tensor<8xi64>, tensor<i64>) -> (tensor<8xi64>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %s: tensor<8xi64>, %before: tensor<i64>):
    %number = mllm.linalg.gather %x, %i {dim = 0 : i64} : (tensor<8xi64>, tensor<i64>) -> tensor<i64>
    %next = mllm.linalg.add %before, %number : tensor<i64>
    %places = mllm.linalg.fill arange %s {start = 0.0 : f64, step = 1.0 : f64} : tensor<8xi64>
    %here = mllm.linalg.equal %places, %i : (tensor<8xi64>, tensor<i64>) -> tensor<8xi1>
    %now = mllm.linalg.where %here, %next, %s : (tensor<8xi1>, tensor<i64>, tensor<8xi64>) -> tensor<8xi64>
    mllm.cf.yield %now, %next : tensor<8xi64>, tensor<i64>
  }
  return %sums, %last : tensor<8xi64>, tensor<i64>
}

//===----------------------------------------------------------------------===//
// Casts and fills
//===----------------------------------------------------------------------===//

// CHECK: @narrowed result 0: equal
// CHECK: @narrowed result 5: equal
func.func @narrowed(%x: tensor<3x29xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>}, %i: tensor<9xi32> {check.range = array<i64: -2147483648, 2147483648>},
                    %h: tensor<9xi8>) -> (tensor<3x29xi32>, tensor<3x29xi16>, tensor<3x29xi8>, tensor<3x29xi1>, tensor<9xi64>, tensor<9xi64>) {
  %0 = mllm.linalg.cast_type %x to i32 : tensor<3x29xi64> -> tensor<3x29xi32>
  %1 = mllm.linalg.cast_type %x to i16 : tensor<3x29xi64> -> tensor<3x29xi16>
  %2 = mllm.linalg.cast_type %x to i8 : tensor<3x29xi64> -> tensor<3x29xi8>
  %high = mllm.linalg.mul %x {scalar = 4294967296.0 : f64} : tensor<3x29xi64>
  %3 = mllm.linalg.cast_type %high to i1 : tensor<3x29xi64> -> tensor<3x29xi1>
  %4 = mllm.linalg.cast_type %i to i64 : tensor<9xi32> -> tensor<9xi64>
  %5 = mllm.linalg.cast_type %h to i64 : tensor<9xi8> -> tensor<9xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<3x29xi32>, tensor<3x29xi16>, tensor<3x29xi8>, tensor<3x29xi1>, tensor<9xi64>, tensor<9xi64>
}

// Beyond the range the nearest number of it; NaN is 0. Integers become the
// nearest float, and come back as it.
// CHECK: @floats result 0: equal
// CHECK: @floats result 2: equal
func.func @floats(%n: tensor<64xi64> {check.range = array<i64: -9223372036854775807, 9223372036854775807>}) -> (tensor<9xi64>, tensor<9xi32>, tensor<64xi64>) {
  %x = mllm.tensor.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 9.2233720368547758e18, -9.2233720368547758e18, 9.2233714871e18, 3.0e9, -1.5, 1.0e30]> : tensor<9xf32>
  %0 = mllm.linalg.cast_type %x to i64 : tensor<9xf32> -> tensor<9xi64>
  %1 = mllm.linalg.cast_type %x to i32 : tensor<9xf32> -> tensor<9xi32>
  %real = mllm.linalg.cast_type %n to f32 : tensor<64xi64> -> tensor<64xf32>
  %2 = mllm.linalg.cast_type %real to i64 : tensor<64xf32> -> tensor<64xi64>
  return %0, %1, %2 : tensor<9xi64>, tensor<9xi32>, tensor<64xi64>
}

// CHECK: @fills result 0: equal
// CHECK: @fills result 7: equal
func.func @fills(%x: tensor<2x19xi64> {check.range = array<i64: 0, 1>}, %i: tensor<5xi32> {check.range = array<i64: 0, 1>})
    -> (tensor<2x19xi64>, tensor<2x19xi64>, tensor<2x19xi64>, tensor<2x19xi64>, tensor<2x19xi64>, tensor<5xi32>, tensor<5xi32>, tensor<4x19xi64>) {
  %0 = mllm.linalg.fill specific %x {value = -2147483649.0 : f64} : tensor<2x19xi64>
  %1 = mllm.linalg.fill arange %x {start = 4.0e9 : f64, step = -3.0e12 : f64} : tensor<2x19xi64>
  %2 = mllm.linalg.fill arange %x {start = 9007199254740992.0 : f64, step = 1.0 : f64} : tensor<2x19xi64>
  %3 = mllm.linalg.fill random %x {start = -4.0e18 : f64, end = 8.0e18 : f64, seed = 7 : i64} : tensor<2x19xi64>
  %4 = mllm.linalg.fill ones %x : tensor<2x19xi64>
  %5 = mllm.linalg.fill specific %i {value = -2147483648.0 : f64} : tensor<5xi32>
  %6 = mllm.linalg.fill arange %i {start = 0.0 : f64, step = 2.0e9 : f64} : tensor<5xi32>
  %7 = mllm.linalg.pad constant %x {high = array<i64: 1, 0>, low = array<i64: 1, 0>, value = 2147483648.0 : f64} : tensor<2x19xi64> -> tensor<4x19xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<2x19xi64>, tensor<2x19xi64>, tensor<2x19xi64>, tensor<2x19xi64>, tensor<2x19xi64>, tensor<5xi32>, tensor<5xi32>, tensor<4x19xi64>
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

// CHECK: @indices result 0: equal
// CHECK: @indices result 4: equal
func.func @indices(%x: tensor<5x3x7xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>}, %at: tensor<2x3xi64> {check.range = array<i64: 0, 5>},
                   %some: tensor<4xi32> {check.range = array<i64: 0, 3>}, %places: tensor<2x3x7xi64> {check.range = array<i64: 0, 5>},
                   %new: tensor<2x3x7xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>}, %rows: tensor<4xi64> {check.range = array<i64: 0, 5>},
                   %mask: tensor<5x3x1xi1>)
    -> (tensor<2x3x3x7xi64>, tensor<5x4x7xi64>, tensor<5x3x7xi64>, tensor<4x7xi64>, tensor<5x3x7xi64>) {
  %0 = mllm.linalg.gather %x, %at {dim = 0 : i64} : (tensor<5x3x7xi64>, tensor<2x3xi64>) -> tensor<2x3x3x7xi64>
  %1 = mllm.linalg.gather %x, %some {dim = 1 : i64} : (tensor<5x3x7xi64>, tensor<4xi32>) -> tensor<5x4x7xi64>
  %2 = mllm.linalg.scatter %x, %places, %new {dim = 0 : i64} : (tensor<5x3x7xi64>, tensor<2x3x7xi64>, tensor<2x3x7xi64>) -> tensor<5x3x7xi64>
  %3 = mllm.linalg.index %x[%rows, %some, :] : tensor<5x3x7xi64>, (tensor<4xi64>, tensor<4xi32>) -> tensor<4x7xi64>
  %4 = mllm.linalg.masked_scatter %x, %mask, %x : (tensor<5x3x7xi64>, tensor<5x3x1xi1>, tensor<5x3x7xi64>) -> tensor<5x3x7xi64>
  return %0, %1, %2, %3, %4 : tensor<2x3x3x7xi64>, tensor<5x4x7xi64>, tensor<5x3x7xi64>, tensor<4x7xi64>, tensor<5x3x7xi64>
}

// Numbers that fewer bits, or floats, could not tell apart.
// CHECK: @sorts result 0: equal
// CHECK: @sorts result 4: equal
func.func @sorts(%x: tensor<4x33xi64> {check.range = array<i64: 9007199254740992, 9007199254741010>})
    -> (tensor<4x33xi32>, tensor<4x5xi64>, tensor<4x5xi32>, tensor<2x33xi64>, tensor<2x33xi32>) {
  %0 = mllm.linalg.argsort %x {dim = 1 : i64} : tensor<4x33xi64> -> tensor<4x33xi32>
  %1, %2 = mllm.linalg.top_k %x {k = 5 : i64} : tensor<4x33xi64> -> tensor<4x5xi64>, tensor<4x5xi32>
  %3, %4 = mllm.linalg.top_k %x {dim = 0 : i64, k = 2 : i64, largest = false} : tensor<4x33xi64> -> tensor<2x33xi64>, tensor<2x33xi32>
  return %0, %1, %2, %3, %4 : tensor<4x33xi32>, tensor<4x5xi64>, tensor<4x5xi32>, tensor<2x33xi64>, tensor<2x33xi32>
}

// CHECK: @moves result 0: equal
// CHECK: @moves result 6: equal
func.func @moves(%x: tensor<3x4x5xi64> {check.range = array<i64: -9000000000000000000, 9000000000000000000>})
    -> (tensor<5x4x3xi64>, tensor<12x5xi64>, tensor<6x4x5xi64>, tensor<3x8x5xi64>, tensor<2x4x5xi64>, tensor<2x3x4x5xi64>, tensor<3x6x5xi64>) {
  %0 = mllm.linalg.permute %x {axes = array<i64: 2, 1, 0>} : tensor<3x4x5xi64> -> tensor<5x4x3xi64>
  %1 = mllm.linalg.reshape %x {shape = array<i64: 12, 5>} : tensor<3x4x5xi64> -> tensor<12x5xi64>
  %2 = mllm.linalg.concat %x, %x {dim = 0 : i64} : (tensor<3x4x5xi64>, tensor<3x4x5xi64>) -> tensor<6x4x5xi64>
  %3 = mllm.linalg.repeat %x {dim = 1 : i64, times = 2 : i64} : tensor<3x4x5xi64> -> tensor<3x8x5xi64>
  %4 = mllm.linalg.slice %x[1:3, :, :] : tensor<3x4x5xi64> -> tensor<2x4x5xi64>
  %5 = mllm.linalg.stack %x, %x {dim = 0 : i64} : (tensor<3x4x5xi64>, tensor<3x4x5xi64>) -> tensor<2x3x4x5xi64>
  %6 = mllm.linalg.pad reflect %x {high = array<i64: 0, 1, 0>, low = array<i64: 0, 1, 0>} : tensor<3x4x5xi64> -> tensor<3x6x5xi64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<5x4x3xi64>, tensor<12x5xi64>, tensor<6x4x5xi64>, tensor<3x8x5xi64>, tensor<2x4x5xi64>, tensor<2x3x4x5xi64>, tensor<3x6x5xi64>
}
