// RUN: llmir-opt %s --mllm-plan-memory --split-input-file --verify-diagnostics
// RUN: echo 'mllm.graph.subgraph @m(%%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} { %%0 = mllm.linalg.silu %%x : tensor<?x4xf32> mllm.cf.return %%0 : tensor<?x4xf32> }' | not llmir-opt --mllm-plan-memory='sizes=?=4611686018427387904' 2>&1 | FileCheck %s --check-prefix=SAID

// SAID: yields 'tensor<?x4xf32>', which exceeds the limit of 64 TiB

mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  // expected-error@+1 {{yields 'tensor<?x4xf32>', whose size is unknown; specify it with sizes=NAME=NUMBER (?=NUMBER for unnamed sizes)}}
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}

// -----

// expected-error@+1 {{is recursive, so its memory is unbounded}}
mllm.graph.subgraph @again(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = mllm.graph.call_graph @again(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  mllm.cf.return %0 : tensor<2x4xf32>
}

// -----

mllm.graph.subgraph @planned(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{exists already: memory has been planned}}
  %0 = mllm.tensor.alloc offset 0 : tensor<2x4xf32>
  mllm.tensor.free %0 : tensor<2x4xf32>
  mllm.cf.return %x : tensor<2x4xf32>
}

// -----

// A loop with more initial values than results.
mllm.graph.subgraph @fewer(%c: tensor<i1>, %x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{is not a supported branch or loop; its memory cannot be planned}}
  %0 = mllm.cf.while (%c, %x) : (tensor<i1>, tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%more: tensor<i1>, %a: tensor<2x4xf32>):
    mllm.cf.yield %more, %a : tensor<i1>, tensor<2x4xf32>
  } do {
  ^bb0(%a: tensor<2x4xf32>):
    %stop = mllm.tensor.constant dense<false> : tensor<i1>
    mllm.cf.yield %stop, %a : tensor<i1>, tensor<2x4xf32>
  }
  mllm.cf.return %0 : tensor<2x4xf32>
}

// -----

mllm.graph.subgraph @vast(%x: tensor<9223372036854775807x4xf32>) -> tensor<9223372036854775807x4xf32> attributes {entry} {
  // expected-error@+1 {{yields 'tensor<9223372036854775807x4xf32>', which exceeds the limit of 64 TiB; use smaller sizes}}
  %0 = mllm.linalg.silu %x : tensor<9223372036854775807x4xf32>
  mllm.cf.return %0 : tensor<9223372036854775807x4xf32>
}
