// RUN: not llmir-translate %s --split-input-file --interpret --check-memory 2>&1 | FileCheck %s
// RUN: llmir-translate %s --split-input-file --interpret | FileCheck %s --check-prefix=UNCHECKED

// UNCHECKED: @overwritten result 0
// UNCHECKED: @freed result 0
// UNCHECKED: @called result 0
// UNCHECKED: @far result 0
// UNCHECKED: @sound result 0

// A copy writes to the allocation, which cannot hold two values.
// SPEC: 202 203 205 236
// CHECK: 'mllm.linalg.add' op cannot be evaluated: it reads byte 0 of the planned memory, which has been overwritten
mllm.graph.subgraph @overwritten(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {entry} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.linalg.silu %1 : tensor<8x4xf32>
  %3 = mllm.linalg.copy %1, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = mllm.linalg.add %1, %3 : tensor<8x4xf32>
  mllm.cf.return %4 : tensor<8x4xf32>
}

// -----

// SPEC: 202 203 206
// CHECK: 'mllm.linalg.silu' op cannot be evaluated: it reads byte 64 of the planned memory, which holds no value
mllm.graph.subgraph @freed(%x: tensor<8x4xf32>) -> tensor<8x2x2xf32> attributes {entry} {
  %m = mllm.tensor.alloc offset 64 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.linalg.view %1 : tensor<8x4xf32> -> tensor<8x2x2xf32>
  mllm.tensor.free %1 : tensor<8x4xf32>
  %3 = mllm.linalg.silu %2 : tensor<8x2x2xf32>
  mllm.cf.return %3 : tensor<8x2x2xf32>
}

// -----

// The callee overwrites a value of the caller: the offset of its frame is too
// small.
// CHECK: 'mllm.linalg.add' op cannot be evaluated: it reads byte 0 of the planned memory, which has been overwritten
mllm.graph.subgraph @called(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {entry} {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.silu %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = mllm.graph.call_graph @callee(%1) {mllm.frame = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = mllm.linalg.add %1, %2 : tensor<8x4xf32>
  mllm.cf.return %3 : tensor<8x4xf32>
}
mllm.graph.subgraph @callee(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.neg %x : tensor<8x4xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  mllm.cf.return %1 : tensor<8x4xf32>
}

// -----

// CHECK: 'mllm.tensor.alloc' op cannot be evaluated: it is at line 1152921504606846 of the planned memory, which has 268435456 at most
mllm.graph.subgraph @far(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {entry} {
  %m = mllm.tensor.alloc offset 73786976294838144 : tensor<8x4xf32>
  %0 = mllm.linalg.copy %m, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  mllm.cf.return %0 : tensor<8x4xf32>
}

// -----

// The same memory again and again, in a loop whose values go round.
// CHECK-NOT: error
// CHECK: @sound result 0
mllm.graph.subgraph @sound(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {entry} {
  %n = mllm.tensor.constant dense<3> : tensor<i64>
  %m = mllm.tensor.alloc offset 0 : tensor<8x4xf32>
  %0 = mllm.linalg.copy %m, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = mllm.cf.for %n (%0) : (tensor<i64>, tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%i: tensor<i64>, %a: tensor<8x4xf32>):
    %b = mllm.linalg.neg %a : tensor<8x4xf32>
    %c = mllm.linalg.copy %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    mllm.cf.yield %c : tensor<8x4xf32>
  }
  mllm.cf.return %1 : tensor<8x4xf32>
}
