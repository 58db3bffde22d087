// RUN: llmir-opt %s --llm-fold-constants --split-input-file | FileCheck %s
// RUN: llmir-opt %s --llm-fold-constants=max-elements=3 --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: llmir-translate --interpret --split-input-file %s > %t.before
// RUN: llmir-opt %s --llm-fold-constants --split-input-file | llmir-translate --interpret --split-input-file > %t.after
// RUN: cmp %t.before %t.after

// Chains of ops are folded up to the first non-constant operand.
// CHECK-LABEL: @chain
// SMALL-LABEL: @chain
func.func @chain(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %ids = arith.constant dense<[2, 0]> : tensor<2xi32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %w = arith.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xbf16>
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<{{\[\[}}5.000000e+00, 1.100000e+01], [1.000000e+00, 3.000000e+00]]> : tensor<2x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = llm.add %arg0, %[[C]]
  // CHECK-NEXT: return %[[Y]]
  // SMALL: llm.embedding
  // SMALL: llm.linear
  %t = llm.embedding %ids, %table : tensor<2xi32>, tensor<3x2xf32> -> tensor<2x2xf32>
  %p = llm.linear %t, %w : tensor<2x2xf32>, tensor<2x2xbf16> -> tensor<2x2xf32>
  %y = llm.add %x, %p : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// Several results; integers.
// CHECK-LABEL: @several
func.func @several() -> (tensor<1x2xi32>, tensor<1x2xf32>) {
  // CHECK-DAG: arith.constant dense<{{\[\[}}1, 0]]> : tensor<1x2xi32>
  // CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<1x2xf32>
  // CHECK-NOT: llm.
  %l = arith.constant dense<[[1.0, 2.0, 0.0]]> : tensor<1x3xf32>
  %one = arith.constant dense<[[1.0, 1.0]]> : tensor<1x2xf32>
  %e, %w = llm.moe_route %l {top_k = 2} : (tensor<1x3xf32>) -> (tensor<1x2xi32>, tensor<1x2xf32>)
  %s = llm.softmax %one : tensor<1x2xf32>
  return %e, %s : tensor<1x2xi32>, tensor<1x2xf32>
}

// -----

// What a rank has of it, a cache, a quantized tensor, a dynamic size.
// CHECK-LABEL: @stay
func.func @stay() -> (tensor<2xf32>, tensor<?xf32>) attributes {llm.num_ranks = 1 : i64} {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<1.0> : tensor<1xf32>
  // CHECK: llm.shard
  %part = llm.shard %x {dim = 0, num_shards = 2} : (tensor<2xf32>) -> tensor<1xf32>
  // CHECK: llm.quantize
  %q = llm.quantize %x, %s : (tensor<2xf32>, tensor<1xf32>) -> !llm.quantized_tensor<i8, [2], true, false, -1, -1, 8>
  // CHECK: llm.dequantize
  %d = llm.dequantize %q, %s : (!llm.quantized_tensor<i8, [2], true, false, -1, -1, 8>, tensor<1xf32>) -> tensor<2xf32>
  %both = tensor.concat dim(0) %part, %part : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %sum = llm.add %both, %d : tensor<2xf32>
  %c = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  // CHECK: llm.silu
  %y = llm.silu %c : tensor<?xf32>
  return %sum, %y : tensor<2xf32>, tensor<?xf32>
}
