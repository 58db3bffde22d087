// REQUIRES: xnnpack
// RUN: llmir-translate --run-xnnpack %s --xnnpack-steps=5,1,3,1 | FileCheck %s
// RUN: llmir-translate --run-xnnpack %s --xnnpack-steps=1,2 --seed=3 | FileCheck --check-prefix=OTHER %s

// Attention as it is written out: each step has keys of all steps before it, so
// that a graph has a number of tokens and of those before. Scores lie with
// their keys last, results of heads one after the other: in separate subgraphs
// where XNNPACK would have to transpose.
// CHECK: xnnpack, 5 tokens after 0: 12 of 18 ops
// CHECK-NEXT: left to the reference: causal_mask: no such op (1)
// CHECK-NEXT: left to the reference: kv_cache: no such op (1)
// CHECK-NEXT: left to the reference: matmul: no such op (2)
// CHECK-NEXT: left to the reference: rope: no such op (2)
// CHECK: step 1
// CHECK-NEXT: result 0 of 40 numbers: NMSE {{[0-9.]+e-1[0-9]}}
// CHECK: xnnpack, 1 tokens after 5:
// CHECK: step 2
// CHECK-NEXT: result 0 of 8 numbers: NMSE {{[0-9.]+e-1[0-9]}}
// CHECK: xnnpack, 3 tokens after 6:
// CHECK: result 0 of 24 numbers: NMSE {{[0-9.]+e-1[0-9]}}
// CHECK: xnnpack, 1 tokens after 9:
// CHECK: result 0 of 8 numbers: NMSE {{[0-9.]+e-1[0-9]}}
// OTHER: xnnpack, 2 tokens after 1:
// OTHER: result 0 of 16 numbers: NMSE {{[0-9.]+e-1[0-9]}}
module {
  mllm.tensor.register @q : tensor<16x8xf32> {source = "q"}
  mllm.tensor.register @k : tensor<8x8xf32> {source = "k"}
  mllm.tensor.register @v : tensor<8x8xf32> {source = "v"}
  mllm.tensor.register @o : tensor<8x16xf32> {source = "o"}
  mllm.graph.subgraph @attention(%x: tensor<1x?x8xf32>) -> tensor<1x?x8xf32> attributes {entry} {
    %q = mllm.linalg.linear %x, @q : tensor<1x?x8xf32> -> tensor<1x?x4x4xf32>
    %k = mllm.linalg.linear %x, @k : tensor<1x?x8xf32> -> tensor<1x?x2x4xf32>
    %v = mllm.linalg.linear %x, @v : tensor<1x?x8xf32> -> tensor<1x?x2x4xf32>
    %qt = mllm.linalg.transpose %q {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x?x4x4xf32> -> tensor<1x4x?x4xf32>
    %kt = mllm.linalg.transpose %k {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x?x2x4xf32> -> tensor<1x2x?x4xf32>
    %vt = mllm.linalg.transpose %v {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x?x2x4xf32> -> tensor<1x2x?x4xf32>
    %qr = mllm.linalg.rope %qt {frequencies = array<f64: 1.0, 0.01>, layout = "bhsd", scaling = 1.0 : f64} : tensor<1x4x?x4xf32>
    %kr = mllm.linalg.rope %kt {frequencies = array<f64: 1.0, 0.01>, layout = "bhsd", scaling = 1.0 : f64} : tensor<1x2x?x4xf32>
    %keys, %values = mllm.linalg.kv_cache %kr, %vt {layer = 0 : i64, layout = "bhsd", q_head = 4 : i64}
        : (tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32>) -> (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>)
    %s = mllm.linalg.matmul %qr, %keys {transpose_b} : (tensor<1x4x?x4xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x?xf32>
    %t = mllm.linalg.mul %s {scalar = 0.5 : f64} : tensor<1x4x?x?xf32>
    %m = mllm.linalg.causal_mask %t : tensor<1x4x?x?xf32>
    %p = mllm.linalg.softmax %m {axis = -1 : i64} : tensor<1x4x?x?xf32>
    %y = mllm.linalg.matmul %p, %values : (tensor<1x4x?x?xf32>, tensor<1x4x?x4xf32>) -> tensor<1x4x?x4xf32>
    %yt = mllm.linalg.transpose %y {dim0 = 1 : i64, dim1 = 2 : i64} : tensor<1x4x?x4xf32> -> tensor<1x?x4x4xf32>
    %z = mllm.linalg.view %yt : tensor<1x?x4x4xf32> -> tensor<1x?x16xf32>
    %r = mllm.linalg.linear %z, @o : tensor<1x?x16xf32> -> tensor<1x?x8xf32>
    %w = mllm.linalg.add %r, %x : tensor<1x?x8xf32>
    mllm.cf.return %w : tensor<1x?x8xf32>
  }
}
