// Compiled code is planned as a program: the plan of a graph's tensors is dropped,
// and the code is the same as without it.
// RUN: llmir-opt %s --convert-mllm-to-llm=form=function -o %t.plain.mlir
// RUN: llmir-opt %s --mllm-plan-memory --convert-mllm-to-llm=form=function --canonicalize -o %t.planned.mlir
// RUN: llmir-opt %t.plain.mlir --canonicalize | diff - %t.planned.mlir
// RUN: llmir-opt %s --mllm-plan-memory -o %t.mlir && FileCheck %s --check-prefix=PLANNED < %t.mlir
// RUN: FileCheck %s < %t.planned.mlir
// RUN: llmir-translate --compare %t.mlir | FileCheck %s --check-prefix=VALUES

// PLANNED: mllm.tensor.alloc offset
// CHECK-LABEL: func.func @model
// CHECK-NOT: {{alloc|tensor.empty|copy}}
// CHECK: llm.softmax
// CHECK-NEXT: llm.softmax
// CHECK-NEXT: return
// VALUES: @model result 0: nmse
mllm.graph.subgraph @model(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {entry} {
  %0 = mllm.linalg.softmax %x {axis = 1 : i64} : tensor<8x4xf32>
  %1 = mllm.linalg.softmax %0 {axis = 1 : i64} : tensor<8x4xf32>
  mllm.cf.return %1 : tensor<8x4xf32>
}
