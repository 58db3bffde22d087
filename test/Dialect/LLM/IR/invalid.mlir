// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// A negative test for each constraint of the ops; the labels are those of
// LLMOps.td.

// RULE: weight.c1
func.func @test() {
  // expected-error@+1 {{'llm.weight' op refers to @norm, which is not declared}}
  %0 = llm.weight @norm : tensor<64xf32>
  return
}

// -----

// RULE: weight.c2
// expected-note@+1 {{declared here}}
mllm.tensor.register @norm : tensor<64xf32> {source = "norm"}
func.func @test() {
  // expected-error@+1 {{'llm.weight' op has type 'tensor<32xf32>', but @norm has type tensor<64xf32>}}
  %0 = llm.weight @norm : tensor<32xf32>
  return
}

// -----

// RULE: embedding.c1
func.func @test(%ids: tensor<3xi32>, %t: tensor<256x64xf32>) {
  // expected-error@+1 {{'llm.embedding' op has 3 ids, but a result of 4 rows}}
  %0 = llm.embedding %ids, %t : tensor<3xi32>, tensor<256x64xf32> -> tensor<4x64xf32>
  return
}

// -----

// RULE: embedding.c1
func.func @test(%ids: tensor<?xi32>, %t: tensor<256x64xf32>) {
  // expected-error@+1 {{'llm.embedding' op has a table of 64 columns, but a result of 32}}
  %0 = llm.embedding %ids, %t : tensor<?xi32>, tensor<256x64xf32> -> tensor<?x32xf32>
  return
}

// -----

// RULE: embedding.c2
func.func @test(%ids: tensor<?xi32>, %t: !llm.quantized_tensor<i8, [256, 64], true, true, 0, -1, 8>) {
  // expected-error@+1 {{'llm.embedding' op has a weight of type '!llm.quantized_tensor<i8, [256, 64], true, true, 0, -1, 8>' without a format and therefore without scales}}
  %0 = llm.embedding %ids, %t : tensor<?xi32>, !llm.quantized_tensor<i8, [256, 64], true, true, 0, -1, 8> -> tensor<?x64xf32>
  return
}

// -----

// RULE: linear.c1
func.func @test(%x: tensor<?x64xf32>, %w: tensor<8x32xf32>) {
  // expected-error@+1 {{'llm.linear' op has rows of 64 elements, but a weight of 32 inputs}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<8x32xf32> -> tensor<?x8xf32>
  return
}

// -----

// RULE: linear.c1, of a quantized weight
func.func @test(%x: tensor<?x64xf32>, %w: !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8>) {
  // expected-error@+1 {{'llm.linear' op has rows of 64 elements, but a weight of 32 inputs}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, !llm.quantized_tensor<i8, [8, 32], true, false, -1, 32, 8> -> tensor<?x8xf32>
  return
}

// -----

// RULE: linear.c2
func.func @test(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>, %b: tensor<64xf32>) {
  // expected-error@+1 {{'llm.linear' op has a bias of 64 elements, but a weight of 8 outputs}}
  %0 = llm.linear %x, %w bias %b : tensor<?x64xf32>, tensor<8x64xf32>, tensor<64xf32> -> tensor<?x8xf32>
  return
}

// -----

// RULE: linear.c3
func.func @test(%x: tensor<?x64xf32>, %w: !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>) {
  // expected-error@+1 {{'llm.linear' op has a weight of type '!llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8>' without a format and therefore without scales}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, !llm.quantized_tensor<i8, [8, 64], true, true, 0, -1, 8> -> tensor<?x8xf32>
  return
}

// -----

// linear: the result that follows from the operands
func.func @test(%x: tensor<?x64xf32>, %w: tensor<8x64xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'llm.linear' op inferred type(s) 'tensor<?x8xf32>' are incompatible with return type(s) of operation 'tensor<?x9xf32>'}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<8x64xf32> -> tensor<?x9xf32>
  return
}

// -----

// linear: weights are matrices
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64xf32>) {
  // expected-error@+1 {{must be matrix of weights, but got 'tensor<64xf32>'}}
  %0 = llm.linear %x, %w : tensor<?x64xf32>, tensor<64xf32> -> tensor<?x8xf32>
  return
}

// -----

// RULE: rms_norm.c1
func.func @test(%x: tensor<?x64xf32>, %w: tensor<32xf32>) {
  // expected-error@+1 {{'llm.rms_norm' op has rows of 64 elements, but a weight of 32}}
  %0 = llm.rms_norm %x, %w {eps = 1.0e-5 : f64} : tensor<?x64xf32>, tensor<32xf32>
  return
}

// -----

// RULE: rms_norm.c2
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64xf32>) {
  // expected-error@+1 {{'llm.rms_norm' op eps must be finite and not negative, not -1.000000e+00 : f64}}
  %0 = llm.rms_norm %x, %w {eps = -1.0 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return
}

// -----

// RULE: rms_norm.c2
func.func @test(%x: tensor<?x64xf32>, %w: tensor<64xf32>) {
  // expected-error@+1 {{'llm.rms_norm' op eps must be finite and not negative, not 0x7FF8000000000000 : f64}}
  %0 = llm.rms_norm %x, %w {eps = 0x7FF8000000000000 : f64} : tensor<?x64xf32>, tensor<64xf32>
  return
}

// -----

// RULE: rope.c1
func.func @test(%x: tensor<5x4x16xf32>, %p: tensor<6xi32>) {
  // expected-error@+1 {{'llm.rope' op has 5 tokens, but 6 positions}}
  %0 = llm.rope %x, %p {frequencies = array<f64: 1.0>} : tensor<5x4x16xf32>, tensor<6xi32>
  return
}

// -----

// RULE: rope.c2
func.func @test(%x: tensor<5x4x16xf32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{'llm.rope' op has 0 frequencies for heads of 16 elements; expected 1 to half of the head size}}
  %0 = llm.rope %x, %p {frequencies = array<f64>} : tensor<5x4x16xf32>, tensor<?xi32>
  return
}

// -----

// RULE: rope.c2
func.func @test(%x: tensor<5x4x16xf32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{'llm.rope' op has 9 frequencies for heads of 16 elements}}
  %0 = llm.rope %x, %p {frequencies = array<f64: 1., 1., 1., 1., 1., 1., 1., 1., 1.>} : tensor<5x4x16xf32>, tensor<?xi32>
  return
}

// -----

// RULE: rope.c3
func.func @test(%x: tensor<5x4x16xf32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{'llm.rope' op frequency INF is not finite}}
  %0 = llm.rope %x, %p {frequencies = array<f64: 0x7FF0000000000000>} : tensor<5x4x16xf32>, tensor<?xi32>
  return
}

// -----

// RULE: rope.c3
func.func @test(%x: tensor<5x4x16xf32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{'llm.rope' op scaling 0x7FF0000000000000 : f64 is not finite}}
  %0 = llm.rope %x, %p {frequencies = array<f64: 1.0>, scaling = 0x7FF0000000000000 : f64} : tensor<5x4x16xf32>, tensor<?xi32>
  return
}

// -----

// RULE: mean_rows.c1
func.func @test(%x: tensor<?xf32>, %o: tensor<?xi32>) {
  // expected-error@+1 {{'llm.mean_rows' op x must have rank 2 or more, not 1}}
  %0 = llm.mean_rows %x, %o : tensor<?xf32>, tensor<?xi32> -> tensor<?xf32>
  return
}

// -----

// RULE: mean_rows.c2
func.func @test(%x: tensor<3x4xf32>, %o: tensor<0xi32>) {
  // expected-error@+1 {{'llm.mean_rows' op offsets must have an element}}
  %0 = llm.mean_rows %x, %o : tensor<3x4xf32>, tensor<0xi32> -> tensor<0x4xf32>
  return
}

// -----

// RULE: select_rows.c1
func.func @test(%x: tensor<?xf32>, %r: tensor<?xi32>) {
  // expected-error@+1 {{'llm.select_rows' op x must have rank 2 or more, not 1}}
  %0 = llm.select_rows %x, %r : tensor<?xf32>, tensor<?xi32> -> tensor<?xf32>
  return
}

// -----

// RULE: append_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op needs either sequence ids or slots}}
  %0 = llm.append_kv %c, %k, %k layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> !cache
  return
}

// -----

// RULE: append_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op needs either sequence ids or slots}}
  %0:2 = llm.append_kv %c, %k, %k, %s slots(%s) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>, tensor<?xi32>) -> (!cache, tensor<?xi32>)
  return
}

// -----

// RULE: append_kv.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op must have block indices if and only if it has sequence ids}}
  %0:2 = "llm.append_kv"(%c, %k, %k, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>}> : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> (!cache, tensor<?xi32>)
  return
}

// -----

// RULE: append_kv.c2
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<3x5x2x16xf16>, %s: tensor<?xi32>) {
  // expected-error@+1 {{'llm.append_kv' op with slots needs keys of rank 3, not 4}}
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<5x2x16xf32>, %v: tensor<4x2x16xf32>, %s: tensor<?xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has keys of type 'tensor<5x2x16xf32>', but values of type 'tensor<4x2x16xf32>'}}
  %0 = llm.append_kv %c, %k, %v slots(%s) : (!cache, tensor<5x2x16xf32>, tensor<4x2x16xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c4
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xbf16>, %s: tensor<?xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has keys of 'bf16', but the cache's element type is 'f16'}}
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<?x2x16xbf16>, tensor<?x2x16xbf16>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c4, batched
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<3x5x2x16xf32>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has keys of 'f32', but the cache's element type is 'f16'}}
  %0:2 = llm.append_kv %c, %k, %k, %s : (!cache, tensor<3x5x2x16xf32>, tensor<3x5x2x16xf32>, tensor<3xi32>) -> (!cache, tensor<3x5xi32>)
  return
}

// -----

// RULE: append_kv.c5
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x4x16xf32>, %s: tensor<?xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has keys of 4 heads, but the cache has 2}}
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c5
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x32xf32>, %s: tensor<?xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has heads of 32 elements, but those of the cache have 16}}
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<?x2x32xf32>, tensor<?x2x32xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c6
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<5x2x16xf32>, %s: tensor<4xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has keys of 5 tokens, but 4 slots}}
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<5x2x16xf32>, tensor<5x2x16xf32>, tensor<4xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c6
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<3x5x2x16xf16>, %s: tensor<2xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has keys of 3 sequences, but 2 sequence ids}}
  %0:2 = llm.append_kv %c, %k, %k, %s : (!cache, tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<2xi32>) -> (!cache, tensor<3x5xi32>)
  return
}

// -----

// RULE: append_kv.c7
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<3x5x2x16xf16>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has block indices of type 'tensor<2x5xi32>' for keys of type 'tensor<3x5x2x16xf16>'; expected [batch] or [batch, blocks]}}
  %0:2 = llm.append_kv %c, %k, %k, %s : (!cache, tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!cache, tensor<2x5xi32>)
  return
}

// -----

// RULE: append_kv.c7
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<3x5x2x16xf16>, %s: tensor<3xi32>) {
  // expected-error@+1 {{'llm.append_kv' op has block indices of type 'tensor<4xi32>' for keys of type 'tensor<3x5x2x16xf16>'; expected [batch] or [batch, blocks]}}
  %0:2 = llm.append_kv %c, %k, %k, %s : (!cache, tensor<3x5x2x16xf16>, tensor<3x5x2x16xf16>, tensor<3xi32>) -> (!cache, tensor<4xi32>)
  return
}

// -----

// RULE: append_kv.c8
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op block_size is 16, but the cache has 8}}
  %0 = llm.append_kv %c, %k, %k slots(%s) layer(%l) {block_size = 16 : i32} : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c8
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op max_seq_len is 128, but the cache has 64}}
  %0 = llm.append_kv %c, %k, %k slots(%s) layer(%l) {max_seq_len = 128 : i32} : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// RULE: append_kv.c9
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.append_kv' op needs a layer: the cache has 4 layers}}
  %0 = llm.append_kv %c, %k, %k slots(%s) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> !cache
  return
}

// -----

// append_kv: as many types as operands
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{expected 4 operand types, but there are 3}}
  %0 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> !cache
  return
}

// -----

// append_kv: as many types as results
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %k: tensor<?x2x16xf32>, %s: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{expected 1 result types, but there are 2}}
  %0:2 = llm.append_kv %c, %k, %k slots(%s) layer(%l) : (!cache, tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>) -> (!cache, tensor<?xi32>)
  return
}

// -----

// RULE: paged_attention.c1
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<3x5x4x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op with offsets needs a query of rank 3, not 4}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (tensor<3x5x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<3x5x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c2
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x3x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op has 3 query heads, which is not a multiple of the number of KV heads of the cache, 2}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (tensor<?x3x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x3x16xf32>
  return
}

// -----

// RULE: paged_attention.c3
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x32xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op has heads of 32 elements, but those of the cache have 16}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (tensor<?x4x32xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x32xf32>
  return
}

// -----

// RULE: paged_attention.c4
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<3x8xi32>, %n: tensor<2xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op has block indices of 3 sequences, but lengths of 2}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (tensor<?x4x16xf32>, !cache, tensor<3x8xi32>, tensor<2xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c4, batched
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<3x5x4x16xf16>, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op has queries of 3 sequences, but lengths of 2}}
  %0 = llm.paged_attention %q, %c, %t, %n layer(%l) : (tensor<3x5x4x16xf16>, !cache, tensor<2x8xi32>, tensor<2xi32>) -> tensor<3x5x4x16xf16>
  return
}

// -----

// RULE: paged_attention.c4, ragged
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<2x8xi32>, %n: tensor<2xi32>, %o: tensor<2xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op has 2 offsets, but lengths of 2 sequences; expected one more offset than sequences}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (tensor<?x4x16xf32>, !cache, tensor<2x8xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c5
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op scale must be finite and not negative, not -1.250000e-01 : f32}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {scale = -0.125 : f32} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c5
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op scale must be finite and not negative, not 0x7FF0000000000000 : f64}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {scale = 0x7FF0000000000000 : f64} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c6
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op num_heads is 8, but the query has 4}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {num_heads = 8 : i32} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c6
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op head_dim is 64, but the query has 16}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) {head_dim = 64} : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c7
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op with offsets needs block indices of rank 2, not 1}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) layer(%l) : (tensor<?x4x16xf32>, !cache, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}

// -----

// RULE: paged_attention.c8
!cache = !llm.paged_kv_cache<f16, 4, 2, 16, 8, 64>
func.func @test(%c: !cache, %q: tensor<?x4x16xf32>, %t: tensor<?x?xi32>, %n: tensor<?xi32>, %o: tensor<?xi32>, %l: index) {
  // expected-error@+1 {{'llm.paged_attention' op needs a layer: the cache has 4 layers}}
  %0 = llm.paged_attention %q, %c, %t, %n offsets(%o) : (tensor<?x4x16xf32>, !cache, tensor<?x?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x16xf32>
  return
}
