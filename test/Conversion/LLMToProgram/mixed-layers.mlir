// RUN: llmir-opt %s --convert-llm-to-program="token-budget=8 max-logit-rows=4" --mllm-synchronize-program | FileCheck %s

// Layers whose weights are stored in different formats, as in files of Q4_K_M:
// each run of equal layers is a separate loop, and equal matmuls have equal
// kernels.

!cache = !llm.paged_kv_cache<bf16, 4, 2, 8, 16, 128>
!four = !llm.quantized_tensor<i4, [256, 256], false, false, -1, 256, 4, format = q4_k>
!six = !llm.quantized_tensor<i6, [256, 256], true, false, -1, 256, 6, format = q6_k>

// CHECK: weight @embed "tiles16" "int6:g16:k256:f16" [100, 256]
// CHECK: weight @w0 "tiles16" "int4:g32:k256:min:f16" [256, 256] bytes 37888 sources ["w0", "w1"] at
// CHECK: weight @w2 "tiles16" "int6:g16:k256:f16" [256, 256] bytes 53760 sources ["w2"] at {{.*}} first_layer 2
// CHECK: weight @w3 "tiles16" "int4:g32:k256:min:f16" [256, 256] bytes 37888 sources ["w3"] at {{.*}} first_layer 3

// The quantized rows of a layer function are recomputed in each of its loops.
// CHECK: label "layers.0"
// CHECK: kernel.quantize_rows ins({{.*}}) outs({{.*}}) [[QUANTIZE:{.*}]]
// CHECK: get_weight @w0 :
// CHECK-NEXT: kernel.linear {{.*}} [[FOUR:{columns = 256 : i64, format = "int4:g32:k256:min:f16", .*}]]
// CHECK: jump_next_layer "layers.0" below 2
// CHECK: set_layer 2
// CHECK: label "layers.1"
// CHECK: kernel.quantize_rows
// CHECK: get_weight @w2 :
// CHECK-NEXT: kernel.linear {{.*}} {columns = 256 : i64, format = "int6:g16:k256:f16",
// CHECK: jump_next_layer "layers.1" below 3
// CHECK: set_layer 3
// CHECK: label "layers.2"
// CHECK: kernel.quantize_rows ins({{.*}}) outs({{.*}}) [[QUANTIZE]]
// CHECK: get_weight @w3 :
// CHECK-NEXT: kernel.linear {{.*}} [[FOUR]]
// CHECK: jump_next_layer "layers.2" below 4

mllm.tensor.register @embed : !llm.quantized_tensor<i6, [100, 256], true, false, -1, 256, 6, format = q6_k> {source = "embed"}
mllm.tensor.register @w0 : !four {source = "w0"}
mllm.tensor.register @w1 : !four {source = "w1"}
mllm.tensor.register @w2 : !six {source = "w2"}
mllm.tensor.register @w3 : !four {source = "w3"}

func.func private @four(%x: tensor<?x256xf32>, %w: !four, %layer: index) -> tensor<?x256xf32> {
  %y = llm.linear %x, %w : tensor<?x256xf32>, !four -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

func.func private @six(%x: tensor<?x256xf32>, %w: !six, %layer: index) -> tensor<?x256xf32> {
  %y = llm.linear %x, %w : tensor<?x256xf32>, !six -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x100xf32>, !cache) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %e = llm.weight @embed : !llm.quantized_tensor<i6, [100, 256], true, false, -1, 256, 6, format = q6_k>
  %w0 = llm.weight @w0 : !four
  %w1 = llm.weight @w1 : !four
  %w2 = llm.weight @w2 : !six
  %w3 = llm.weight @w3 : !four
  %x = llm.embedding %ids, %e : tensor<?xi32>, !llm.quantized_tensor<i6, [100, 256], true, false, -1, 256, 6, format = q6_k> -> tensor<?x256xf32>
  %y0 = func.call @four(%x, %w0, %c0) : (tensor<?x256xf32>, !four, index) -> tensor<?x256xf32>
  %y1 = func.call @four(%y0, %w1, %c1) : (tensor<?x256xf32>, !four, index) -> tensor<?x256xf32>
  %y2 = func.call @six(%y1, %w2, %c2) : (tensor<?x256xf32>, !six, index) -> tensor<?x256xf32>
  %y3 = func.call @four(%y2, %w3, %c3) : (tensor<?x256xf32>, !four, index) -> tensor<?x256xf32>
  %s = llm.select_rows %y3, %rows : tensor<?x256xf32>, tensor<?xi32> -> tensor<?x256xf32>
  %logits = llm.linear %s, %e : tensor<?x256xf32>, !llm.quantized_tensor<i6, [100, 256], true, false, -1, 256, 6, format = q6_k> -> tensor<?x100xf32>
  return %logits, %cache : tensor<?x100xf32>, !cache
}
