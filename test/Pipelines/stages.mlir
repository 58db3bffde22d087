// RUN: llmir-opt %s --llmir-llm-stage="kv-element-type=bf16 context-length=64" --llmir-optimize-stage | FileCheck %s --check-prefix=STEP
// RUN: llmir-opt %s --llmir-llm-stage="kv-element-type=bf16" --llmir-optimize-stage --llmir-program-stage="token-budget=16 max-logit-rows=2" | FileCheck %s --check-prefix=PROGRAM
// RUN: llmir-opt %s --llmir-llm-stage --llmir-optimize-stage --llmir-program-stage --llmir-kernel-stage="level=x86-64-v3" --llmir-llvm-stage | FileCheck %s --check-prefix=LLVM --implicit-check-not=mllm.program --implicit-check-not=func.func --implicit-check-not=memref --implicit-check-not=unrealized
// RUN: llmir-opt %s --llmir-llm-stage --llmir-optimize-stage --llmir-program-stage --llmir-kernel-stage --llmir-llvm-stage | mlir-translate --mlir-to-llvmir | llc -mcpu=x86-64-v4 -filetype=obj -relocation-model=pic -o %t.o
// RUN: llvm-nm -u %t.o | count 0

// The stages after the frontend as pipelines of llmir-opt, from a traced model
// of two layers to an object.

// SPEC: 21
// STEP: func.func @step(
// STEP-SAME: !llm.paged_kv_cache<bf16, 2, 1, 16, 16, 64>
// STEP: call @layers.0(
// STEP: call @layers.0(
// STEP: func.func private @layers.0(
// STEP-NOT: func.func

// PROGRAM: weight @layers.0.w {{.*}} sources ["l0", "l1"]
// PROGRAM: fragment @llmir_step code attributes {arena_bytes = {{[0-9]+}} : i64, decode_tokens = 8 : i64, worker_bytes = {{[0-9]+}} : i64}
// PROGRAM: buffer offset {{[0-9]+}} : memref<16x16xf32>
// PROGRAM: logits : memref<2x48xf32>
// PROGRAM: jump_next_layer "layers.0" below 2

// An object of machine code with no symbol that is not its own: the last two RUN lines.
// SPEC: 22 91 192 193
// LLVM: llvm.func @llmir_step(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)

module attributes {mllm.model = {architecture = "llama", num_layers = 2 : i64, num_heads = 1 : i64, num_kv_heads = 1 : i64, head_dim = 16 : i64, hidden_size = 16 : i64, intermediate_size = 16 : i64, vocab_size = 40 : i64, context_length = 128 : i64}} {
  mllm.tensor.register @embed : tensor<40x16xbf16> {source = "embed"}
  mllm.tensor.register @layers.0.w : tensor<16x16xbf16> {source = "l0"}
  mllm.tensor.register @layers.1.w : tensor<16x16xbf16> {source = "l1"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x40xf32> attributes {entry} {
    %0 = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x16xf32>
    %1 = mllm.graph.call_graph @layers.0(%0) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    %2 = mllm.graph.call_graph @layers.1(%1) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    %3 = mllm.linalg.linear %2, @embed : tensor<?x16xf32> -> tensor<?x40xf32>
    mllm.cf.return %3 : tensor<?x40xf32>
  }
  mllm.graph.subgraph @layers.0(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
    %0 = mllm.linalg.linear %x, @layers.0.w : tensor<?x16xf32> -> tensor<?x16xf32>
    %1 = mllm.linalg.view %0 : tensor<?x16xf32> -> tensor<?x1x16xf32>
    %2 = mllm.linalg.rope %1 {frequencies = array<f64: 1.0, 0.1>, scaling = 1.0 : f64} : tensor<?x1x16xf32>
    %keys, %values = mllm.linalg.kv_cache %2, %1 {layer = 0 : i64} : (tensor<?x1x16xf32>, tensor<?x1x16xf32>) -> (tensor<?x1x16xf32>, tensor<?x1x16xf32>)
    %3 = mllm.linalg.flash_attention2 %2, %keys, %values {causal = true, scale = 0.25 : f64} : (tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?x1x16xf32>) -> tensor<?x1x16xf32>
    %4 = mllm.linalg.view %3 : tensor<?x1x16xf32> -> tensor<?x16xf32>
    %5 = mllm.linalg.silu %4 : tensor<?x16xf32>
    %6 = mllm.linalg.add %x, %5 : tensor<?x16xf32>
    mllm.cf.return %6 : tensor<?x16xf32>
  }
  mllm.graph.subgraph @layers.1(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
    %0 = mllm.linalg.linear %x, @layers.1.w : tensor<?x16xf32> -> tensor<?x16xf32>
    %1 = mllm.linalg.view %0 : tensor<?x16xf32> -> tensor<?x1x16xf32>
    %2 = mllm.linalg.rope %1 {frequencies = array<f64: 1.0, 0.1>, scaling = 1.0 : f64} : tensor<?x1x16xf32>
    %keys, %values = mllm.linalg.kv_cache %2, %1 {layer = 1 : i64} : (tensor<?x1x16xf32>, tensor<?x1x16xf32>) -> (tensor<?x1x16xf32>, tensor<?x1x16xf32>)
    %3 = mllm.linalg.flash_attention2 %2, %keys, %values {causal = true, scale = 0.25 : f64} : (tensor<?x1x16xf32>, tensor<?x1x16xf32>, tensor<?x1x16xf32>) -> tensor<?x1x16xf32>
    %4 = mllm.linalg.view %3 : tensor<?x1x16xf32> -> tensor<?x16xf32>
    %5 = mllm.linalg.silu %4 : tensor<?x16xf32>
    %6 = mllm.linalg.add %x, %5 : tensor<?x16xf32>
    mllm.cf.return %6 : tensor<?x16xf32>
  }
}
