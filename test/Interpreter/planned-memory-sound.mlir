// What the planner makes is sound: values that are kept in the planned memory and
// nowhere else give the same results, and the run needs the bytes of the frame.
// RUN: llmir-opt %s -mllm-plan-memory -o %t.mlir
// RUN: FileCheck %s --check-prefix=PLANNED --input-file=%t.mlir
// RUN: llmir-translate %t.mlir --interpret --check-memory > %t.checked 2> %t.notes
// RUN: llmir-translate %s --interpret | diff - %t.checked
// RUN: cat %t.mlir %t.notes | FileCheck %s --check-prefix=BYTES
// RUN: llmir-opt %s -mllm-plan-memory=in-place=false -o %t.apart.mlir
// RUN: llmir-translate %t.apart.mlir --interpret --check-memory > %t.checked 2> %t.notes
// RUN: llmir-translate %s --interpret | diff - %t.checked
// RUN: cat %t.apart.mlir %t.notes | FileCheck %s --check-prefix=BYTES
// Without a plan there is no such memory.
// RUN: llmir-translate %s --interpret --check-memory 2>&1 | FileCheck %s --check-prefix=UNPLANNED --implicit-check-not=remark

// BYTES: @model({{.*}} mllm.frame_bytes = [[BYTES:[0-9]+]]
// BYTES: remark: has run in [[BYTES]] bytes of planned memory
// UNPLANNED: @model result 1

// PLANNED-COUNT-4: mllm.tensor.alloc offset
// PLANNED: mllm.frame
mllm.graph.subgraph @model(%c: tensor<i1>, %x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) attributes {entry} {
  %n = mllm.tensor.constant dense<3> : tensor<i64>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.graph.call_graph @twice(%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.cf.for %n (%1) : (tensor<i64>, tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<8x4xf32>):
    %b = mllm.linalg.add %a, %x : tensor<8x4xf32>
    %t = mllm.linalg.transpose %b {dim0 = 0 : i64, dim1 = 1 : i64} : tensor<8x4xf32> -> tensor<4x8xf32>
    %r = mllm.linalg.reshape %t {shape = array<i64: 8, 4>} : tensor<4x8xf32> -> tensor<8x4xf32>
    mllm.cf.yield %r : tensor<8x4xf32>
  }
  %3 = mllm.cf.if %c : tensor<i1> -> tensor<8x4xf32> {
    %a = mllm.graph.call_graph @twice(%2) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    mllm.cf.yield %a : tensor<8x4xf32>
  } else {
    %b = mllm.linalg.neg %2 : tensor<8x4xf32>
    mllm.cf.yield %b : tensor<8x4xf32>
  }
  %4 = mllm.linalg.add %0, %3 : tensor<8x4xf32>
  mllm.cf.return %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}
mllm.graph.subgraph @twice(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = mllm.linalg.add %x, %x : tensor<8x4xf32>
  %1 = mllm.linalg.exp %0 : tensor<8x4xf32>
  %2 = mllm.linalg.mul %1, %0 : tensor<8x4xf32>
  mllm.cf.return %2 : tensor<8x4xf32>
}
