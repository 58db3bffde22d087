// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=head=none,*=int8,*.nothing=int4" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=q8,*.up=int4" 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=model.norm=int8,*=q8" 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=int8" 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=int9" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=int4:g0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=int8:g32:tensor" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=*=q8:a32" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=int8" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not llmir-opt %s --mllm-apply-recipe="recipe=,#nothing" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not llmir-opt %s --mllm-apply-recipe 2>&1 | FileCheck %s --check-prefix=EMPTY

// NOTHING: error: no projection of the model has a matrix that matches '*.nothing' of the recipe
// LATE: error: the recipe's '*.up' has no effect: earlier patterns match every matrix that it matches
// NORM: error: no projection of the model has a matrix that matches 'model.norm' of the recipe
// TABLE: error: {{.*}}@model.embed is also an embedding table, which supports q8, q4 or none, but not integers; start the recipe with head=q8, or head=none
// BITS: error: invalid scheme 'int9'
// ZERO: error: invalid scheme 'int4:g0'
// TWICE: error: invalid scheme 'int8:g32:tensor'
// BLOCKS: error: invalid scheme 'q8:a32'
// RULE: error: invalid rule 'int8' in the recipe; use PATTERN=SCHEME
// EMPTY: error: the recipe is empty

module {
mllm.tensor.register @model.embed : tensor<4x32xf32> {source = "e"}
mllm.tensor.register @model.up : tensor<32x32xf32> {source = "b"}
mllm.tensor.register @model.norm : tensor<32xf32> {source = "f"}
mllm.graph.subgraph @model(%ids: tensor<2xi64>) -> tensor<2x4xf32> attributes {entry} {
  %x = mllm.linalg.embedding %ids, @model.embed : tensor<2xi64> -> tensor<2x32xf32>
  %0 = mllm.linalg.rms_norm %x, @model.norm {eps = 1.0e-5 : f64} : tensor<2x32xf32>
  %1 = mllm.linalg.linear %0, @model.up : tensor<2x32xf32> -> tensor<2x32xf32>
  %2 = mllm.linalg.linear %1, @model.embed : tensor<2x32xf32> -> tensor<2x4xf32>
  mllm.cf.return %2 : tensor<2x4xf32>
}
}
