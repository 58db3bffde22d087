// Branches and loops of functions: labels and jumps give the results of the
// interpreter, with any number of workers.

// RUN: llmir-translate %s --compare --max-nmse=1e-11 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=1 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=4 --level=x86-64-v3 | FileCheck %s

mllm.tensor.register @w : tensor<24x24xf32> {source = "w"}
mllm.tensor.register @b : tensor<24xf32> {source = "b"}

// Both ways of a branch, chosen by what comes from outside.
// CHECK-DAG: @chosen result 0: nmse
// CHECK-DAG: @chosen result 1: equal
// CHECK-DAG: @chosen result 2: nmse
func.func @chosen(%t: tensor<i1> {check.values = dense<true> : tensor<i1>},
                  %f: tensor<1x1xi1> {check.values = dense<false> : tensor<1x1xi1>},
                  %x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %i: tensor<7xi32> {check.range = array<i64: -9, 9>})
    -> (tensor<3x5xf32>, tensor<7xi32>, tensor<5x3xf32>) {
  %0:2 = mllm.cf.if %t : tensor<i1> -> tensor<3x5xf32>, tensor<7xi32> {
    %a = mllm.linalg.add %x, %y : tensor<3x5xf32>
    %j = mllm.linalg.add %i, %i : tensor<7xi32>
    mllm.cf.yield %a, %j : tensor<3x5xf32>, tensor<7xi32>
  } else {
    mllm.cf.yield %x, %i : tensor<3x5xf32>, tensor<7xi32>
  }
  // The initial value is a reshape of the result.
  %1 = mllm.cf.if %f : tensor<1x1xi1> -> tensor<5x3xf32> {
    %a = mllm.linalg.reshape %x {shape = array<i64: 5, 3>} : tensor<3x5xf32> -> tensor<5x3xf32>
    mllm.cf.yield %a : tensor<5x3xf32>
  } else {
    %a = mllm.linalg.reshape %y {shape = array<i64: 5, 3>} : tensor<3x5xf32> -> tensor<5x3xf32>
    mllm.cf.yield %a : tensor<5x3xf32>
  }
  return %0#0, %0#1, %1 : tensor<3x5xf32>, tensor<7xi32>, tensor<5x3xf32>
}

// A condition computed from a value that the branches change later.
// CHECK-DAG: @computed result 0: nmse
func.func @computed(%x: tensor<2x33xf32>) -> tensor<2x33xf32> {
  %zero = mllm.tensor.constant dense<0.0> : tensor<1x1xf32>
  %sum = mllm.linalg.reduce_sum %x : tensor<2x33xf32> -> tensor<f32>
  %c = mllm.linalg.compare less %sum, %zero : (tensor<f32>, tensor<1x1xf32>) -> tensor<1x1xi1>
  %y = mllm.linalg.exp %x : tensor<2x33xf32>
  %r = mllm.cf.if %c : tensor<1x1xi1> -> tensor<2x33xf32> {
    %a = mllm.linalg.silu %y : tensor<2x33xf32>
    mllm.cf.yield %a : tensor<2x33xf32>
  } else {
    %a = mllm.linalg.neg %y : tensor<2x33xf32>
    %d = mllm.linalg.add %a, %y : tensor<2x33xf32>
    %e = mllm.linalg.sub %d, %x : tensor<2x33xf32>
    mllm.cf.yield %e : tensor<2x33xf32>
  }
  %z = mllm.linalg.mul %r, %y : tensor<2x33xf32>
  return %z : tensor<2x33xf32>
}

// A value is doubled until it is 100 or more: from 3 in 6 iterations, from 500
// in none.
// CHECK-DAG: @doubled result 0: nmse 0.00e+00
// CHECK-DAG: @doubled result 1: nmse 0.00e+00
func.func @doubled(%x: tensor<1xf32> {check.values = dense<3.0> : tensor<1xf32>},
                   %y: tensor<1xf32> {check.values = dense<500.0> : tensor<1xf32>}) -> (tensor<1xf32>, tensor<1xf32>) {
  %0 = call @double(%x) : (tensor<1xf32>) -> tensor<1xf32>
  %1 = call @double(%y) : (tensor<1xf32>) -> tensor<1xf32>
  return %0, %1 : tensor<1xf32>, tensor<1xf32>
}
func.func private @double(%x: tensor<1xf32>) -> tensor<1xf32> {
  %hundred = mllm.tensor.constant dense<100.0> : tensor<1xf32>
  %0 = mllm.cf.while (%x) : (tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<1xf32>):
    %c = mllm.linalg.compare less %a, %hundred : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    mllm.cf.yield %c, %a : tensor<1xi1>, tensor<1xf32>
  } do {
  ^bb0(%a: tensor<1xf32>):
    %d = mllm.linalg.add %a, %a : tensor<1xf32>
    mllm.cf.yield %d : tensor<1xf32>
  }
  return %0 : tensor<1xf32>
}

// Trip counts: 0, one, many, negative; the iteration number is a value, and a
// layer with parameters runs in each.
// CHECK-DAG: @counted result 0: nmse 0.00e+00
// CHECK-DAG: @counted result 1: nmse
// CHECK-DAG: @counted result 2: nmse
// CHECK-DAG: @counted result 3: nmse 0.00e+00
func.func @counted(%x: tensor<3x24xf32>) -> (tensor<3x24xf32>, tensor<3x24xf32>, tensor<3x24xf32>, tensor<3x24xf32>) {
  %n0 = mllm.tensor.constant dense<0> : tensor<i64>
  %n1 = mllm.tensor.constant dense<1> : tensor<i64>
  %n5 = mllm.tensor.constant dense<5> : tensor<i64>
  %less = mllm.tensor.constant dense<-4> : tensor<i64>
  %0 = call @turns(%n0, %x) : (tensor<i64>, tensor<3x24xf32>) -> tensor<3x24xf32>
  %1 = call @turns(%n1, %x) : (tensor<i64>, tensor<3x24xf32>) -> tensor<3x24xf32>
  %2 = call @turns(%n5, %x) : (tensor<i64>, tensor<3x24xf32>) -> tensor<3x24xf32>
  %3 = call @turns(%less, %x) : (tensor<i64>, tensor<3x24xf32>) -> tensor<3x24xf32>
  return %0, %1, %2, %3 : tensor<3x24xf32>, tensor<3x24xf32>, tensor<3x24xf32>, tensor<3x24xf32>
}
func.func private @turns(%n: tensor<i64>, %x: tensor<3x24xf32>) -> tensor<3x24xf32> {
  %r = mllm.cf.for %n (%x) : (tensor<i64>, tensor<3x24xf32>) -> tensor<3x24xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<3x24xf32>):
    %p = mllm.linalg.linear %a, @w bias @b : tensor<3x24xf32> -> tensor<3x24xf32>
    %q = mllm.linalg.softmax %p {axis = -1 : i64} : tensor<3x24xf32>
    %f = mllm.linalg.cast_type %i to f32 : tensor<i64> -> tensor<f32>
    %s = mllm.linalg.add %q, %f : (tensor<3x24xf32>, tensor<f32>) -> tensor<3x24xf32>
    mllm.cf.yield %s : tensor<3x24xf32>
  }
  return %r : tensor<3x24xf32>
}

// Values that are swapped in each iteration, one that does not change, and the
// iteration number as a carried value.
// CHECK-DAG: @exchanged result 0: nmse 0.00e+00
// CHECK-DAG: @exchanged result 1: nmse 0.00e+00
// CHECK-DAG: @exchanged result 2: nmse 0.00e+00
// CHECK-DAG: @exchanged result 3: equal
// CHECK-DAG: @exchanged result 4: nmse 0.00e+00
func.func @exchanged(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>, %z: tensor<4x3xf32>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1xi32>, tensor<4x3xf32>) {
  %n = mllm.tensor.constant dense<7> : tensor<1xi32>
  %r:5 = mllm.cf.for %n (%x, %y, %z, %n, %z)
      : (tensor<1xi32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1xi32>, tensor<4x3xf32>)
      -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1xi32>, tensor<4x3xf32>) {
  ^bb0(%i: tensor<1xi32>, %a: tensor<4x3xf32>, %b: tensor<4x3xf32>, %c: tensor<4x3xf32>, %last: tensor<1xi32>, %same: tensor<4x3xf32>):
    mllm.cf.yield %b, %c, %a, %i, %same : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1xi32>, tensor<4x3xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<1xi32>, tensor<4x3xf32>
}

// The condition yields other values than its arguments, the same one twice, one
// from outside and one that it makes, in another order.
// CHECK-DAG: @other_values result 0: nmse
// CHECK-DAG: @other_values result 1: nmse
// CHECK-DAG: @other_values result 2: nmse
// CHECK-DAG: @other_values result 3: equal
func.func @other_values(%x: tensor<6xf32>, %z: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>) {
  %zero = mllm.tensor.constant dense<0> : tensor<i32>
  %one = mllm.tensor.constant dense<1> : tensor<i32>
  %four = mllm.tensor.constant dense<4> : tensor<i32>
  %r:4 = mllm.cf.while (%zero, %x) : (tensor<i32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<6xf32>):
    %c = mllm.linalg.compare less %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = mllm.linalg.mul %a {scalar = 0.5 : f64} : tensor<6xf32>
    mllm.cf.yield %c, %e, %e, %z, %i : tensor<i1>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
  } do {
  ^bb0(%p: tensor<6xf32>, %q: tensor<6xf32>, %outer: tensor<6xf32>, %i: tensor<i32>):
    %s = mllm.linalg.add %p, %outer : tensor<6xf32>
    %t = mllm.linalg.sub %s, %q : tensor<6xf32>
    %u = mllm.linalg.add %t, %q : tensor<6xf32>
    %j = mllm.linalg.add %i, %one : tensor<i32>
    mllm.cf.yield %j, %u : tensor<i32>, tensor<6xf32>
  }
  // The results are read more than once: they must not be overwritten.
  %s = mllm.linalg.silu %r#0 : tensor<6xf32>
  %t = mllm.linalg.add %s, %r#1 : tensor<6xf32>
  %u = mllm.linalg.add %r#2, %z : tensor<6xf32>
  return %t, %r#1, %u, %r#3 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i32>
}

// A branch in a loop with a condition, in a loop that counts, whose inner counts
// differ from turn to turn.
// CHECK-DAG: @nested result 0: nmse
// CHECK-DAG: @nested result 1: equal
func.func @nested(%n: tensor<i32> {check.values = dense<4> : tensor<i32>}, %x: tensor<2x9xf32>) -> (tensor<2x9xf32>, tensor<i32>) {
  %zero = mllm.tensor.constant dense<0> : tensor<i32>
  %one = mllm.tensor.constant dense<1> : tensor<i32>
  %two = mllm.tensor.constant dense<2> : tensor<i32>
  %r:2 = mllm.cf.for %n (%x, %zero) : (tensor<i32>, tensor<2x9xf32>, tensor<i32>) -> (tensor<2x9xf32>, tensor<i32>) {
  ^bb0(%turn: tensor<i32>, %a: tensor<2x9xf32>, %count: tensor<i32>):
    %outer = mllm.linalg.mul %a {scalar = 0.75 : f64} : tensor<2x9xf32>
    %w:3 = mllm.cf.while (%zero, %a, %count) : (tensor<i32>, tensor<2x9xf32>, tensor<i32>) -> (tensor<i32>, tensor<2x9xf32>, tensor<i32>) {
    ^bb0(%i: tensor<i32>, %b: tensor<2x9xf32>, %k: tensor<i32>):
      %c = mllm.linalg.compare less %i, %turn : (tensor<i32>, tensor<i32>) -> tensor<i1>
      mllm.cf.yield %c, %i, %b, %k : tensor<i1>, tensor<i32>, tensor<2x9xf32>, tensor<i32>
    } do {
    ^bb0(%i: tensor<i32>, %b: tensor<2x9xf32>, %k: tensor<i32>):
      %odd = mllm.linalg.equal %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %next:2 = mllm.cf.if %odd : tensor<i1> -> tensor<2x9xf32>, tensor<i32> {
        %s = mllm.linalg.add %b, %outer : tensor<2x9xf32>
        %t = mllm.linalg.reshape %s {shape = array<i64: 9, 2>} : tensor<2x9xf32> -> tensor<9x2xf32>
        %u = mllm.linalg.softmax %t {axis = -1 : i64} : tensor<9x2xf32>
        %v = mllm.linalg.reshape %u {shape = array<i64: 2, 9>} : tensor<9x2xf32> -> tensor<2x9xf32>
        %l = mllm.linalg.add %k, %two : tensor<i32>
        mllm.cf.yield %v, %l : tensor<2x9xf32>, tensor<i32>
      } else {
        %s = mllm.linalg.silu %b : tensor<2x9xf32>
        %l = mllm.linalg.add %k, %one : tensor<i32>
        mllm.cf.yield %s, %l : tensor<2x9xf32>, tensor<i32>
      }
      %j = mllm.linalg.add %i, %one : tensor<i32>
      mllm.cf.yield %j, %next#0, %next#1 : tensor<i32>, tensor<2x9xf32>, tensor<i32>
    }
    %m = mllm.linalg.add %w#1, %outer : tensor<2x9xf32>
    mllm.cf.yield %m, %w#2 : tensor<2x9xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<2x9xf32>, tensor<i32>
}

// Attention, which has a cache in scratch memory, and narrow elements in a
// loop.
// CHECK-DAG: @attention result 0: nmse
// CHECK-DAG: @attention result 1: nmse 0.00e+00
func.func @attention(%q: tensor<5x2x16xf32>, %h: tensor<3xbf16>) -> (tensor<5x2x16xf32>, tensor<3xbf16>) {
  %n = mllm.tensor.constant dense<3> : tensor<i32>
  %r:2 = mllm.cf.for %n (%q, %h) : (tensor<i32>, tensor<5x2x16xf32>, tensor<3xbf16>) -> (tensor<5x2x16xf32>, tensor<3xbf16>) {
  ^bb0(%i: tensor<i32>, %a: tensor<5x2x16xf32>, %b: tensor<3xbf16>):
    %p = mllm.linalg.rope %a {frequencies = array<f64: 1.0, 0.1, 0.01, 0.001, 0.0001, 0.00001, 0.000001, 0.0000001>, scaling = 1.0 : f64} : tensor<5x2x16xf32>
    %o = mllm.linalg.flash_attention2 %p, %a, %a {scale = 0.25 : f64, causal = true} : (tensor<5x2x16xf32>, tensor<5x2x16xf32>, tensor<5x2x16xf32>) -> tensor<5x2x16xf32>
    %c = mllm.linalg.add %b, %b : tensor<3xbf16>
    mllm.cf.yield %o, %c : tensor<5x2x16xf32>, tensor<3xbf16>
  }
  return %r#0, %r#1 : tensor<5x2x16xf32>, tensor<3xbf16>
}

// Nothing of it.
// CHECK-DAG: @empty result 0: nmse 0.00e+00
func.func @empty(%c: tensor<i1> {check.values = dense<true> : tensor<i1>}, %x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %r = mllm.cf.if %c : tensor<i1> -> tensor<0x4xf32> {
    %a = mllm.linalg.add %x, %x : tensor<0x4xf32>
    mllm.cf.yield %a : tensor<0x4xf32>
  } else {
    mllm.cf.yield %x : tensor<0x4xf32>
  }
  return %r : tensor<0x4xf32>
}

// A subgraph of a trace.
// CHECK-DAG: @model result 0: nmse
mllm.graph.subgraph @model(%x: tensor<2x24xf32>, %n: tensor<i64> {check.values = dense<2> : tensor<i64>}) -> tensor<2x24xf32> {
  %r = mllm.cf.for %n (%x) : (tensor<i64>, tensor<2x24xf32>) -> tensor<2x24xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<2x24xf32>):
    %y = mllm.graph.call_graph @layer(%a) : (tensor<2x24xf32>) -> tensor<2x24xf32>
    mllm.cf.yield %y : tensor<2x24xf32>
  }
  mllm.cf.return %r : tensor<2x24xf32>
}
mllm.graph.subgraph @layer(%x: tensor<2x24xf32>) -> tensor<2x24xf32> {
  %p = mllm.linalg.linear %x, @w bias @b : tensor<2x24xf32> -> tensor<2x24xf32>
  %s = mllm.linalg.sigmoid %p : tensor<2x24xf32>
  mllm.cf.return %s : tensor<2x24xf32>
}
