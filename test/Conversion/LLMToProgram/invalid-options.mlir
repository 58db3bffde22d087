// RUN: not llmir-opt %s --convert-llm-to-program=token-budget=-7 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not llmir-opt %s --convert-llm-to-program=max-logit-rows=0 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not llmir-opt %s --llmir-program-stage=token-budget=0 2>&1 | FileCheck %s --check-prefix=STAGE

// BUDGET: error: token-budget must be positive, not -7
// ROWS: error: max-logit-rows must be positive, not 0
// STAGE: error: token-budget must be positive, not 0
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
