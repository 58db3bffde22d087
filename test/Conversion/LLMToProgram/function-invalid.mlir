// RUN: llmir-opt %s --convert-llm-to-program --split-input-file --verify-diagnostics

// What a program of a function cannot have.

func.func @f(%x: tensor<7x16xf32>) -> tensor<7x16xf32> {
  return %x : tensor<7x16xf32>
}
// expected-error@+1 {{is a second function beside @f, and neither is @step; a program is made of one}}
func.func @g(%x: tensor<7x16xf32>) -> tensor<7x16xf32> {
  return %x : tensor<7x16xf32>
}

// -----

// expected-error@+1 {{has no body of one block to make a program of}}
func.func private @f(%x: tensor<7x16xf32>) -> tensor<7x16xf32>

// -----

// expected-error@+1 {{has the type 'tensor<?x16xf32>'; a program of a function needs static sizes}}
func.func @f(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  return %x : tensor<?x16xf32>
}

// -----

// expected-error@+1 {{has the type 'tensor<4xf64>'; a program knows f32, f16, bf16, i32, i64 and integers of at most 16 bits}}
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  return %x : tensor<4xf64>
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
// expected-note@+1 {{the first one is here}}
func.func @f(%c: !cache) -> (!cache, !cache) {
  // expected-error@+1 {{is a second cache in one function; a program has one pool}}
  %d = llm.create_paged_cache : !cache
  return %c, %d : !cache, !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @f(%c: !cache, %k: tensor<6x1x16xf32>, %s: tensor<6xi32>, %layer: index) -> !cache {
  // expected-error@+1 {{needs a constant layer number in a program of a function}}
  %d = llm.append_kv %c, %k, %k slots(%s) layer(%layer) : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
  return %d : !cache
}

// -----

!cache = !llm.paged_kv_cache<f32, 2, 1, 16, 8, 64>
func.func @f(%c: !cache, %k: tensor<6x1x16xf32>, %s: tensor<6xi32>) -> !cache {
  %layer = arith.constant 2 : index
  // expected-error@+1 {{has layer 2 of a cache of 2 layers}}
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

func.func @f(%x: tensor<4x16xf32>) -> index {
  %c = arith.constant 0 : index
  // expected-error@+1 {{returns a value of type 'index'; a program gives tensors}}
  return %c : index
}

// -----

// Weights in a file's blocks are read as what they stand for: a result would
// not be the integers.
!q = !llm.quantized_tensor<i8, [6, 64], true, false, -1, 32, 8, format = q8_0>
func.func @f(%q: !q) -> !q {
  // expected-error@+1 {{; a program gives tensors}}
  return %q : !q
}

// -----

func.func @f(%x: tensor<4x16xf32>, %i: index) -> tensor<1x16xf32> {
  // expected-error@+1 {{takes a slice that is not known before it runs; a program needs constant offsets, sizes and strides}}
  %y = tensor.extract_slice %x[%i, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// -----

func.func @f(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error@+1 {{has no kernel in a program}}
  %y = math.absf %x : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 8, 64>
func.func @f(%c: !cache, %i: tensor<i1>, %k: tensor<6x1x16xf32>, %s: tensor<6xi32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mllm.cf.if %i : tensor<i1> -> tensor<4xf32> {
    // expected-error@+1 {{is a cache that a branch or a loop makes; a program changes caches outside of them only}}
    %d = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<6x1x16xf32>, tensor<6x1x16xf32>, tensor<6xi32>) -> !cache
    mllm.cf.yield %x : tensor<4xf32>
  } else {
    mllm.cf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @f(%i: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {llm.num_ranks = 2 : i64} {
  // expected-error@+1 {{stands in a function of 2 ranks; a program's ranks run in lockstep and have one way}}
  %r = mllm.cf.if %i : tensor<i1> -> tensor<4xf32> {
    mllm.cf.yield %x : tensor<4xf32>
  } else {
    mllm.cf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Regions are looked at as well.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = mllm.cf.while (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %c = mllm.tensor.constant dense<false> : tensor<i1>
    mllm.cf.yield %c, %a : tensor<i1>, tensor<4xf32>
  } do {
  // expected-error@+1 {{has the type 'tensor<?xf32>'; a program of a function needs static sizes}}
  ^bb0(%a: tensor<?xf32>):
    mllm.cf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @f(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{counts its turns, for which a program has no jump; convert-mllm-to-llm{form=function} makes a loop with a condition of it}}
  %r = mllm.cf.for %n (%x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    mllm.cf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
