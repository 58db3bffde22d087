// RUN: split-file %s %t
// RUN: not llmir-opt %t/verify.mlir 2>&1 | FileCheck %s --check-prefix=VERIFY
// RUN: not llmir-opt %t/specialize.mlir --mllm-specialize=sizes=seq=6 2>&1 | FileCheck %s --check-prefix=SPECIALIZE
// RUN: not llmir-opt %t/refuse.mlir --llmir-llm-stage 2>&1 | FileCheck %s --check-prefix=REFUSE
// RUN: not llmir-opt %t/function.mlir --convert-mllm-to-llm=form=function --llmir-function-stage --llmir-program-stage 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not llmir-opt %t/plan.mlir --llmir-llm-stage --llmir-optimize-stage --llmir-program-stage 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not llmir-opt %t/parameter.mlir --llmir-llm-stage --llmir-optimize-stage --llmir-program-stage 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not llmir-opt %t/emit.mlir --llmir-llm-stage --llmir-optimize-stage --llmir-program-stage --llmir-kernel-stage 2>&1 | FileCheck %s --check-prefix=EMIT

// Diagnostics of all stages name the layer of the model: a trace records in
// each op's location the module that created it, and every stage hands that on.

// VERIFY: error: loc("model.layers.3.mlp.down_proj"): 'mllm.linalg.linear' op weight @down has shape 8x9, but the op needs 8x8
// SPECIALIZE: error: loc("model.layers.3.mlp.merge"): 'mllm.linalg.reshape' op
// REFUSE: error: loc("model.layers.3.mlp.act_fn"): 'mllm.linalg.softmax' op combines different tokens
// FUNCTION: error: loc("model.layers.3.mlp.down_proj"): 'mllm.linalg.linear' op has the type 'tensor<?x8xf32>'
// PLAN: error: loc("model.layers.3.mlp.scale"): 'linalg.generic' op reads a constant of type 'tensor<8xi32>'
// PARAMETER: error: loc("model.layers.3.mlp.down_proj.weight"): 'mllm.tensor.register' op has no 'source'
// EMIT: error: loc(fused["model.layers.3.self_attn.kv_cache", "model.layers.3.self_attn.attention"]): 'mllm.kernel.paged_attention' op has heads of 8192

//--- verify.mlir
mllm.tensor.register @down : tensor<8x9xf32> {source = "down"} loc("model.layers.3.mlp.down_proj.weight")
mllm.graph.subgraph @model.layers.3.mlp(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = mllm.linalg.linear %x, @down : tensor<?x8xf32> -> tensor<?x8xf32> loc("model.layers.3.mlp.down_proj")
  mllm.cf.return %y : tensor<?x8xf32>
}

//--- specialize.mlir
mllm.graph.subgraph @model.layers.3.mlp(%x: tensor<?xf32, #mllm.tensor<dims = (seq)>>) -> tensor<?x4xf32> {
  %y = mllm.linalg.reshape %x {shape = array<i64: -1, 4>} : tensor<?xf32, #mllm.tensor<dims = (seq)>> -> tensor<?x4xf32> loc("model.layers.3.mlp.merge")
  mllm.cf.return %y : tensor<?x4xf32>
}

//--- refuse.mlir
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %y = mllm.linalg.softmax %x {axis = 0 : i64} : tensor<?x8xf32> loc("model.layers.3.mlp.act_fn")
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

//--- function.mlir
mllm.tensor.register @down : tensor<8x8xf32> loc("model.layers.3.mlp.down_proj.weight")
mllm.graph.subgraph @model.layers.3.mlp(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = mllm.linalg.linear %x, @down : tensor<?x8xf32> -> tensor<?x8xf32> loc("model.layers.3.mlp.down_proj")
  mllm.cf.return %y : tensor<?x8xf32>
} loc("model.layers.3.mlp")

//--- plan.mlir
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %c = mllm.tensor.constant dense<16777217> : tensor<8xi32>
    %f = mllm.linalg.cast_type %c to f32 : tensor<8xi32> -> tensor<8xf32> loc("model.layers.3.mlp.scale")
    %y = mllm.linalg.mul %x, %f : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

//--- parameter.mlir
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 2 : i64, num_kv_heads = 2 : i64, head_dim = 4 : i64, hidden_size = 8 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
  mllm.tensor.register @down : tensor<8x8xf32> loc("model.layers.3.mlp.down_proj.weight")
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
    %y = mllm.linalg.linear %x, @down : tensor<?x8xf32> -> tensor<?x8xf32> loc("model.layers.3.mlp.down_proj")
    mllm.cf.return %y : tensor<?x8xf32>
  }
}

//--- emit.mlir
module attributes {mllm.model = {architecture = "llama", num_layers = 1 : i64, num_heads = 1 : i64, num_kv_heads = 1 : i64, head_dim = 8192 : i64, hidden_size = 8192 : i64, intermediate_size = 8 : i64, vocab_size = 8 : i64, context_length = 16 : i64}} {
  mllm.tensor.register @embed : tensor<8x8192xf32> {source = "embed"}
  mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
    %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8192xf32>
    %h = mllm.linalg.view %x : tensor<?x8192xf32> -> tensor<?x1x8192xf32>
    %k, %v = mllm.linalg.kv_cache %h, %h {layer = 0 : i64} : (tensor<?x1x8192xf32>, tensor<?x1x8192xf32>) -> (tensor<?x1x8192xf32>, tensor<?x1x8192xf32>) loc("model.layers.3.self_attn.kv_cache")
    %a = mllm.linalg.flash_attention2 %h, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<?x1x8192xf32>, tensor<?x1x8192xf32>, tensor<?x1x8192xf32>) -> tensor<?x1x8192xf32> loc("model.layers.3.self_attn.attention")
    %m = mllm.linalg.view %a : tensor<?x1x8192xf32> -> tensor<?x8192xf32>
    %y = mllm.linalg.linear %m, @embed : tensor<?x8192xf32> -> tensor<?x8xf32>
    mllm.cf.return %y : tensor<?x8xf32>
  }
}
