// RUN: llmir-opt %s --mllm-plan-memory=sizes=?=8 --mllm-check-memory=sizes=?=8 --split-input-file | FileCheck %s
// RUN: llmir-opt %s --mllm-plan-memory="sizes=?=8 report=true" --split-input-file -o /dev/null | FileCheck %s --check-prefix=REPORT
// RUN: llmir-opt %s --mllm-plan-memory="sizes=?=8 in-place=false" --mllm-check-memory=sizes=?=1 --split-input-file | FileCheck %s --check-prefix=APART

// A tensor of 128 bytes reuses the memory of a dead operand; a view shares the
// memory of its operand and extends its lifetime.
// SPEC: 202 203 205 206

// REPORT: model: 256 bytes, at least 256 (0.00 % more), {{[0-9]+}} without sharing; 3 tensors, 1 in place, 2 views
// CHECK-LABEL: @model(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>)
// CHECK-SAME: mllm.frame_bytes = 256 : i64
// APART: mllm.frame_bytes = 384 : i64
mllm.graph.subgraph @model(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {entry} {
  // CHECK-NEXT: %[[M0:.*]] = mllm.tensor.alloc offset [[A:[0-9]+]] : tensor<8x4xf32>
  // CHECK-NEXT: %[[V0:.*]] = mllm.linalg.silu %[[X]]
  // CHECK-NEXT: %[[Y0:.*]] = mllm.linalg.copy %[[M0]], %[[V0]]
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  // CHECK-NEXT: %[[H:.*]] = mllm.linalg.view %[[Y0]]
  %1 = mllm.linalg.view %0 : tensor<8x4xf32> -> tensor<8x2x2xf32>
  // Not in place: the view is read below.
  // CHECK-NEXT: %[[M1:.*]] = mllm.tensor.alloc offset [[B:[0-9]+]] : tensor<8x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = mllm.linalg.silu %[[Y0]]
  // CHECK-NEXT: %[[Y1:.*]] = mllm.linalg.copy %[[M1]], %[[V1]]
  %2 = mllm.linalg.silu %0 : tensor<8x4xf32>
  // CHECK-NEXT: %[[W:.*]] = mllm.linalg.view %[[H]]
  %3 = mllm.linalg.view %1 : tensor<8x2x2xf32> -> tensor<8x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = mllm.linalg.add %[[W]], %[[Y1]]
  // CHECK-NEXT: %[[Y2:.*]] = mllm.linalg.copy %[[W]], %[[V2]]
  // CHECK-NEXT: mllm.tensor.free %[[Y1]]
  %4 = mllm.linalg.add %3, %2 : tensor<8x4xf32>
  // CHECK-NEXT: mllm.cf.return %[[Y2]]
  mllm.cf.return %4 : tensor<8x4xf32>
}

// -----

// A subgraph that is called once shares the frame of its caller; one that is
// called twice has its own, placed after the live values.

// CHECK-LABEL: @twice(
// CHECK-SAME: mllm.frame_bytes = 128 : i64
mllm.graph.subgraph @twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: mllm.tensor.alloc offset 0 : tensor<?x4xf32>
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  // It is the caller's to read.
  // CHECK-NOT: mllm.tensor.free
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: @once(
// CHECK-NOT: mllm.frame_bytes
mllm.graph.subgraph @once(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: call_graph @twice
  // CHECK-SAME: mllm.frame = {{[0-9]+}} : i64
  %0 = mllm.graph.call_graph @twice(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: @model(
// CHECK-SAME: mllm.frame_bytes = 384 : i64
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  // CHECK: call_graph @once
  // CHECK-SAME: mllm.frame = 0 : i64
  %0 = mllm.graph.call_graph @once(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // The memory of @once's result: the frame of this call does not overlap it.
  // CHECK: call_graph @twice
  // CHECK-SAME: mllm.frame = {{[0-9]+}} : i64
  %1 = mllm.graph.call_graph @twice(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = mllm.linalg.sub %0, %1 : tensor<?x4xf32>
  mllm.cf.return %2 : tensor<?x4xf32>
}

// -----

// Values stored elsewhere are not assigned: arguments, constants, the cache.

// CHECK-LABEL: @elsewhere(
mllm.graph.subgraph @elsewhere(%k: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  // CHECK-NOT: mllm.tensor.alloc
  // CHECK: mllm.cf.return
  %c = mllm.tensor.constant dense<1.0> : tensor<2xf32>
  %0:2 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : (tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return %k : tensor<?x2x4xf32>
}

// -----

// Names of sizes: the greatest that the model allows, 16 rows.

// CHECK-LABEL: @named(
// CHECK-SAME: mllm.frame_bytes = 256 : i64
mllm.graph.subgraph @named(%x: tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>) -> tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>> attributes {entry, mllm.dims = {seq = #mllm.range<1, 16>}} {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>
  mllm.cf.return %0 : tensor<?x4xf32, #mllm.tensor<dims = (seq, 4)>>
}
