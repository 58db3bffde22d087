// RUN: llmir-opt %s --convert-llm-to-program --split-input-file --verify-diagnostics

// Unsupported ops in programs of functions.

func.func @f(%x: tensor<7x16xf32>) -> tensor<7x16xf32> {
  return %x : tensor<7x16xf32>
}
// expected-error@+1 {{is a second function in addition to @f; a program is converted from @step or the only function}}
func.func @g(%x: tensor<7x16xf32>) -> tensor<7x16xf32> {
  return %x : tensor<7x16xf32>
}

// -----

// expected-error@+1 {{must have a body of one block to be converted to a program}}
func.func private @f(%x: tensor<7x16xf32>) -> tensor<7x16xf32>

// -----

// expected-error@+1 {{has the type 'tensor<?x16xf32>'; the program of a function requires static sizes}}
func.func @f(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}

// -----

// expected-error@+1 {{has the type 'tensor<4xf64>'; a program supports f32, f16, bf16, i32, i64 and integers of at most 16 bits}}
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  return %x : tensor<4xf64>
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
// expected-note@+1 {{the first one is here}}
func.func @f(%c: !cache) -> (!cache, !cache) {
  // expected-error@+1 {{is a second cache in the function; a program has only one pool}}
  %d = llm.create_paged_cache : !cache
  return %c, %d : !cache, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @f(%c: !cache, %k: tensor<6x1x16xf32>, %s: tensor<6xi32>, %layer: index) -> !cache {
  // expected-error@+1 {{requires a constant layer number, or one that is the induction variable of an scf.for with constant bounds}}
  %d = llm.append_kv %c, %k, %k slots(%s) layer(%layer) : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
  return %d : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @f(%c: !cache, %k: tensor<6x1x16xf32>, %s: tensor<6xi32>) -> !cache {
  %layer = arith.constant 2 : index
  // expected-error@+1 {{accesses layer 2 of a cache with 2 layers}}
  %d = llm.append_kv %c, %k, %k slots(%s) layer(%layer) : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
  return %d : !cache
}

// -----

func.func @f(%x: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {llm.num_ranks = 2 : i64} {
  // expected-error@+1 {{group_size}}
  %y = llm.all_reduce %x {group_size = 3, reduce_op = "sum"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// Weights in block formats are decoded: a result would not be the integers.
!q = !llm.quantized_tensor<i8, [6, 64], true, false, -1, 32, 8, format = q8_0>
func.func @f(%q: !q) -> !q {
  // expected-error@+1 {{; a program can only return tensors}}
  return %q : !q
}

// -----

func.func @f(%x: tensor<4x16xf32>, %i: index) -> tensor<2x16xf32> {
  // expected-error@+1 {{has a slice of dynamic size; a program requires constant sizes and strides}}
  %y = tensor.extract_slice %x[0, 0] [2, 16] [%i, 1] : tensor<4x16xf32> to tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// -----

func.func @f(%x: tensor<4x16xf32>, %i: index) -> tensor<6x16xf32> {
  // expected-error@+1 {{has padding sizes that are not constants; use constants, or tensor.insert_slice}}
  %y = tensor.pad %x low[%i, 0] high[%i, 0] {
  ^bb0(%r: index, %c: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<4x16xf32> to tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<6xf32> {
  // expected-error@+1 {{computes the padding values in its region; use one value from outside of it}}
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%r: index):
    %n = arith.index_cast %r : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<4x0xf32>, %i: index) -> f32 {
  // expected-error@+1 {{extracts an element of an empty tensor}}
  %y = tensor.extract %x[%i, %i] : tensor<4x0xf32>
  return %y : f32
}

// -----

func.func @f(%x: tensor<4x0xf32>, %i: index, %e: f32) -> tensor<4x0xf32> {
  // expected-error@+1 {{inserts an element into an empty tensor}}
  %y = tensor.insert %e into %x[%i, %i] : tensor<4x0xf32>
  return %y : tensor<4x0xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> f32 {
  %i = arith.constant 4 : index
  // expected-error@+1 {{has the index 4, expected 0 to 3}}
  %y = tensor.extract %x[%i] : tensor<4xf32>
  return %y : f32
}

// -----

func.func @f(%x: tensor<4x16xf32>, %i: index) -> tensor<3x16xf32> {
  // expected-error@+1 {{extracts or inserts 3 elements, 2 apart, in a dimension of size 4}}
  %y = tensor.extract_slice %x[%i, 0] [3, 16] [2, 1] : tensor<4x16xf32> to tensor<3x16xf32>
  return %y : tensor<3x16xf32>
}

// -----

func.func @f(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error@+1 {{has no kernel in a program; write x - y * trunc(x / y) with arith.divf and math.trunc}}
  %y = arith.remf %x, %x : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{has no kernel in a program; raise floats to floats with math.powf}}
  %y = math.ipowi %x, %x : tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @f(%x: tensor<4xf16>) -> tensor<4xi16> {
  // expected-error@+1 {{has no kernel in a program; arith.bitcast is only supported for elements of 32 bits}}
  %y = arith.bitcast %x : tensor<4xf16> to tensor<4xi16>
  return %y : tensor<4xi16>
}

// -----

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error@+1 {{has no kernel in a program}}
  %y, %z = arith.mulsi_extended %x, %x : tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is control flow that a program does not support; write it as scf.if, scf.for or scf.while}}
  %z = scf.forall (%i) in (4) shared_outs(%o = %y) -> (tensor<4xf32>) {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %z : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  %init = tensor.empty() : tensor<4xi32>
  %z = linalg.map ins(%x : tensor<4xi32>) outs(%init : tensor<4xi32>)
    (%n: i32, %out: i32) {
      // expected-error@+1 {{is not supported in a loop nest of a program}}
      %low, %high = arith.mulsi_extended %n, %n : i32
      linalg.yield %low : i32
    }
  return %z : tensor<4xi32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %z = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>)
    (%n: f32, %out: f32) {
      %c = arith.constant 0 : index
      // expected-error@+1 {{captures a value that is not a scalar; make it an operand of the linalg op}}
      %e = tensor.extract %y[%c] : tensor<4xf32>
      linalg.yield %e : f32
    }
  return %z : tensor<4xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 8, 64>
func.func @f(%i: i1, %k: tensor<6x1x16xf32>, %s: tensor<6xi32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %i -> tensor<4xf32> {
    // expected-error@+1 {{is a cache created in a branch or a loop; create it before and pass it as an operand}}
    %c = llm.create_paged_cache : !cache
    %d = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @f(%i: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {llm.num_ranks = 2 : i64} {
  // expected-error@+1 {{is control flow in a function of 2 ranks, which run in lockstep; convert a function without branches and loops}}
  %r = mllm.cf.if %i : tensor<i1> -> tensor<4xf32> {
    mllm.cf.yield %x : tensor<4xf32>
  } else {
    mllm.cf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Regions are checked as well.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mllm.cf.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %c = mllm.tensor.constant dense<false> : tensor<i1>
    mllm.cf.yield %c, %a : tensor<i1>, tensor<4xf32>
  } do {
  // expected-error@+1 {{has the type 'tensor<?xf32>'; the program of a function requires static sizes}}
  ^bb0(%a: tensor<?xf32>):
    mllm.cf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @f(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is a counted loop, which a program does not support; convert it to a loop with a condition by convert-mllm-to-llm{form=function}}}
  %r = mllm.cf.for %n (%x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    mllm.cf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @f(%c: !cache, %b: tensor<2xi32>, %n: tensor<2xi32>, %layer: index) -> tensor<2x8xi32> {
  // expected-error@+1 {{requires a constant layer number}}
  %t = llm.block_tables %c, %b, %n layer(%layer) : (!cache, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8xi32>
  return %t : tensor<2x8xi32>
}
