// A model in the mllm dialect: functions of its subgraphs, then linalg, then
// MLIR's own tools.
// RUN: llmir-opt %s --convert-mllm-to-llm=form=function --convert-llm-to-linalg=weights=arguments -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlir-opt %t.mlir --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops -o /dev/null

mllm.tensor.register @up.weight : tensor<6x4xf32> {source = "up.weight"}

// CHECK: func.func @model(%[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<6x4xf32> {llmir.weight = "up.weight"}) -> tensor<2x6xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<2x4xf32>, tensor<6x4xf32>)
// CHECK: math.exp
mllm.graph.subgraph @model(%x: tensor<2x4xf32>) -> tensor<2x6xf32> attributes {entry} {
  %0 = mllm.linalg.linear %x, @up.weight : tensor<2x4xf32> -> tensor<2x6xf32>
  %1 = mllm.linalg.silu %0 : tensor<2x6xf32>
  mllm.cf.return %1 : tensor<2x6xf32>
}
