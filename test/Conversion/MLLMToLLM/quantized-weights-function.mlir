// RUN: llmir-opt %s --convert-mllm-to-llm=form=function | FileCheck %s

// Annotated products in functions.
module {
  // CHECK: mllm.tensor.register @up : tensor<96x64xf32>
  mllm.tensor.register @up : tensor<96x64xf32> {source = "up"}
  // CHECK: mllm.tensor.register @down : !llm.quantized_tensor<i4, [64, 96], true, false, -1, 32, 4, format = q4_0>
  mllm.tensor.register @down : tensor<64x96xf32> {source = "down"}
  // CHECK-LABEL: func.func @model
  // CHECK: llm.quantized_matmul %{{.*}} {activation_bits = 8 : i64
  // CHECK-SAME: -> tensor<3x96xf32>
  // CHECK: llm.linear %{{.*}} : tensor<3x96xf32>, !llm.quantized_tensor<i4, [64, 96]
  mllm.graph.subgraph @model(%x: tensor<3x64xf32>) -> tensor<3x64xf32> attributes {entry} {
    %1 = mllm.linalg.linear %x, @up {mllm.quant.inputs = 8 : i64, mllm.quant.weights = #mllm.quant<asym_per_channel, bits = 8, axis = 0>} : tensor<3x64xf32> -> tensor<3x96xf32>
    %2 = mllm.linalg.linear %1, @down {mllm.quant.weights = #mllm.quant<q4_0, bits = 4, block = 32>} : tensor<3x96xf32> -> tensor<3x64xf32>
    mllm.cf.return %2 : tensor<3x64xf32>
  }
}
