// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids 1,2 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids '1,x' 2>&1 | FileCheck %s --check-prefix=IDS
// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids '1;;2' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids=-1 2>&1 | FileCheck %s --check-prefix=SIGN
// RUN: echo 'module {}' | not llmir-translate --interpret-model --ids 1 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: echo 'mllm.graph.subgraph @m(%%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry} { mllm.cf.return %%x : tensor<4xf32> }' | not llmir-translate --interpret-model --ids 1 2>&1 | FileCheck %s --check-prefix=KIND

// NONE: there is no '{{.*}}none'
// IDS: --ids must be token ids with commas between, and ; between steps, not '1,x'
// EMPTY: --ids must be token ids with commas between, and ; between steps, not '1;;2'
// SIGN: --ids must be token ids with commas between, and ; between steps, not '-1'
// ENTRY: has no model: no subgraph is marked entry
// KIND: is no model of token ids: it does not take them alone, as [tokens] or [1, tokens], to give logits

mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
  %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
  mllm.cf.return %x : tensor<?x8xf32>
}
