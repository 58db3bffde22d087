// RUN: not llmir-opt %s --llm-quantize=min-elements=-1 2>&1 | FileCheck %s --check-prefix=QUANTIZE
// RUN: not llmir-opt %s --pass-pipeline='builtin.module(func.func(llm-fold-constants{max-elements=-1}))' 2>&1 | FileCheck %s --check-prefix=FOLD
// RUN: not llmir-opt %s --llm-shard=num-ranks=-2 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not llmir-opt %s --llm-shard=num-stages=0 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: llmir-opt %s --llm-quantize=min-elements=0 --llm-shard="num-ranks=1 num-stages=1" -o /dev/null

// QUANTIZE: error: min-elements must be at least 0, not -1
// FOLD: error: max-elements must be at least 0, not -1
// RANKS: error: num-ranks must be positive, not -2
// STAGES: error: num-stages must be positive, not 0
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
