// RUN: llmir-opt %s --mllm-apply-recipe="recipe=*=int8" | FileCheck %s
// RUN: llmir-opt %s --mllm-apply-recipe="recipe=router=int8,*=none" | FileCheck %s --check-prefix=NAMED

// A router is quantized only by its whole name; its input's producer is not a
// part of it.
module {
mllm.tensor.register @before : tensor<64x64xf32> {source = "b"}
mllm.tensor.register @router : tensor<4x64xf32> {source = "r"}
mllm.tensor.register @gate : tensor<4x32x64xf32> {source = "g"}
mllm.tensor.register @up : tensor<4x32x64xf32> {source = "u"}
mllm.tensor.register @down : tensor<4x64x32xf32> {source = "d"}
// CHECK: mllm.linalg.linear {{.*}}@before {mllm.quant
// CHECK: mllm.linalg.linear {{.*}}@router :
// NAMED: mllm.linalg.linear {{.*}}@before :
// NAMED: mllm.linalg.linear {{.*}}@router {mllm.quant
mllm.graph.subgraph @model(%a: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %x = mllm.linalg.linear %a, @before : tensor<2x64xf32> -> tensor<2x64xf32>
  %logits = mllm.linalg.linear %x, @router : tensor<2x64xf32> -> tensor<2x4xf32>
  %w, %e = mllm.linalg.top_k %logits {k = 2 : i64} : tensor<2x4xf32> -> tensor<2x2xf32>, tensor<2x2xi32>
  %y = mllm.linalg.experts %x chosen %e weights %w, @gate, @up, @down
      : (tensor<2x64xf32>, tensor<2x2xi32>, tensor<2x2xf32>) -> tensor<2x64xf32>
  mllm.cf.return %y : tensor<2x64xf32>
}
}
