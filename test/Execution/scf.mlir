// scf.if, scf.for and scf.while: labels and jumps, as mllm.cf is, around ops of
// all dialects.

// RUN: llmir-translate %s --compare --max-nmse=1e-11 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=1 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=4 --level=x86-64-v3 | FileCheck %s

!cache = !llm.paged_kv_cache<f32, 1, 2, 16, 8, 64>
!layers = !llm.paged_kv_cache<f32, 3, 2, 16, 8, 64>

// Both ways, by an argument and by an element; without results; without else.
// CHECK-DAG: @branches result 0: nmse
// CHECK-DAG: @branches result 1: equal
// CHECK-DAG: @branches result 2: nmse
func.func @branches(%t: i1 {check.values = true}, %x: tensor<3x5xf32>, %i: i32 {check.values = 3 : i32})
    -> (tensor<3x5xf32>, i32, f32) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %five = arith.constant 5 : i32
  %y, %j = scf.if %t -> (tensor<3x5xf32>, i32) {
    %a = llm.silu %x : tensor<3x5xf32>
    %k = arith.addi %i, %five : i32
    scf.yield %a, %k : tensor<3x5xf32>, i32
  } else {
    scf.yield %x, %i : tensor<3x5xf32>, i32
  }
  %e = tensor.extract %x[%c1, %c1] : tensor<3x5xf32>
  %isless = arith.cmpf olt, %e, %zero : f32
  %z, %f = scf.if %isless -> (tensor<3x5xf32>, f32) {
    %a = arith.negf %y : tensor<3x5xf32>
    scf.yield %a, %zero : tensor<3x5xf32>, f32
  } else {
    %a = math.exp %y : tensor<3x5xf32>
    scf.yield %a, %e : tensor<3x5xf32>, f32
  }
  scf.if %isless {
    %unused = arith.addf %e, %e : f32
  }
  return %z, %j, %f : tensor<3x5xf32>, i32, f32
}

// Turns 2, 5, 8; the number of the turn is a value.
// CHECK-DAG: @constant_bounds result 0: nmse
// CHECK-DAG: @constant_bounds result 1: equal
func.func @constant_bounds(%x: tensor<2x9xf32>) -> (tensor<2x9xf32>, tensor<i64>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0> : tensor<i64>
  %y, %n = scf.for %i = %c2 to %c9 step %c3 iter_args(%a = %x, %s = %zero) -> (tensor<2x9xf32>, tensor<i64>) {
    %w = arith.index_cast %i : index to i64
    %f = arith.sitofp %w : i64 to f32
    %all = tensor.splat %f : tensor<2x9xf32>
    %b = arith.divf %a, %all : tensor<2x9xf32>
    %c = llm.softmax %b : tensor<2x9xf32>
    %d = arith.addf %c, %x : tensor<2x9xf32>
    %one = tensor.from_elements %w : tensor<i64>
    %t = arith.addi %s, %one : tensor<i64>
    scf.yield %d, %t : tensor<2x9xf32>, tensor<i64>
  }
  return %y, %n : tensor<2x9xf32>, tensor<i64>
}

// Bounds from outside: no turn, one, many, and a step.
// CHECK-DAG: @bounds result 0: nmse
// CHECK-DAG: @bounds result 1: nmse 0.00e+00
// CHECK-DAG: @bounds result 2: equal
func.func @bounds(%x: tensor<4x8xf32>, %n: index {check.values = 4 : index}, %none: index {check.values = -2 : index},
                  %by: i32 {check.values = 3 : i32}) -> (tensor<4x8xf32>, tensor<4x8xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %ten = arith.constant 10 : i32
  %rows = tensor.empty() : tensor<4x8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %rows) -> (tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
    %s = llm.softmax %row : tensor<1x8xf32>
    %b = tensor.insert_slice %s into %a[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  %z = scf.for %i = %c0 to %none step %c1 iter_args(%a = %x) -> (tensor<4x8xf32>) {
    %b = arith.addf %a, %a : tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  %sum = scf.for %i = %zero to %ten step %by iter_args(%a = %zero) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  return %y, %z, %sum : tensor<4x8xf32>, tensor<4x8xf32>, i32
}

// An iteration whose index would overflow ends the loop.
// CHECK-DAG: @last_turn result 0: equal
func.func @last_turn(%first: i32 {check.values = 2147483000 : i32}) -> i32 {
  %end = arith.constant 2147483647 : i32
  %step = arith.constant 400 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %n = scf.for %i = %first to %end step %step iter_args(%a = %zero) -> (i32) : i32 {
    %b = arith.addi %a, %one : i32
    scf.yield %b : i32
  }
  return %n : i32
}

// Values that are swapped, nested loops whose bounds are induction variables, a
// branch in them, and a call.
// CHECK-DAG: @nested result 0: nmse
// CHECK-DAG: @nested result 1: nmse
// CHECK-DAG: @nested result 2: equal
func.func @nested(%x: tensor<2x9xf32>, %y: tensor<2x9xf32>, %n: index {check.values = 4 : index})
    -> (tensor<2x9xf32>, tensor<2x9xf32>, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %k = %zero) -> (tensor<2x9xf32>, tensor<2x9xf32>, i64) {
    %s:2 = scf.for %j = %c0 to %i step %c2 iter_args(%c = %a, %m = %k) -> (tensor<2x9xf32>, i64) {
      %iszero = arith.cmpi eq, %j, %c0 : index
      %d = scf.if %iszero -> (tensor<2x9xf32>) {
        %e = func.call @layer(%c) : (tensor<2x9xf32>) -> tensor<2x9xf32>
        scf.yield %e : tensor<2x9xf32>
      } else {
        %e = arith.mulf %c, %b : tensor<2x9xf32>
        scf.yield %e : tensor<2x9xf32>
      }
      %l = arith.addi %m, %one : i64
      scf.yield %d, %l : tensor<2x9xf32>, i64
    }
    scf.yield %b, %s#0, %s#1 : tensor<2x9xf32>, tensor<2x9xf32>, i64
  }
  return %r#0, %r#1, %r#2 : tensor<2x9xf32>, tensor<2x9xf32>, i64
}
func.func private @layer(%x: tensor<2x9xf32>) -> tensor<2x9xf32> {
  %s = llm.silu %x : tensor<2x9xf32>
  %r = arith.addf %s, %x : tensor<2x9xf32>
  return %r : tensor<2x9xf32>
}

// Doubles until it is 100 or more; the condition yields other values than its
// arguments.
// CHECK-DAG: @while result 0: nmse 0.00e+00
// CHECK-DAG: @while result 1: equal
func.func @while(%x: f32 {check.values = 3.0 : f32}) -> (f32, i32) {
  %hundred = arith.constant 100.0 : f32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %y, %n = scf.while (%a = %x, %i = %zero) : (f32, i32) -> (f32, i32) {
    %c = arith.cmpf olt, %a, %hundred : f32
    scf.condition(%c) %a, %i : f32, i32
  } do {
  ^bb0(%a: f32, %i: i32):
    %d = arith.addf %a, %a : f32
    %j = arith.addi %i, %one : i32
    scf.yield %d, %j : f32, i32
  }
  return %y, %n : f32, i32
}

// Decoding: each iteration appends a token to the cache that the loop carries, and
// attends to all tokens.
// CHECK-DAG: @decode result 0: nmse
func.func @decode(%id: tensor<1xi32> {check.values = dense<4> : tensor<1xi32>}, %q: tensor<1x1x4x16xf32>,
                  %n: index {check.values = 5 : index}) -> tensor<1x1x4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = llm.create_paged_cache : !cache
  %y, %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q, %cache = %empty) -> (tensor<1x1x4x16xf32>, !cache) {
    %kv = tensor.extract_slice %x[0, 0, 1, 0] [1, 1, 2, 16] [1, 1, 1, 1] : tensor<1x1x4x16xf32> to tensor<1x1x2x16xf32>
    %k = arith.addf %kv, %kv : tensor<1x1x2x16xf32>
    %c, %s, %b, %t, %l = llm.reserve_kv %cache, %id {tokens = 1}
      : (!cache, tensor<1xi32>) -> (!cache, tensor<1xi32>, tensor<1x1xi32>, tensor<1x8xi32>, tensor<1xi32>)
    %kr = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<1x1x2x16xf32> into tensor<1x2x16xf32>
    %vr = tensor.collapse_shape %kv [[0, 1], [2], [3]] : tensor<1x1x2x16xf32> into tensor<1x2x16xf32>
    %next = llm.append_kv %c, %kr, %vr slots(%s) : (!cache, tensor<1x2x16xf32>, tensor<1x2x16xf32>, tensor<1xi32>) -> !cache
    %o = llm.paged_attention %x, %next, %t, %l
      : (tensor<1x1x4x16xf32>, !cache, tensor<1x8xi32>, tensor<1xi32>) -> tensor<1x1x4x16xf32>
    %z = arith.addf %o, %q : tensor<1x1x4x16xf32>
    scf.yield %z, %next : tensor<1x1x4x16xf32>, !cache
  }
  return %y : tensor<1x1x4x16xf32>
}

// A loop over layers is written out, as the number of a layer is part of the
// program; here it is the number of the turn, and of an inner loop as well.
// CHECK-DAG: @over_layers result 0: nmse
func.func @over_layers(%id: tensor<1xi32> {check.values = dense<4> : tensor<1xi32>}, %q: tensor<1x2x4x16xf32>) -> tensor<1x2x4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %empty = llm.create_paged_cache : !layers
  %y, %full = scf.for %layer = %c0 to %c3 step %c1 iter_args(%x = %q, %cache = %empty) -> (tensor<1x2x4x16xf32>, !layers) {
    %kv = tensor.extract_slice %x[0, 0, 1, 0] [1, 2, 2, 16] [1, 1, 1, 1] : tensor<1x2x4x16xf32> to tensor<1x2x2x16xf32>
    %c, %s, %b, %t, %l = llm.reserve_kv %cache, %id layer(%layer) {tokens = 2}
      : (!layers, tensor<1xi32>) -> (!layers, tensor<2xi32>, tensor<1x2xi32>, tensor<1x8xi32>, tensor<1xi32>)
    %k = tensor.collapse_shape %kv [[0, 1], [2], [3]] : tensor<1x2x2x16xf32> into tensor<2x2x16xf32>
    %next = llm.append_kv %c, %k, %k slots(%s) layer(%layer) : (!layers, tensor<2x2x16xf32>, tensor<2x2x16xf32>, tensor<2xi32>) -> !layers
    %o = llm.paged_attention %x, %next, %t, %l layer(%layer)
      : (tensor<1x2x4x16xf32>, !layers, tensor<1x8xi32>, tensor<1xi32>) -> tensor<1x2x4x16xf32>
    %z = arith.addf %o, %x : tensor<1x2x4x16xf32>
    scf.yield %z, %next : tensor<1x2x4x16xf32>, !layers
  }
  return %y : tensor<1x2x4x16xf32>
}

// Only one branch appends; later attention reads the contents of the cache.
// CHECK-DAG: @branch_appends result 0: nmse
// CHECK-DAG: @branch_appends result 1: nmse
func.func @branch_appends(%id: tensor<1xi32> {check.values = dense<4> : tensor<1xi32>}, %q: tensor<1x2x4x16xf32>, %kv: tensor<1x2x2x16xf32>,
                          %t: i1 {check.values = true}, %f: i1 {check.values = false})
    -> (tensor<1x2x4x16xf32>, tensor<1x2x4x16xf32>) {
  %empty = llm.create_paged_cache : !cache
  %c1, %i1 = llm.append_kv %empty, %kv, %kv, %id : (!cache, tensor<1x2x2x16xf32>, tensor<1x2x2x16xf32>, tensor<1xi32>) -> (!cache, tensor<1x2xi32>)
  %c2 = scf.if %t -> (!cache) {
    %two = arith.addf %kv, %kv : tensor<1x2x2x16xf32>
    %c, %i = llm.append_kv %c1, %two, %kv, %id : (!cache, tensor<1x2x2x16xf32>, tensor<1x2x2x16xf32>, tensor<1xi32>) -> (!cache, tensor<1x2xi32>)
    scf.yield %c : !cache
  } else {
    scf.yield %c1 : !cache
  }
  %c3, %s3, %b3, %t3, %l3 = llm.reserve_kv %c2, %id {tokens = 0}
    : (!cache, tensor<1xi32>) -> (!cache, tensor<0xi32>, tensor<1x0xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %y = llm.paged_attention %q, %c3, %t3, %l3 : (tensor<1x2x4x16xf32>, !cache, tensor<1x8xi32>, tensor<1xi32>) -> tensor<1x2x4x16xf32>
  %c4 = scf.if %f -> (!cache) {
    %c, %i = llm.append_kv %c3, %kv, %kv, %id : (!cache, tensor<1x2x2x16xf32>, tensor<1x2x2x16xf32>, tensor<1xi32>) -> (!cache, tensor<1x2xi32>)
    scf.yield %c : !cache
  } else {
    scf.yield %c3 : !cache
  }
  %c5, %s5, %b5, %t5, %l5 = llm.reserve_kv %c4, %id {tokens = 0}
    : (!cache, tensor<1xi32>) -> (!cache, tensor<0xi32>, tensor<1x0xi32>, tensor<1x8xi32>, tensor<1xi32>)
  %z = llm.paged_attention %q, %c5, %t5, %l5 : (tensor<1x2x4x16xf32>, !cache, tensor<1x8xi32>, tensor<1xi32>) -> tensor<1x2x4x16xf32>
  return %y, %z : tensor<1x2x4x16xf32>, tensor<1x2x4x16xf32>
}

// At the ends of the induction variable's type, signed and unsigned.
// CHECK-DAG: @ends_of_range result 0: equal
// CHECK-DAG: @ends_of_range result 1: equal
func.func @ends_of_range(%high: i64 {check.values = 9223372036854775807 : i64}, %middle: i32 {check.values = -2147483640 : i32}) -> (i64, i32) {
  %begin = arith.constant 9223372036854775800 : i64
  %c3 = arith.constant 3 : i64
  %zero = arith.constant 0 : i64
  %a = scf.for %i = %begin to %high step %c3 iter_args(%x = %zero) -> (i64) : i64 {
    %y = arith.xori %x, %i : i64
    scf.yield %y : i64
  }
  %below = arith.constant 2147483640 : i32
  %c7 = arith.constant 7 : i32
  %none = arith.constant 0 : i32
  %b = scf.for unsigned %i = %below to %middle step %c7 iter_args(%x = %none) -> (i32) : i32 {
    %y = arith.addi %x, %i : i32
    scf.yield %y : i32
  }
  return %a, %b : i64, i32
}

// Carried values that change places: each is read before it is written over.
// CHECK-DAG: @swapped result 0: nmse 0.00e+00
// CHECK-DAG: @swapped result 1: nmse 0.00e+00
func.func @swapped(%x: tensor<3xf32>, %z: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x, %q = %z) -> (tensor<3xf32>, tensor<3xf32>) {
    scf.yield %q, %p : tensor<3xf32>, tensor<3xf32>
  }
  return %a#0, %a#1 : tensor<3xf32>, tensor<3xf32>
}
