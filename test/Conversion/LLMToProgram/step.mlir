// RUN: llmir-opt %s --convert-llm-to-program="token-budget=8 max-logit-rows=4" --mllm-synchronize-program | FileCheck %s

// A step of three equal layers, as the optimize stage leaves it.

!cache = !llm.paged_kv_cache<bf16, 3, 2, 8, 16, 128>

// SPEC: 192
// Weights of a run have one offset per layer; a weight that is used twice has
// one. Offsets are contiguous.
// CHECK: mllm.program.fragment @weights data attributes {weight_bytes = 43392 : i64} {
// CHECK-NEXT: weight @embed "tiles16" "bf16" [100, 32] bytes 7168 sources ["embed"] at [0]{{$}}
// CHECK-NEXT: weight @norm "vector" "f32" [32] bytes 128 sources ["norm"] at [7168]{{$}}
// CHECK-NEXT: weight @l0.norm "vector" "f32" [32] bytes 128 sources ["l0.norm", "l1.norm", "l2.norm"] at [7296, 7424, 7552]{{$}}
// CHECK-NEXT: weight @l0.q "tiles16" "bf16" [32, 32] bytes 2048 sources ["l0.q", "l1.q", "l2.q"] at [7680, 9728, 11776] rope_unpermute_heads 4{{$}}
// CHECK-NEXT: weight @l0.k "tiles16" "bf16" [16, 32] bytes 1024 sources ["l0.k", "l1.k", "l2.k"] at [13824, 14848, 15872]{{$}}
// CHECK-NEXT: weight @l0.v
// CHECK-NEXT: weight @l0.gate "tiles16" "int8:g32:f16" [48, 32] bytes 1664 sources ["l0.gate", "l1.gate", "l2.gate"] at [19968, 21632, 23296]{{$}}
// CHECK-NEXT: weight @l0.up
// CHECK-NEXT: weight @l0.down
// CHECK-NEXT: {{^ +}$}}

// In a step of up to 8 tokens, angles, norms and rounded rows are replicated: a
// layer then has five barriers, and one more if attention is split.
// CHECK: mllm.program.fragment @llmir_step code attributes {decode_tokens = 8 : i64} {
// CHECK-NEXT: %[[COS:.*]] = mllm.program.buffer per_worker : memref<8x16xf32>
// CHECK-NEXT: %[[SIN:.*]] = mllm.program.buffer per_worker : memref<8x16xf32>
// CHECK-NEXT: %[[X:.*]] = mllm.program.buffer : memref<8x32xf32>
// CHECK-NEXT: %[[N:.*]] = mllm.program.buffer per_worker : memref<8x32xf32>
// CHECK: %[[LOGITS:.*]] = mllm.program.logits : memref<4x112xf32>
// CHECK-NEXT: entry_point
// Angles are computed once for all layers.
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.rope_angles {{.*}}%[[COS]]{{[, ]}}{{.*}}%[[SIN]]{{[, ]}}{{.*}}{frequencies = array<f64: 1.000000e+00, 1.000000e-01, 1.000000e-02, 1.000000e-03>, label = "rope_angles"}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @embed :
// CHECK-NEXT: kernel.embedding weights({{.*}} : memref<7168xi8>) outs(%[[X]] : memref<8x32xf32>) {columns = 32 : i64, format = "bf16", label = "embedding_bf16_100x32", rows = 100 : i64}
// CHECK-NEXT: {{^ +}$}}
// The layers are a loop over the layer register.
// CHECK-NEXT: set_layer 0
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: label "layers.0"
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: get_weight @l0.norm :
// CHECK-NEXT: kernel.rms_norm weights({{.*}} : memref<32xf32>) ins(%[[X]] : memref<8x32xf32>) outs(%[[N]] : memref<8x32xf32>) {columns = 32 : i64, eps = 1.000000e-05 : f64, label = "rms_norm_1x32"}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.round_rows {{.*}}%[[N]]{{[, ]}}{{.*}}%[[R:[0-9]+]]{{[, ]}}{{.*}}label = "round_rows_32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode{{$}}
// The three projections write different buffers, in units of whole heads, which
// the worker that has computed them rotates and appends.
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.q :
// CHECK-NEXT: kernel.linear {{.*}}%[[R]]{{[, ]}}{{.*}}%[[Q:[0-9]+]]{{[, ]}}{{.*}}label = "linear_bf16_32x32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.k :
// CHECK-NEXT: kernel.linear {{.*}}%[[R]]{{[, ]}}{{.*}}%[[K:[0-9]+]]{{[, ]}}{{.*}}label = "linear_bf16_16x32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.v :
// CHECK-NEXT: kernel.linear {{.*}}%[[R]]{{[, ]}}{{.*}}%[[V:[0-9]+]]{{[, ]}}{{.*}}label = "linear_bf16_16x32"
// CHECK-NEXT: {{^ +}$}}
// A rotation overwrites its input.
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.rope {{.*}}%[[COS]]{{[, ]}}{{.*}}%[[SIN]]{{[, ]}}{{.*}}%[[Q]]{{[, ]}}{{.*}}%[[Q]]{{[, ]}}{{.*}}{head_dim = 8 : i64, heads = 4 : i64, label = "rope_4x8", rotary_dim = 8 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.rope {{.*}}%[[COS]]{{[, ]}}{{.*}}%[[SIN]]{{[, ]}}{{.*}}%[[K]]{{[, ]}}{{.*}}%[[K]]{{[, ]}}{{.*}}label = "rope_2x8"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.append_kv {{.*}}%[[K]]{{[, ]}}{{.*}}%[[V]]{{[, ]}}{{.*}}{block_size = 16 : i64, head_dim = 8 : i64, kv_format = "bf16", kv_heads = 2 : i64, label = "append_kv_bf16_2x8", value_dim = 8 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.paged_attention ins(%[[Q]] : memref<8x32xf32>) partials(%[[P:[0-9]+]] : memref<2048x{{[0-9]+}}xf32>) outs(%[[A:[0-9]+]] : memref<8x32xf32>) {block_size = 16 : i64, head_dim = 8 : i64, heads = 4 : i64, kv_format = "bf16", kv_heads = 2 : i64, label = "paged_attention_bf16_4x2x8", scale = 2.500000e-01 : f64, value_dim = 8 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier if_split
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.merge_attention partials(%[[P]] {{.*}}outs(%[[A]] {{.*}}label = "merge_attention_bf16_4x2x8
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[A]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}label = "add_32"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.quantize_rows {{.*}}%[[X]]{{[, ]}}{{.*}}%[[B:[0-9]+]]{{[, ]}}{{.*}}label = "quantize_rows_32x32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.gate :
// CHECK-NEXT: kernel.linear {{.*}}%[[B]]{{[, ]}}{{.*}}%[[G:[0-9]+]]{{[, ]}}{{.*}}label = "quantized_linear_48x32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.round_rows {{.*}}%[[X]]{{[, ]}}{{.*}}%[[RX:[0-9]+]]{{[, ]}}{{.*}}label = "round_rows_32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.up :
// CHECK-NEXT: kernel.linear {{.*}}%[[RX]]{{[, ]}}{{.*}}%[[G]]{{[, ]}}{{.*}}%[[G]]{{[, ]}}{{.*}}label = "linear_bf16_48x32_silu_mul"
// A chain of element-wise ops is computed on the sums of the last matmul that
// feeds it, with an element of each other operand.
// CHECK-NEXT: ^bb0(%[[UP:.*]]: f32, %[[GATE:.*]]: f32):
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[SUM:.*]] = arith.addf %[[E]], %{{.*}}
// CHECK: %[[SILU:.*]] = arith.divf %[[GATE]], %[[SUM]]
// CHECK: %[[ACT:.*]] = arith.mulf %[[SILU]], %[[UP]]
// CHECK: yield %[[ACT]]
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.round_rows {{.*}}%[[G]]{{[, ]}}{{.*}}%[[RG:[0-9]+]]{{[, ]}}{{.*}}label = "round_rows_48"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode{{$}}
// The sum lands in the buffer that the next layer reads: nothing is copied.
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @l0.down :
// CHECK-NEXT: kernel.linear {{.*}}%[[RG]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}%[[X]]{{[, ]}}{{.*}}label = "linear_bf16_32x48_add"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier{{$}}
// CHECK-NEXT: jump_next_layer "layers.0" below 3
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.select_rows {{.*}}%[[X]]{{[, ]}}{{.*}}%[[S:[0-9]+]]{{[, ]}}{{.*}}label = "select_rows_32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: get_weight @norm :
// CHECK-NEXT: kernel.rms_norm over logit_rows {{.*}}%[[S]]{{[, ]}}{{.*}}%[[SN:[0-9]+]]{{[, ]}}{{.*}}label = "rms_norm_1x32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction replicated {
// CHECK-NEXT: kernel.round_rows over logit_rows {{.*}}%[[SN]]{{[, ]}}{{.*}}%[[SR:[0-9]+]]{{[, ]}}{{.*}}label = "round_rows_32"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier unless_decode{{$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: get_weight @embed :
// CHECK-NEXT: kernel.linear over logit_rows weights({{.*}} : memref<7168xi8>) ins(%[[SR]] : memref<4x16xf32>) outs(%[[LOGITS]] : memref<4x112xf32>) {columns = 32 : i64, format = "bf16", label = "linear_bf16_100x32", rows = 100 : i64}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: exit
// CHECK-NOT: func.func

mllm.tensor.register @embed : tensor<100x32xbf16> {source = "embed"}
mllm.tensor.register @norm : tensor<32xf32> {source = "norm"}
mllm.tensor.register @l0.norm : tensor<32xf32> {source = "l0.norm"}
mllm.tensor.register @l0.q : tensor<32x32xbf16> {source = "l0.q", rope_unpermute_heads = 4 : i64}
mllm.tensor.register @l0.k : tensor<16x32xbf16> {source = "l0.k"}
mllm.tensor.register @l0.v : tensor<16x32xbf16> {source = "l0.v"}
mllm.tensor.register @l0.gate : !llm.quantized_tensor<i8, [48, 32], true, false, -1, 32, 8, format = q8_0> {source = "l0.gate"}
mllm.tensor.register @l0.up : tensor<48x32xbf16> {source = "l0.up"}
mllm.tensor.register @l0.down : tensor<32x48xbf16> {source = "l0.down"}
mllm.tensor.register @l1.norm : tensor<32xf32> {source = "l1.norm"}
mllm.tensor.register @l1.q : tensor<32x32xbf16> {source = "l1.q", rope_unpermute_heads = 4 : i64}
mllm.tensor.register @l1.k : tensor<16x32xbf16> {source = "l1.k"}
mllm.tensor.register @l1.v : tensor<16x32xbf16> {source = "l1.v"}
mllm.tensor.register @l1.gate : !llm.quantized_tensor<i8, [48, 32], true, false, -1, 32, 8, format = q8_0> {source = "l1.gate"}
mllm.tensor.register @l1.up : tensor<48x32xbf16> {source = "l1.up"}
mllm.tensor.register @l1.down : tensor<32x48xbf16> {source = "l1.down"}
mllm.tensor.register @l2.norm : tensor<32xf32> {source = "l2.norm"}
mllm.tensor.register @l2.q : tensor<32x32xbf16> {source = "l2.q", rope_unpermute_heads = 4 : i64}
mllm.tensor.register @l2.k : tensor<16x32xbf16> {source = "l2.k"}
mllm.tensor.register @l2.v : tensor<16x32xbf16> {source = "l2.v"}
mllm.tensor.register @l2.gate : !llm.quantized_tensor<i8, [48, 32], true, false, -1, 32, 8, format = q8_0> {source = "l2.gate"}
mllm.tensor.register @l2.up : tensor<48x32xbf16> {source = "l2.up"}
mllm.tensor.register @l2.down : tensor<32x48xbf16> {source = "l2.down"}

!q8 = !llm.quantized_tensor<i8, [48, 32], true, false, -1, 32, 8, format = q8_0>

func.func @step(%ids: tensor<?xi32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %rows: tensor<?xi32>, %cache: !cache) -> (tensor<?x100xf32>, !cache) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %embed = llm.weight @embed : tensor<100x32xbf16>
  %norm = llm.weight @norm : tensor<32xf32>
  %n0 = llm.weight @l0.norm : tensor<32xf32>
  %q0 = llm.weight @l0.q : tensor<32x32xbf16>
  %k0 = llm.weight @l0.k : tensor<16x32xbf16>
  %v0 = llm.weight @l0.v : tensor<16x32xbf16>
  %g0 = llm.weight @l0.gate : !q8
  %u0 = llm.weight @l0.up : tensor<48x32xbf16>
  %d0 = llm.weight @l0.down : tensor<32x48xbf16>
  %n1 = llm.weight @l1.norm : tensor<32xf32>
  %q1 = llm.weight @l1.q : tensor<32x32xbf16>
  %k1 = llm.weight @l1.k : tensor<16x32xbf16>
  %v1 = llm.weight @l1.v : tensor<16x32xbf16>
  %g1 = llm.weight @l1.gate : !q8
  %u1 = llm.weight @l1.up : tensor<48x32xbf16>
  %d1 = llm.weight @l1.down : tensor<32x48xbf16>
  %x = llm.embedding %ids, %embed : tensor<?xi32>, tensor<100x32xbf16> -> tensor<?x32xf32>
  %y0:2 = call @layer(%x, %pos, %offs, %lens, %slots, %tables, %cache, %c0, %n0, %q0, %k0, %v0, %g0, %u0, %d0) : (tensor<?x32xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, !cache, index, tensor<32xf32>, tensor<32x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>, !q8, tensor<48x32xbf16>, tensor<32x48xbf16>) -> (tensor<?x32xf32>, !cache)
  %y1:2 = call @layer(%y0#0, %pos, %offs, %lens, %slots, %tables, %y0#1, %c1, %n1, %q1, %k1, %v1, %g1, %u1, %d1) : (tensor<?x32xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, !cache, index, tensor<32xf32>, tensor<32x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>, !q8, tensor<48x32xbf16>, tensor<32x48xbf16>) -> (tensor<?x32xf32>, !cache)
  // Weights between two calls do not end the run.
  %n2 = llm.weight @l2.norm : tensor<32xf32>
  %q2 = llm.weight @l2.q : tensor<32x32xbf16>
  %k2 = llm.weight @l2.k : tensor<16x32xbf16>
  %v2 = llm.weight @l2.v : tensor<16x32xbf16>
  %g2 = llm.weight @l2.gate : !q8
  %u2 = llm.weight @l2.up : tensor<48x32xbf16>
  %d2 = llm.weight @l2.down : tensor<32x48xbf16>
  %y2:2 = call @layer(%y1#0, %pos, %offs, %lens, %slots, %tables, %y1#1, %c2, %n2, %q2, %k2, %v2, %g2, %u2, %d2) : (tensor<?x32xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>, !cache, index, tensor<32xf32>, tensor<32x32xbf16>, tensor<16x32xbf16>, tensor<16x32xbf16>, !q8, tensor<48x32xbf16>, tensor<32x48xbf16>) -> (tensor<?x32xf32>, !cache)
  %s = llm.select_rows %y2#0, %rows : tensor<?x32xf32>, tensor<?xi32> -> tensor<?x32xf32>
  %n = llm.rms_norm %s, %norm {eps = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>
  %l = llm.linear %n, %embed : tensor<?x32xf32>, tensor<100x32xbf16> -> tensor<?x100xf32>
  return %l, %y2#1 : tensor<?x100xf32>, !cache
}

func.func private @layer(%x: tensor<?x32xf32>, %pos: tensor<?xi32>, %offs: tensor<?xi32>, %lens: tensor<?xi32>, %slots: tensor<?xi32>, %tables: tensor<?x?xi32>, %cache: !cache, %layer: index, %norm: tensor<32xf32>, %wq: tensor<32x32xbf16>, %wk: tensor<16x32xbf16>, %wv: tensor<16x32xbf16>, %wg: !q8, %wu: tensor<48x32xbf16>, %wd: tensor<32x48xbf16>) -> (tensor<?x32xf32>, !cache) attributes {llm.layer} {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x32xf32>
  %n = llm.rms_norm %x, %norm {eps = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>
  %q = llm.linear %n, %wq : tensor<?x32xf32>, tensor<32x32xbf16> -> tensor<?x32xf32>
  %k = llm.linear %n, %wk : tensor<?x32xf32>, tensor<16x32xbf16> -> tensor<?x16xf32>
  %v = llm.linear %n, %wv : tensor<?x32xf32>, tensor<16x32xbf16> -> tensor<?x16xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [%t, 4, 8] : tensor<?x32xf32> into tensor<?x4x8xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [%t, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [%t, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  %qr = llm.rope %qh, %pos {frequencies = array<f64: 1.0, 0.1, 0.01, 0.001>} : tensor<?x4x8xf32>, tensor<?xi32>
  %kr = llm.rope %kh, %pos {frequencies = array<f64: 1.0, 0.1, 0.01, 0.001>} : tensor<?x2x8xf32>, tensor<?xi32>
  %c = llm.append_kv %cache, %kr, %vh slots(%slots) layer(%layer) : (!cache, tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>) -> !cache
  %a = llm.paged_attention %qr, %c, %tables, %lens offsets(%offs) layer(%layer) {scale = 0.25 : f64} : (tensor<?x4x8xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x8xf32>
  %m = tensor.collapse_shape %a [[0], [1, 2]] : tensor<?x4x8xf32> into tensor<?x32xf32>
  %x1 = llm.add %x, %m : tensor<?x32xf32>
  %g = llm.linear %x1, %wg : tensor<?x32xf32>, !q8 -> tensor<?x48xf32>
  %u = llm.linear %x1, %wu : tensor<?x32xf32>, tensor<48x32xbf16> -> tensor<?x48xf32>
  %s = llm.silu %g : tensor<?x48xf32>
  %h = llm.mul %s, %u : tensor<?x48xf32>
  %d = llm.linear %h, %wd : tensor<?x48xf32>, tensor<32x48xbf16> -> tensor<?x32xf32>
  %y = llm.add %x1, %d : tensor<?x32xf32>
  return %y, %c : tensor<?x32xf32>, !cache
}
