// RUN: not llmir-opt %s --mllm-split-stages=stages=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not llmir-opt %s --mllm-split-stages=stages=-3 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not llmir-opt %s --mllm-outline-subgraphs=least=-4 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not llmir-opt %s --mllm-print-liveness=seq=-4 2>&1 | FileCheck %s --check-prefix=SEQ
// RUN: not llmir-opt %s --mllm-fold-constants=max-elements=-1 2>&1 | FileCheck %s --check-prefix=FOLD
// RUN: llmir-opt %s --mllm-split-stages=stages=1 --mllm-outline-subgraphs=least=0 --mllm-print-liveness=seq=0 --mllm-fold-constants=max-elements=0 -o /dev/null

// NONE: error: stages must be positive, not 0
// STAGES: error: stages must be positive, not -3
// LEAST: error: least must be at least 0, not -4
// SEQ: error: seq must be at least 0, not -4
// FOLD: error: max-elements must be at least 0, not -1
mllm.graph.subgraph @model(%x: tensor<4xf32>) -> tensor<4xf32> attributes {entry} {
  mllm.cf.return %x : tensor<4xf32>
}
