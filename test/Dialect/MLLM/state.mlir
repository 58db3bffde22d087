// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// The ops of MLLMStateOps.td in their three syntaxes.

// CHECK-LABEL: mllm.graph.subgraph @states(
mllm.graph.subgraph @states(%x: tensor<?x64xf32>, %w: tensor<3x64xf32>, %q: tensor<?x2x16xf32>, %v: tensor<?x4x8xf32>, %g: tensor<?x4xf32>) {
  // CHECK: mllm.linalg.causal_conv %{{[^ ]+}}, %{{[^ ]+}} {layer = 2 : i64} : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x64xf32>
  %0 = mllm.linalg.causal_conv %x, %w {layer = 2 : i64} : (tensor<?x64xf32>, tensor<3x64xf32>) -> tensor<?x64xf32>
  // CHECK: mllm.linalg.linear_attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {layer = 0 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  %1 = mllm.linalg.linear_attention %q, %q, %v, %g, %g {layer = 0 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  // CHECK: mllm.linalg.linear_attention %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} {interleaved, layer = 1 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  %2 = mllm.linalg.linear_attention %q, %q, %v, %g {interleaved, layer = 1 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?x4x8xf32>, tensor<?x4xf32>) -> tensor<?x4x8xf32>
  mllm.cf.return
}
