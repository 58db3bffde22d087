// A cache that grows by an unknown number of tokens has an unknown length,
// whatever it held before.
// RUN: llmir-opt %s --mllm-specialize=sizes=past=3 --split-input-file --verify-diagnostics

// The trip count is unknown.
mllm.graph.subgraph @turns(%n: tensor<i64>, %x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> attributes {entry} {
  %r = mllm.cf.for %n (%x) : (tensor<i64>, tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  ^bb0(%i: tensor<i64>, %s: tensor<1x2x4xf32>):
    // expected-error@+1 {{has a value of type 'tensor<?x2x4xf32>', whose size is known only at run time}}
    %k, %v = mllm.linalg.kv_cache %s, %s {layer = 0 : i64} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    %a = mllm.linalg.flash_attention2 %s, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<1x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<1x2x4xf32>
    mllm.cf.yield %a : tensor<1x2x4xf32>
  }
  mllm.cf.return %r : tensor<1x2x4xf32>
}

// -----

// In a subgraph that is called in the loop, and after the loop.
mllm.graph.subgraph @called(%c: tensor<i1>, %x: tensor<1x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<?x2x4xf32>) attributes {entry} {
  %r = mllm.cf.while (%x) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  ^bb0(%s: tensor<1x2x4xf32>):
    mllm.cf.yield %c, %s : tensor<i1>, tensor<1x2x4xf32>
  } do {
  ^bb0(%s: tensor<1x2x4xf32>):
    %a = mllm.graph.call_graph @append(%s) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
    mllm.cf.yield %a : tensor<1x2x4xf32>
  }
  // expected-error@+1 {{has a value of type 'tensor<?x2x4xf32>', whose size is known only at run time}}
  %k, %v = mllm.linalg.kv_cache %r, %r {layer = 0 : i64} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return %r, %k : tensor<1x2x4xf32>, tensor<?x2x4xf32>
}
mllm.graph.subgraph private @append(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %k, %v = mllm.linalg.kv_cache %x, %x {layer = 0 : i64} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  %a = mllm.linalg.flash_attention2 %x, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<1x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<1x2x4xf32>
  mllm.cf.return %a : tensor<1x2x4xf32>
}

// -----

// One branch appends, the other does not.
mllm.graph.subgraph @branches(%c: tensor<i1>, %x: tensor<1x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<?x2x4xf32>) attributes {entry} {
  %r = mllm.cf.if %c : tensor<i1> -> tensor<1x2x4xf32> {
    %k, %v = mllm.linalg.kv_cache %x, %x {layer = 0 : i64} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
    %a = mllm.linalg.flash_attention2 %x, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<1x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) -> tensor<1x2x4xf32>
    mllm.cf.yield %a : tensor<1x2x4xf32>
  } else {
    mllm.cf.yield %x : tensor<1x2x4xf32>
  }
  // expected-error@+1 {{has a value of type 'tensor<?x2x4xf32>', whose size is known only at run time}}
  %k, %v = mllm.linalg.kv_cache %x, %x {layer = 0 : i64} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>)
  mllm.cf.return %r, %k : tensor<1x2x4xf32>, tensor<?x2x4xf32>
}
