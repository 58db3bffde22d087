// RUN: llmir-opt %s | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --mlir-print-op-generic | llmir-opt | FileCheck %s
// RUN: llmir-opt %s --emit-bytecode | llmir-opt | FileCheck %s

// The traced model, called with what the caller gives.
// CHECK: %[[X:.*]] = mllm.tensor.input : tensor<4xf32>
%given = mllm.tensor.input : tensor<4xf32>
// CHECK: mllm.graph.call_graph @model(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
%logits = mllm.graph.call_graph @model(%given) : (tensor<4xf32>) -> tensor<4xf32>

// CHECK: mllm.tensor.register @shape_alone : tensor<4xf32>{{$}}
mllm.tensor.register @shape_alone : tensor<4xf32>

// CHECK-LABEL: mllm.graph.subgraph @model(
mllm.graph.subgraph @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: mllm.tensor.constant dense<true> : tensor<i1>
  %c = mllm.tensor.constant dense<true> : tensor<i1>
  // CHECK: %[[M:.*]] = mllm.tensor.alloc offset 128 : tensor<4xf32>
  %m = mllm.tensor.alloc offset 128 : tensor<4xf32>
  %n = mllm.tensor.alloc : tensor<?xf32>
  %d = mllm.linalg.copy %m, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: mllm.cf.if %{{.*}} : tensor<i1> -> tensor<4xf32> {
  // CHECK: } else {
  %0 = mllm.cf.if %c : tensor<i1> -> tensor<4xf32> {
    mllm.cf.yield %d : tensor<4xf32>
  } else {
    %s = mllm.linalg.silu %x : tensor<4xf32>
    mllm.cf.yield %s : tensor<4xf32>
  }
  // CHECK: mllm.tensor.free %{{.*}} : tensor<4xf32>
  mllm.tensor.free %d : tensor<4xf32>
  // CHECK: mllm.cf.while(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: } do {
  %1 = mllm.cf.while (%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %no = mllm.tensor.constant dense<false> : tensor<i1>
    mllm.cf.yield %no, %a : tensor<i1>, tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    mllm.cf.yield %a : tensor<4xf32>
  }
  %count = mllm.tensor.constant dense<3> : tensor<i64>
  // CHECK: mllm.cf.for %{{.*}}(%{{.*}}) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  %2 = mllm.cf.for %count (%1) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %b = mllm.linalg.add %a, %a : tensor<4xf32>
    mllm.cf.yield %b : tensor<4xf32>
  }
  // No values at all.
  mllm.cf.if %c : tensor<i1> {
    mllm.dbg.comment "true"
    mllm.cf.yield
  } else {
    mllm.cf.yield
  }
  mllm.cf.return %2 : tensor<4xf32>
}
