// RUN: llmir-opt %s --convert-mllm-to-llm | FileCheck %s
// RUN: llmir-opt %s --convert-mllm-to-llm --llm-inline-modules --canonicalize --cse | FileCheck %s --check-prefix=INLINED

// Features of GPT-2 that Llama does not have: learned positions, LayerNorm, GELU.

module attributes {mllm.model = {architecture = "gpt2", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 16 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @wte : tensor<8x8xf32> {source = "wte"}
  mllm.tensor.register @wpe : tensor<16x8xf32> {source = "wpe"}
  mllm.tensor.register @norm.weight : tensor<8xf32> {source = "norm.weight"}
  mllm.tensor.register @norm.bias : tensor<8xf32> {source = "norm.bias"}

  // CHECK-LABEL: func.func @step
  // CHECK-SAME: (%[[IDS:[a-z0-9]*]]: tensor<?xi32>, %[[POS:[a-z0-9]*]]: tensor<?xi32>, %{{.*}}: tensor<?xi32>,
  // CHECK: call @model(%[[IDS]], %[[POS]],
  // INLINED-LABEL: func.func @step
  // INLINED-SAME: (%[[IDS:[a-z0-9]*]]: tensor<?xi32>, %[[POS:[a-z0-9]*]]: tensor<?xi32>, %{{.*}}: tensor<?xi32>,
  // INLINED: llm.embedding %[[IDS]], %{{.*}} : tensor<?xi32>, tensor<8x8xf32>
  // INLINED: llm.embedding %[[POS]], %{{.*}} : tensor<?xi32>, tensor<16x8xf32>
  mllm.graph.subgraph @gpt2(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %0 = mllm.graph.call_graph @model(%ids) : (tensor<?xi64>) -> tensor<?x8xf32>
    %1 = mllm.linalg.linear %0, @wte : tensor<?x8xf32> -> tensor<?x8xf32>
    mllm.cf.return %1 : tensor<?x8xf32>
  }

  // CHECK-LABEL: func.func private @model(
  // CHECK-SAME: %[[IDS:[a-z0-9]*]]: tensor<?xi32>, %[[POS:[a-z0-9]*]]: tensor<?xi32>, %[[WTE:[a-z0-9]*]]: tensor<8x8xf32>, %[[WPE:[a-z0-9]*]]: tensor<16x8xf32>, %[[W:[a-z0-9]*]]: tensor<8xf32>, %[[B:[a-z0-9]*]]: tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: %[[X:[a-z0-9]*]] = llm.embedding %[[IDS]], %[[WTE]]
  // CHECK: %[[P:[a-z0-9]*]] = llm.embedding %[[POS]], %[[WPE]]
  // CHECK: %[[S:[a-z0-9]*]] = llm.add %[[X]], %[[P]]
  // CHECK: %[[N:[a-z0-9]*]] = llm.layer_norm %[[S]], %[[W]], %[[B]] {{.*}}: tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  // CHECK: %[[G:[a-z0-9]*]] = llm.gelu %[[N]] {approximate = "tanh"} : tensor<?x8xf32>
  // CHECK: llm.gelu %[[G]] : tensor<?x8xf32>
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> {
    %0 = mllm.linalg.embedding %ids, @wte : tensor<?xi64> -> tensor<?x8xf32>
    %1 = mllm.linalg.positions %ids : tensor<?xi64>
    %2 = mllm.linalg.embedding %1, @wpe : tensor<?xi64> -> tensor<?x8xf32>
    %3 = mllm.linalg.add %0, %2 : tensor<?x8xf32>
    %4 = mllm.linalg.layer_norm %3 weight @norm.weight bias @norm.bias {normalized_shape = array<i64: 8>, eps = 1.0e-5 : f64} : tensor<?x8xf32>
    %5 = mllm.linalg.gelu %4 : tensor<?x8xf32>
    %6 = mllm.linalg.gelu %5 {approximate = "none"} : tensor<?x8xf32>
    mllm.cf.return %6 : tensor<?x8xf32>
  }
}
