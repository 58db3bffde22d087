// RUN: llmir-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(builtin.module(mllm-split-stages{stages=2}))"

module {
module {
  // expected-error@+1 {{has no body; link the module that defines it first}}
  mllm.graph.subgraph @model(tensor<?x4xf32>) -> tensor<?x4xf32> attributes {entry}
}
}
