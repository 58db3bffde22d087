// RUN: not llmir-opt %s --mllm-synchronize-program=decode-tokens=-3 2>&1 | FileCheck %s
// CHECK: error: decode-tokens must be at least 0, not -3
module {}
