// RUN: llmir-opt %s --mllm-apply-recipe="recipe=gate=q4,up=none,down=q8,*=int8" | FileCheck %s
// RUN: llmir-opt %s --mllm-apply-recipe="recipe=router=int8,*=none" | FileCheck %s --check-prefix=NAMED
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=int8" 2>&1 | FileCheck %s --check-prefix=INTEGERS

// A router is quantized only by its whole name; its input's producer is not a
// part of it. Experts have an annotation for each projection, of block formats.
// INTEGERS: error: {{.*}}@gate has the matrices of experts, which support q8, q4 or none, but not integers; start the recipe with gate=q4, or a pattern for all of them
module {
mllm.tensor.register @before : tensor<64x64xf32> {source = "b"}
mllm.tensor.register @router : tensor<4x64xf32> {source = "r"}
mllm.tensor.register @gate : tensor<4x32x64xf32> {source = "g"}
mllm.tensor.register @up : tensor<4x32x64xf32> {source = "u"}
mllm.tensor.register @down : tensor<4x64x32xf32> {source = "d"}
// CHECK: mllm.linalg.linear {{.*}}@before {mllm.quant
// CHECK: mllm.linalg.linear {{.*}}@router :
// CHECK: mllm.linalg.experts {{.*}} {mllm.quant.weights = [#mllm.quant<q4_0, bits = 4, block = 32>, #mllm.quant<raw>, #mllm.quant<q8_0, bits = 8, block = 32>]}
// NAMED: mllm.linalg.linear {{.*}}@before :
// NAMED: mllm.linalg.linear {{.*}}@router {mllm.quant
// NAMED: mllm.linalg.experts {{.*}}@down :
mllm.graph.subgraph @model(%a: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %x = mllm.linalg.linear %a, @before : tensor<2x64xf32> -> tensor<2x64xf32>
  %logits = mllm.linalg.linear %x, @router : tensor<2x64xf32> -> tensor<2x4xf32>
  %w, %e = mllm.linalg.top_k %logits {k = 2 : i64} : tensor<2x4xf32> -> tensor<2x2xf32>, tensor<2x2xi32>
  %y = mllm.linalg.experts %x chosen %e weights %w, @gate, @up, @down
      : (tensor<2x64xf32>, tensor<2x2xi32>, tensor<2x2xf32>) -> tensor<2x64xf32>
  mllm.cf.return %y : tensor<2x64xf32>
}
}
