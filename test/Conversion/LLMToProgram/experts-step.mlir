// RUN: llmir-opt %s --convert-llm-to-program="token-budget=8 max-logit-rows=4" --mllm-synchronize-program | FileCheck %s

// A mixture of experts in a step whose matrices are stored in blocks: inputs are
// int8, as those of projections. The tokens' rows are quantized once for gate and
// up, and gathered in that form; the result of the gate is quantized at its
// places.

!cache = !llm.paged_kv_cache<bf16, 1, 2, 8, 16, 128>
!table = tensor<100x512xbf16>
!gate = !llm.quantized_tensor<i4, [3, 256, 512], false, false, -1, 256, 4, format = q4_k>
!down = !llm.quantized_tensor<i6, [3, 512, 256], true, false, -1, 256, 6, format = q6_k>

// CHECK: moe_sort
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.quantize_rows {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[X:[0-9]+]]{{[, ]}}{{.*}}memref<8x176xf32>) {columns = 512 : i64, group = 32 : i64, label = "quantize_rows_512x32", padded = 32 : i64, segment = 32 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.moe_gather {{.*}}%{{[0-9]+}}{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}%[[ROWS:[0-9]+]]{{[, ]}}{{.*}}{columns = 176 : i64, label = "moe_gather_176", top_k = 2 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @gate :
// CHECK-NEXT: kernel.moe_linear {{.*}}%[[ROWS]] : memref<1x16xi32>, memref<16x176xf32>) outs(%[[GATE:[0-9]+]] : memref<16x256xf32>) {columns = 512 : i64, experts = 3 : i64, format = "int4:g32:k256:min:f16", label = {{.*}}, rows = 256 : i64, segment = 32 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @up :
// CHECK-NEXT: kernel.moe_linear {{.*}}%[[ROWS]] : memref<1x16xi32>, memref<16x176xf32>) outs(%[[UP:[0-9]+]] : memref<16x256xf32>) {columns = 512 : i64, experts = 3 : i64, format = "int4:g32:k256:min:f16", label = {{.*}}, rows = 256 : i64, segment = 32 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.moe_gate {{.*}}%[[GATE]]{{[, ]}}{{.*}}%[[UP]]{{[, ]}}{{.*}}%[[GATE]]{{[, ]}}{{.*}}label = "moe_gate_256"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// There are more places than tokens: they are not replicated.
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.quantize_rows {{.*}}%[[GATE]]{{[, ]}}{{.*}}%[[BYTES:[0-9]+]]{{[, ]}}{{.*}}memref<16x112xf32>) {choices = 2 : i64, columns = 256 : i64, group = 32 : i64, label = "moe_quantize_rows_256x32", padded = 16 : i64, segment = 16 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @down :
// CHECK-NEXT: kernel.moe_linear {{.*}}%[[BYTES]] : {{.*}} {columns = 256 : i64, experts = 3 : i64, format = "int6:g16:k256:f16", label = {{.*}}, rows = 512 : i64, segment = 16 : i64}

mllm.tensor.register @table : !table {source = "table"}
mllm.tensor.register @router : tensor<3x512xf32> {source = "router"}
mllm.tensor.register @gate : !gate {source = "gate"}
mllm.tensor.register @up : !gate {source = "up"}
mllm.tensor.register @down : !down {source = "down"}

func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x100xf32>, !cache) {
  %t = llm.weight @table : !table
  %r = llm.weight @router : tensor<3x512xf32>
  %g = llm.weight @gate : !gate
  %u = llm.weight @up : !gate
  %d = llm.weight @down : !down
  %x = llm.embedding %ids, %t : tensor<?xi32>, !table -> tensor<?x512xf32>
  %l = llm.linear %x, %r : tensor<?x512xf32>, tensor<3x512xf32> -> tensor<?x3xf32>
  %e, %w = llm.moe_route %l {top_k = 2} : (tensor<?x3xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  %y = llm.moe_ffn %x, %e, %w, %g, %u, %d : tensor<?x512xf32>, tensor<?x2xi32>, tensor<?x2xf32>, !gate, !gate, !down -> tensor<?x512xf32>
  %s = llm.select_rows %y, %rows : tensor<?x512xf32>, tensor<?xi32> -> tensor<?x512xf32>
  %logits = llm.linear %s, %t : tensor<?x512xf32>, !table -> tensor<?x100xf32>
  return %logits, %cache : tensor<?x100xf32>, !cache
}
