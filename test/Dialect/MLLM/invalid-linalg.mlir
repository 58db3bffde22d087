// RUN: llmir-opt %s --split-input-file --verify-diagnostics

// The linalg level; the cases are named by the constraint that they break.

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // view_c1
  // expected-error@+1 {{operand has the dynamic sizes [?], but result has []}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<4x2x2xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // view_c2
  // expected-error@+1 {{operand's static sizes have the product 4, but result's have 6}}
  %0 = mllm.linalg.view %x : tensor<?x4xf32> -> tensor<?x2x3xf32>
  mllm.cf.return
}

// -----

mllm.graph.subgraph @f(%x: tensor<?x4xf32>) {
  // view_c2, a product that overflows
  // expected-error@+1 {{operand's static sizes have the product 4, but result's have too great a one}}
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
