// RUN: llmir-opt %s --convert-llm-to-program="token-budget=8 max-logit-rows=4" --split-input-file | FileCheck %s

// When results may be written over their operands, and where barriers stand.

!cache = !llm.paged_kv_cache<f32, 1, 1, 16, 16, 128>

mllm.tensor.register @e : tensor<100x16xf32> {source = "e"}
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}

func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x16xf32>, !cache) {
  %c0 = arith.constant 0 : index
  %e = llm.weight @e : tensor<100x16xf32>
  %w = llm.weight @w : tensor<16x16xf32>
  %x = llm.embedding %ids, %e : tensor<?xi32>, tensor<100x16xf32> -> tensor<?x16xf32>
  %y = llm.linear %x, %w : tensor<?x16xf32>, tensor<16x16xf32> -> tensor<?x16xf32>
  %t = tensor.dim %x, %c0 : tensor<?x16xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [%t, 1, 16] : tensor<?x16xf32> into tensor<?x1x16xf32>
  // %y is read again below, under its other name: rope needs a buffer of its own.
  // CHECK: instruction @linear_f32_16x16 weights [@w](%{{.*}}, %[[Y:.*]]) :
  // CHECK-NEXT: barrier
  // CHECK-NEXT: instruction @rope_1x16 weights [](%{{.*}}, %{{.*}}, %[[Y]], %[[R:[0-9]+]]) :
  // CHECK-NEXT: barrier
  // CHECK-NEXT: instruction @add_16 weights [](%[[Y]], %[[R]], %[[Y]]) :
  %r = llm.rope %h, %pos {frequencies = array<f64: 1.0, 0.1>} : tensor<?x1x16xf32>, tensor<?xi32>
  %m = tensor.collapse_shape %r [[0], [1, 2]] : tensor<?x1x16xf32> into tensor<?x16xf32>
  %z = llm.add %y, %m : tensor<?x16xf32>
  %s = llm.select_rows %z, %rows : tensor<?x16xf32>, tensor<?xi32> -> tensor<?x16xf32>
  return %s, %cache : tensor<?x16xf32>, !cache
}
