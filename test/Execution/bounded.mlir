// Functions whose sizes are known only at run time: compiled for the ranges of
// their sizes, run with the sizes of `check.shape`, compared with the
// interpreter.

// RUN: llmir-translate %s --compare --max-nmse=1e-11 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=1 | FileCheck %s
// RUN: llmir-translate %s --compare --max-nmse=1e-11 --workers=4 --level=x86-64-v3 | FileCheck %s

mllm.tensor.register @up : tensor<32x16xf32> {source = "up"}
mllm.tensor.register @down : tensor<16x32xf32> {source = "down"}
mllm.tensor.register @norm : tensor<16xf32> {source = "norm"}
mllm.tensor.register @table : tensor<50x16xf32> {source = "table"}

// Ops of llm on tokens, of which there are 5 of at most 40.
// CHECK-DAG: @tokens result 0: nmse
// CHECK-DAG: @tokens result 1: equal
func.func @tokens(%ids: tensor<?xi32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>, check.range = array<i64: 0, 50>},
                  %table: tensor<50x16xf32>, %w: tensor<32x16xf32>, %v: tensor<16x32xf32>, %n: tensor<16xf32>)
    -> (tensor<?x16xf32>, index) attributes {mllm.dims = {seq = #mllm.range<1, 40>}} {
  %x = llm.embedding %ids, %table : tensor<?xi32>, tensor<50x16xf32> -> tensor<?x16xf32>
  %h = llm.rms_norm %x, %n {eps = 1.0e-5 : f64} : tensor<?x16xf32>, tensor<16xf32>
  %p = llm.linear %h, %w : tensor<?x16xf32>, tensor<32x16xf32> -> tensor<?x32xf32>
  %t = math.tanh %p : tensor<?x32xf32>
  %s = llm.softmax %t : tensor<?x32xf32>
  %d = llm.linear %s, %v : tensor<?x32xf32>, tensor<16x32xf32> -> tensor<?x16xf32>
  %r = arith.addf %d, %x : tensor<?x16xf32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %k = tensor.dim %r, %c0 : tensor<?x16xf32>
  %twice = arith.muli %k, %c2 : index
  return %r, %twice : tensor<?x16xf32>, index
}

// What is reduced has no padding in it: a softmax, sums, extremes, a product.
// CHECK-DAG: @reductions result 0: nmse
// CHECK-DAG: @reductions result 1: nmse
// CHECK-DAG: @reductions result 2: nmse 0.00e+00
// CHECK-DAG: @reductions result 3: equal
mllm.graph.subgraph @reductions(%x: tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>> {check.shape = array<i64: 3, 7>},
                                %i: tensor<?x4xi32, #mllm.tensor<dims = (seq, 4)>> {check.shape = array<i64: 7, 4>, check.range = array<i64: -99, -9>})
    -> (tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>>, tensor<3x3xf32>, tensor<f32>, tensor<4xi32>)
    attributes {mllm.dims = {seq = #mllm.range<1, 33>}} {
  %s = mllm.linalg.softmax %x {axis = -1 : i64} : tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>>
  %e = mllm.linalg.exp %x : tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>>
  %m = mllm.linalg.matmul %e, %x {transpose_b} : (tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>>, tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>>) -> tensor<3x3xf32>
  %min = mllm.linalg.reduce_min %e : tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>> -> tensor<f32>
  %max = mllm.linalg.reduce_max %i {dim = 0 : i64} : tensor<?x4xi32, #mllm.tensor<dims = (seq, 4)>> -> tensor<4xi32>
  %sum = mllm.linalg.reduce_sum %i {dim = 0 : i64} : tensor<?x4xi32, #mllm.tensor<dims = (seq, 4)>> -> tensor<4xi32>
  %both = mllm.linalg.add %max, %sum : tensor<4xi32>
  mllm.cf.return %s, %m, %min, %both : tensor<3x?xf32, #mllm.tensor<dims = (3, seq)>>, tensor<3x3xf32>, tensor<f32>, tensor<4xi32>
}

// Two sizes, one after the other, and the scores of one against both.
// CHECK-DAG: @model result 0: nmse
// CHECK-DAG: @model result 1: nmse
mllm.graph.subgraph @model(%x: tensor<1x?x16xf32, #mllm.tensor<dims = (1, seq, 16)>> {check.shape = array<i64: 1, 3, 16>},
                           %past: tensor<1x?x16xf32, #mllm.tensor<dims = (1, past, 16)>> {check.shape = array<i64: 1, 5, 16>})
    -> (tensor<1x?x?xf32, #mllm.tensor<dims = (1, seq, past + seq)>>, tensor<1x1x16xf32>)
    attributes {mllm.dims = {past = #mllm.range<0, 20>, seq = #mllm.range<1, 12>}} {
  %0 = mllm.linalg.linear %x, @up : tensor<1x?x16xf32, #mllm.tensor<dims = (1, seq, 16)>> -> tensor<1x?x32xf32, #mllm.tensor<dims = (1, seq, 32)>>
  %1 = mllm.linalg.silu %0 : tensor<1x?x32xf32, #mllm.tensor<dims = (1, seq, 32)>>
  %2 = mllm.linalg.linear %1, @down : tensor<1x?x32xf32, #mllm.tensor<dims = (1, seq, 32)>> -> tensor<1x?x16xf32, #mllm.tensor<dims = (1, seq, 16)>>
  %all = mllm.linalg.concat %past, %x {dim = 1 : i64}
      : (tensor<1x?x16xf32, #mllm.tensor<dims = (1, past, 16)>>, tensor<1x?x16xf32, #mllm.tensor<dims = (1, seq, 16)>>)
      -> tensor<1x?x16xf32, #mllm.tensor<dims = (1, past + seq, 16)>>
  %scores = mllm.linalg.matmul %2, %all {transpose_b}
      : (tensor<1x?x16xf32, #mllm.tensor<dims = (1, seq, 16)>>, tensor<1x?x16xf32, #mllm.tensor<dims = (1, past + seq, 16)>>)
      -> tensor<1x?x?xf32, #mllm.tensor<dims = (1, seq, past + seq)>>
  %p = mllm.linalg.softmax %scores {axis = -1 : i64} : tensor<1x?x?xf32, #mllm.tensor<dims = (1, seq, past + seq)>>
  %last = mllm.linalg.slice %2[:, -1:, :] : tensor<1x?x16xf32, #mllm.tensor<dims = (1, seq, 16)>> -> tensor<1x1x16xf32>
  mllm.cf.return %p, %last : tensor<1x?x?xf32, #mllm.tensor<dims = (1, seq, past + seq)>>, tensor<1x1x16xf32>
}

// Each token attends to itself and those before it.
// CHECK-DAG: @attention result 0: nmse
mllm.graph.subgraph @attention(%q: tensor<?x4x16xf32, #mllm.tensor<dims = (seq, 4, 16)>> {check.shape = array<i64: 9, 4, 16>},
                               %k: tensor<?x2x16xf32, #mllm.tensor<dims = (seq, 2, 16)>> {check.shape = array<i64: 9, 2, 16>})
    -> tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>> attributes {mllm.dims = {seq = #mllm.range<1, 50>}} {
  %r = mllm.linalg.rope %q {frequencies = array<f64: 1.0, 0.1, 0.01, 0.001>, scaling = 1.0 : f64} : tensor<?x4x16xf32, #mllm.tensor<dims = (seq, 4, 16)>>
  %o = mllm.linalg.flash_attention2 %r, %k, %k {causal = true, scale = 0.25 : f64}
      : (tensor<?x4x16xf32, #mllm.tensor<dims = (seq, 4, 16)>>, tensor<?x2x16xf32, #mllm.tensor<dims = (seq, 2, 16)>>, tensor<?x2x16xf32, #mllm.tensor<dims = (seq, 2, 16)>>)
      -> tensor<?x4x16xf32, #mllm.tensor<dims = (seq, 4, 16)>>
  %f = mllm.linalg.reshape %o {shape = array<i64: -1, 64>} : tensor<?x4x16xf32, #mllm.tensor<dims = (seq, 4, 16)>> -> tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>>
  mllm.cf.return %f : tensor<?x64xf32, #mllm.tensor<dims = (seq, 64)>>
}

// Ops of linalg and tensor, and a loop over the tokens that there are.
// CHECK-DAG: @builtin result 0: nmse
// CHECK-DAG: @builtin result 1: nmse
// CHECK-DAG: @builtin result 2: nmse 0.00e+00
func.func @builtin(%x: tensor<?x6xf32, #mllm.tensor<dims = (seq, 6)>> {check.shape = array<i64: 4, 6>})
    -> (tensor<?x6xf32>, tensor<6xf32>, tensor<?x3xf32>) attributes {mllm.dims = {seq = #mllm.range<1, 17>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x6xf32, #mllm.tensor<dims = (seq, 6)>>
  %plain = tensor.cast %x : tensor<?x6xf32, #mllm.tensor<dims = (seq, 6)>> to tensor<?x6xf32>
  %e = tensor.empty(%n) : tensor<?x6xf32>
  %m = linalg.map ins(%plain : tensor<?x6xf32>) outs(%e : tensor<?x6xf32>)
    (%a: f32, %out: f32) {
      %b = math.exp %a : f32
      linalg.yield %b : f32
    }
  %i = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%i : tensor<6xf32>) -> tensor<6xf32>
  %sum = linalg.reduce ins(%m : tensor<?x6xf32>) outs(%f : tensor<6xf32>) dimensions = [0]
    (%a: f32, %acc: f32) {
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    }
  %y = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %m) -> (tensor<?x6xf32>) {
    %row = tensor.extract_slice %plain[%t, 0] [1, 6] [1, 1] : tensor<?x6xf32> to tensor<1x6xf32>
    %s = llm.softmax %row : tensor<1x6xf32>
    %b = tensor.insert_slice %s into %acc[%t, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<?x6xf32>
    %first = tensor.extract %b[%t, %c0] : tensor<?x6xf32>
    %d = tensor.insert %first into %b[%t, %c1] : tensor<?x6xf32>
    %all = tensor.splat %first[%n] : tensor<?x6xf32>
    %g = arith.addf %d, %all : tensor<?x6xf32>
    scf.yield %g : tensor<?x6xf32>
  }
  %half = tensor.extract_slice %plain[0, 3] [%n, 3] [1, 1] : tensor<?x6xf32> to tensor<?x3xf32>
  return %y, %sum, %half : tensor<?x6xf32>, tensor<6xf32>, tensor<?x3xf32>
}

// A size that is maximal if the one from which it is computed is minimal.
// CHECK-DAG: @decreasing result 0: nmse 0.00e+00
// CHECK-DAG: @decreasing result 1: nmse
func.func @decreasing(%x: tensor<20xf32>, %y: tensor<?xf32> {mllm.sizes = #mllm.tensor<dims = (seq)>, check.shape = array<i64: 5>})
    -> (tensor<?xf32>, tensor<f32>) attributes {mllm.dims = {seq = #mllm.range<1, 10>}} {
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %rest = arith.subi %c20, %n : index
  %s = tensor.extract_slice %x[0] [%rest] [1] : tensor<20xf32> to tensor<?xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %s, %sum : tensor<?xf32>, tensor<f32>
}
