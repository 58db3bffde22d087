// RUN: not llmir-opt %s --mllm-synchronize-program=few-tokens=-3 2>&1 | FileCheck %s
// CHECK: error: few-tokens must be at least 0, not -3
module {}
