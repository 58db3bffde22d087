// RUN: llmir-opt %s --convert-mllm-to-llm="kv-element-type=bf16 block-size=32" | FileCheck %s
// RUN: llmir-opt %s --convert-mllm-to-llm="context-length=48" | FileCheck %s --check-prefix=CONTEXT
// RUN: llmir-opt %s --convert-mllm-to-llm --llm-check-cache-use --llm-deduplicate-functions --llm-inline-modules --canonicalize --cse | FileCheck %s --check-prefix=OPTIMIZED

// SPEC: 20
// A model of two layers, with its decoder in a separate subgraph, as traced.

// CHECK: module attributes {mllm.model =
module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 4 : i64, num_kv_heads = 2 : i64, head_dim = 16 : i64, hidden_size = 64 : i64, intermediate_size = 96 : i64, vocab_size = 256 : i64, context_length = 128 : i64}} {
  // CHECK-COUNT-13: mllm.tensor.register
  mllm.tensor.register @model.embed_tokens.weight : tensor<256x64xbf16> {source = "model.embed_tokens.weight"}
  mllm.tensor.register @model.norm.weight : tensor<64xbf16> {source = "model.norm.weight"}
  mllm.tensor.register @q.bias : tensor<64xf32> {source = "q.bias"}
  mllm.tensor.register @layers.0.q.weight : tensor<64x64xbf16> {source = "l0.q"}
  mllm.tensor.register @layers.0.k.weight : tensor<32x64xbf16> {source = "l0.k"}
  mllm.tensor.register @layers.0.v.weight : tensor<32x64xbf16> {source = "l0.v"}
  mllm.tensor.register @layers.0.o.weight : !llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 8, format = q8_0> {source = "l0.o"}
  mllm.tensor.register @layers.0.norm.weight : tensor<64xbf16> {source = "l0.norm"}
  mllm.tensor.register @layers.1.q.weight : tensor<64x64xbf16> {source = "l1.q"}
  mllm.tensor.register @layers.1.k.weight : tensor<32x64xbf16> {source = "l1.k"}
  mllm.tensor.register @layers.1.v.weight : tensor<32x64xbf16> {source = "l1.v"}
  mllm.tensor.register @layers.1.o.weight : !llm.quantized_tensor<i8, [64, 64], true, false, -1, 32, 8, format = q8_0> {source = "l1.o"}
  mllm.tensor.register @layers.1.norm.weight : tensor<64xbf16> {source = "l1.norm"}

  // The step has the arguments of the batch, and all weights; logits are selected
  // at the end, since rows cannot be selected before the call yet.
  // CHECK-LABEL: func.func @step
  // CHECK-SAME: (%[[IDS:.*]]: tensor<?xi32>, %[[POS:.*]]: tensor<?xi32>, %[[OFFS:.*]]: tensor<?xi32>, %[[LENS:.*]]: tensor<?xi32>, %[[SLOTS:.*]]: tensor<?xi32>, %[[TABLES:.*]]: tensor<?x?xi32>, %[[ROWS:.*]]: tensor<?xi32>, %[[CACHE:.*]]: !llm.paged_kv_cache<bf16, 2, 2, 16, 32, 128>)
  // CHECK-SAME: -> (tensor<?x256xf32>, !llm.paged_kv_cache<bf16, 2, 2, 16, 32, 128>)
  // CHECK: %[[EMBED:.*]] = llm.weight @model.embed_tokens.weight : tensor<256x64xbf16>
  // CHECK: %[[NW0:.*]] = llm.weight @layers.0.norm.weight
  // CHECK: llm.weight @layers.1.o.weight : !llm.quantized_tensor<
  // CHECK: %[[R:.*]]:2 = call @model(%[[IDS]], %[[POS]], %[[OFFS]], %[[LENS]], %[[SLOTS]], %[[TABLES]], %[[CACHE]], %[[EMBED]], %[[NW0]],
  // CHECK: %[[S:.*]] = llm.select_rows %[[R]]#0, %[[ROWS]] : tensor<?x64xf32>
  // CHECK: %[[L:.*]] = llm.linear %[[S]], %[[EMBED]] : tensor<?x64xf32>, tensor<256x64xbf16> -> tensor<?x256xf32>
  // CHECK: return %[[L]], %[[R]]#1
  mllm.graph.subgraph @llama(%ids: tensor<?xi64>) -> tensor<?x256xf32> attributes {entry} {
    %0 = mllm.graph.call_graph @model(%ids) : (tensor<?xi64>) -> tensor<?x64xf32>
    %1 = mllm.linalg.linear %0, @model.embed_tokens.weight : tensor<?x64xf32> -> tensor<?x256xf32>
    mllm.cf.return %1 : tensor<?x256xf32>
  }

  // CHECK-LABEL: func.func private @model(
  // CHECK-NOT: llm.layer
  // CHECK: %[[X:.*]] = llm.embedding
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[Y:.*]]:2 = call @layers.0(%[[X]], %{{.*}}, %[[C0]],
  // CHECK: %[[C1:.*]] = arith.constant 1 : index
  // CHECK: %[[Z:.*]]:2 = call @layers.1(%[[Y]]#0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]]#1, %[[C1]],
  // CHECK: %[[N:.*]] = llm.rms_norm %[[Z]]#0
  // CHECK: return %[[N]], %[[Z]]#1
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x64xf32> {
    %0 = mllm.linalg.embedding %ids, @model.embed_tokens.weight : tensor<?xi64> -> tensor<?x64xf32>
    %1 = mllm.graph.call_graph @layers.0(%0) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    %2 = mllm.graph.call_graph @layers.1(%1) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    %3 = mllm.linalg.rms_norm %2, @model.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    mllm.cf.return %3 : tensor<?x64xf32>
  }

  // CHECK-LABEL: func.func private @layers.0(
  // CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?x?xi32>, %[[C:.*]]: !llm.paged_kv_cache<{{.*}}>, %[[LAYER:.*]]: index, %[[NW:.*]]: tensor<64xbf16>,
  // CHECK-SAME: attributes {llm.layer}
  // CHECK-NEXT: %[[N:.*]] = llm.rms_norm %[[X]], %[[NW]]
  // CHECK-NEXT: %[[A:.*]]:2 = call @layers.0.attn(%[[N]], %{{.*}}, %[[C]], %[[LAYER]],
  // CHECK-NEXT: %[[SUM:.*]] = llm.add %[[X]], %[[A]]#0
  // CHECK-NEXT: return %[[SUM]], %[[A]]#1
  mllm.graph.subgraph @layers.0(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %0 = mllm.linalg.rms_norm %x, @layers.0.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    %1 = mllm.graph.call_graph @layers.0.attn(%0) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    %2 = mllm.linalg.add %x, %1 : tensor<?x64xf32>
    mllm.cf.return %2 : tensor<?x64xf32>
  }

  // CHECK-LABEL: func.func private @layers.0.attn(
  // CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[POS:.*]]: tensor<?xi32>, %[[OFFS:.*]]: tensor<?xi32>, %[[LENS:.*]]: tensor<?xi32>, %[[SLOTS:.*]]: tensor<?xi32>, %[[TABLES:.*]]: tensor<?x?xi32>, %[[C:.*]]: !llm.paged_kv_cache<{{.*}}>, %[[LAYER:.*]]: index, %[[QW:.*]]: tensor<64x64xbf16>, %[[QB:.*]]: tensor<64xf32>,
  // CHECK-NOT: llm.layer
  // CHECK: %[[Q:.*]] = llm.linear %[[X]], %[[QW]] bias %[[QB]]
  // CHECK: %[[QH:.*]] = tensor.expand_shape %[[Q]] {{\[\[0\], \[1, 2\]\]}} output_shape [%{{.*}}, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  // CHECK: %[[QR:.*]] = llm.rope %[[QH]], %[[POS]] {frequencies = array<f64: 1.000000e+00, 1.000000e-01>, scaling = 1.250000e+00 : f64}
  // CHECK: %[[KR:.*]] = llm.rope %{{.*}}, %[[POS]] {frequencies = array<f64: 1.000000e+00, 1.000000e-01>}
  // CHECK: %[[C2:.*]] = llm.append_kv %[[C]], %[[KR]], %{{.*}} slots(%[[SLOTS]]) layer(%[[LAYER]])
  // CHECK: %[[A:.*]] = llm.paged_attention %[[QR]], %[[C2]], %[[TABLES]], %[[LENS]] offsets(%[[OFFS]]) layer(%[[LAYER]]) {scale = 2.500000e-01 : f64}
  // CHECK: %[[M:.*]] = tensor.collapse_shape %[[A]] {{\[\[0\], \[1, 2\]\]}} : tensor<?x4x16xf32> into tensor<?x64xf32>
  // CHECK: %[[O:.*]] = llm.linear %[[M]]
  // CHECK: return %[[O]], %[[C2]]
  mllm.graph.subgraph @layers.0.attn(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %q = mllm.linalg.linear %x, @layers.0.q.weight bias @q.bias : tensor<?x64xf32> -> tensor<?x64xf32>
    %k = mllm.linalg.linear %x, @layers.0.k.weight : tensor<?x64xf32> -> tensor<?x32xf32>
    %v = mllm.linalg.linear %x, @layers.0.v.weight : tensor<?x64xf32> -> tensor<?x32xf32>
    %qh = mllm.linalg.view %q : tensor<?x64xf32> -> tensor<?x4x16xf32>
    %kh = mllm.linalg.view %k : tensor<?x32xf32> -> tensor<?x2x16xf32>
    %vh = mllm.linalg.view %v : tensor<?x32xf32> -> tensor<?x2x16xf32>
    %qr = mllm.linalg.rope %qh {frequencies = array<f64: 1.0, 0.1>, scaling = 1.25 : f64} : tensor<?x4x16xf32>
    %kr = mllm.linalg.rope %kh {frequencies = array<f64: 1.0, 0.1>, scaling = 1.0 : f64} : tensor<?x2x16xf32>
    %keys, %values = mllm.linalg.kv_cache %kr, %vh {layer = 0 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
    %a = mllm.linalg.flash_attention2 %qr, %keys, %values {causal = true, scale = 0.25 : f64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
    %m = mllm.linalg.view %a : tensor<?x4x16xf32> -> tensor<?x64xf32>
    %o = mllm.linalg.linear %m, @layers.0.o.weight : tensor<?x64xf32> -> tensor<?x64xf32>
    mllm.cf.return %o : tensor<?x64xf32>
  }

  mllm.graph.subgraph @layers.1(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %0 = mllm.linalg.rms_norm %x, @layers.1.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
    %1 = mllm.graph.call_graph @layers.1.attn(%0) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    %2 = mllm.linalg.add %x, %1 : tensor<?x64xf32>
    mllm.cf.return %2 : tensor<?x64xf32>
  }

  mllm.graph.subgraph @layers.1.attn(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %q = mllm.linalg.linear %x, @layers.1.q.weight bias @q.bias : tensor<?x64xf32> -> tensor<?x64xf32>
    %k = mllm.linalg.linear %x, @layers.1.k.weight : tensor<?x64xf32> -> tensor<?x32xf32>
    %v = mllm.linalg.linear %x, @layers.1.v.weight : tensor<?x64xf32> -> tensor<?x32xf32>
    %qh = mllm.linalg.view %q : tensor<?x64xf32> -> tensor<?x4x16xf32>
    %kh = mllm.linalg.view %k : tensor<?x32xf32> -> tensor<?x2x16xf32>
    %vh = mllm.linalg.view %v : tensor<?x32xf32> -> tensor<?x2x16xf32>
    %qr = mllm.linalg.rope %qh {frequencies = array<f64: 1.0, 0.1>, scaling = 1.25 : f64} : tensor<?x4x16xf32>
    %kr = mllm.linalg.rope %kh {frequencies = array<f64: 1.0, 0.1>, scaling = 1.0 : f64} : tensor<?x2x16xf32>
    %keys, %values = mllm.linalg.kv_cache %kr, %vh {layer = 1 : i64} : (tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> (tensor<?x2x16xf32>, tensor<?x2x16xf32>)
    %a = mllm.linalg.flash_attention2 %qr, %keys, %values {causal = true, scale = 0.25 : f64} : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>) -> tensor<?x4x16xf32>
    %m = mllm.linalg.view %a : tensor<?x4x16xf32> -> tensor<?x64xf32>
    %o = mllm.linalg.linear %m, @layers.1.o.weight : tensor<?x64xf32> -> tensor<?x64xf32>
    mllm.cf.return %o : tensor<?x64xf32>
  }

  // Subgraphs that the entry does not reach are not part of the step.
  // CHECK-NOT: mllm.graph.subgraph
  // CHECK-NOT: @unreached
  mllm.graph.subgraph @unreached(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    mllm.cf.return %x : tensor<?x64xf32>
  }
}

// The context's length and the cache's default element type.
// CONTEXT: func.func @step({{.*}}: !llm.paged_kv_cache<f32, 2, 2, 16, 16, 48>)

// After stage 4, two functions remain, and the norm processes selected rows only.
// OPTIMIZED-LABEL: func.func @step(
// OPTIMIZED: %[[X:.*]] = llm.embedding
// OPTIMIZED-NEXT: %[[A:.*]]:2 = call @layers.0(%[[X]], {{.*}}, %c0,
// OPTIMIZED-NEXT: %[[B:.*]]:2 = call @layers.0(%[[A]]#0, {{.*}}, %[[A]]#1, %c1,
// OPTIMIZED-NEXT: %[[S:.*]] = llm.select_rows %[[B]]#0
// OPTIMIZED-NEXT: %[[N:.*]] = llm.rms_norm %[[S]]
// OPTIMIZED-NEXT: %[[L:.*]] = llm.linear %[[N]]
// OPTIMIZED-NEXT: return %[[L]], %[[B]]#1
// OPTIMIZED: func.func private @layers.0(
// OPTIMIZED: llm.append_kv
// OPTIMIZED: llm.paged_attention
// OPTIMIZED-NOT: call @
// OPTIMIZED-NOT: func.func
