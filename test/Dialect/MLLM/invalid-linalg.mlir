// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// The linalg level; the cases are named by the constraint that they break.

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: view.c1
  // expected-error@+1 {{operand has the dynamic sizes [?], but result has []}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<4x2x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: view.c2
  // expected-error@+1 {{operand's static sizes have the product 4, but result's have 6}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<?x2x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: view.c2 (a product that overflows)
  // expected-error@+1 {{operand's static sizes have the product 4, but result's have one that overflows}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<?x4294967296x4294967296xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %y: tensor<?x5xf32>) {
  // expected-error@+1 {{the shapes [?, 4] and [?, 5] do not broadcast: sizes 4 and 5}}
  %0 = "mllm.linalg.add"(%x, %y) : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>, %y: tensor<?x5xf32>) {
  // expected-error@+1 {{the shapes [?, 4] and [?, 5] do not broadcast: sizes 4 and 5}}
  %0 = "mllm.linalg.mul"(%x, %y) : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // RULE: view.c3
  // expected-error@+1 {{yields 'tensor<?x2x2xf16>' for 'tensor<?x4xf32>', expected the same element type and device}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<?x2x2xf16>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<3x4xf32>) {
  // RULE: silu.c1
  // expected-error@+1 {{result #0 has type 'tensor<3x4xf16>', expected 'tensor<3x4xf32>'}}
  %0 = mllm.linalg.silu %x : tensor<3x4xf32> -> tensor<3x4xf16>
  mllm.cf.return
}
