// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids 1,2 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids '1,x' 2>&1 | FileCheck %s --check-prefix=IDS
// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids '1;;2' 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not llmir-translate --interpret-model %s --checkpoint %t.none --ids=-1 2>&1 | FileCheck %s --check-prefix=SIGN
// RUN: echo 'module {}' | not llmir-translate --interpret-model --ids 1 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: echo 'mllm.graph.subgraph @m(%%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry} { mllm.cf.return %%x : tensor<4xf32> }' | not llmir-translate --interpret-model --ids 1 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: echo 'mllm.graph.subgraph @m(%%x: tensor<?xi3>) -> tensor<?xi3> attributes {entry} { mllm.cf.return %%x : tensor<?xi3> }' | not llmir-translate --interpret-model --ids 1 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: echo 'mllm.graph.subgraph @m(%%x: tensor<1xi64>) -> tensor<f32> attributes {entry} { %%0 = mllm.tensor.constant dense<1.0> : tensor<f32> mllm.cf.return %%0 : tensor<f32> }' | not llmir-translate --interpret-model --ids 1 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: sed 's/8x8xf32/1000000000x1000000000xf32/; s/x8xf32/x1000000000xf32/' %s | not llmir-translate --interpret-model --checkpoint %llmir_src/models/demo --ids 1 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: sed 's/8x8xf32/2305843009213693953x8xf32/' %s | not llmir-translate --interpret-model --checkpoint %llmir_src/models/demo --ids 1 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not llmir-translate --execute-model %s --checkpoint %llmir_src/models/demo --ids '1;2' 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not llmir-translate --execute-model %s --checkpoint %llmir_src/models/demo --ids '1' --level none 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: sed 's/tensor<?x/tensor<3x/g' %s | not llmir-translate --execute-model --checkpoint %llmir_src/models/demo --ids '1,2' 2>&1 | FileCheck %s --check-prefix=COUNT

// COUNT: takes ids of type 'tensor<3xi64>', but there are 2
// STEPS: --ids has 2 steps; a function starts with empty caches and runs one
// LEVEL: cannot be run: no code is generated for the CPU level 'none'
// NONE: there is no '{{.*}}none'
// IDS: --ids must be token ids separated by commas, with ; between steps, not '1,x'
// EMPTY: --ids must be token ids separated by commas, with ; between steps, not '1;;2'
// SIGN: --ids must be token ids separated by commas, with ; between steps, not '-1'
// ENTRY: has no model: no subgraph is marked entry
// KIND: does not map token ids [tokens] or [1, tokens] to logits
// SIZE: 'mllm.tensor.register' op has 1{{.*}}e+1{{.*}} elements, which need {{.*}} GB as float64 in addition to 0 GB of other parameters; the memory limit is {{.*}} GB

mllm.tensor.register @embed : tensor<8x8xf32> {source = "embed"}
mllm.graph.subgraph @model(%ids: tensor<?xi64>) -> tensor<?x8xf32> attributes {entry} {
  %x = mllm.linalg.embedding %ids, @embed : tensor<?xi64> -> tensor<?x8xf32>
  mllm.cf.return %x : tensor<?x8xf32>
}
