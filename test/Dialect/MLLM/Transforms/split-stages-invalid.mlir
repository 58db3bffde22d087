// RUN: llmir-opt %s --mllm-split-stages=stages=3 --split-input-file --verify-diagnostics

// expected-error@+1 {{has no subgraph marked 'entry' to split into stages}}
module {
}

// -----

// expected-error@+1 {{has 1 ops, too few for 3 stages; inline its subgraphs first (mllm-inline-subgraphs)}}
mllm.graph.subgraph @model(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry} {
  %0 = mllm.linalg.silu %x : tensor<?x4xf32>
  mllm.cf.return %0 : tensor<?x4xf32>
}
