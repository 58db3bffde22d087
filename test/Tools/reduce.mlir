// RUN: llmir-reduce %s -llm-reduction='test=%S/Inputs/has-rms-norm.sh' | FileCheck %s
// RUN: llmir-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-rms-norm.sh' | FileCheck %s --check-prefix=TREE
// RUN: not llmir-reduce %s -llm-reduction='test=/bin/true' 2>&1 | FileCheck %s --check-prefix=BORING
// RUN: not llmir-reduce %s -llm-reduction='test=%S/none.sh' 2>&1 | FileCheck %s --check-prefix=NONE

// BORING: error: is not interesting to /bin/true: it must exit with a nonzero code
// NONE: error: cannot be tested: '{{.*}}none.sh' is not a program; give one with test=PROGRAM

// MLIR's own reduction removes the unused function.
// TREE-NOT: @unused
// TREE:     llm.rms_norm

// Two ops are left of one function, and the arguments that they need.
// CHECK-NOT:  llm.silu
// CHECK:      func.func @model(%{{[^,]*}}, %{{[^,]*}}) -> tensor<2x4xf32>
// CHECK-NEXT:   %[[NORM:.*]] = llm.rms_norm
// CHECK-NEXT:   %[[PRODUCT:.*]] = llm.mul %[[NORM]],
// CHECK-NEXT:   return %[[PRODUCT]]
// CHECK-NEXT: }
// CHECK-NOT:  func.func

func.func private @unused(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = llm.silu %x : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

func.func @model(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>, %n: tensor<4xf32>) -> (tensor<2x8xf32>, tensor<2x4xf32>) {
  %a = llm.silu %x : tensor<2x4xf32>
  %b = llm.add %a, %x : tensor<2x4xf32>
  %c = llm.rms_norm %b, %n {eps = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<4xf32>
  %d = llm.mul %c, %a : tensor<2x4xf32>
  %e = llm.linear %d, %w : tensor<2x4xf32>, tensor<8x4xf32> -> tensor<2x8xf32>
  %f = llm.silu %e : tensor<2x8xf32>
  return %f, %d : tensor<2x8xf32>, tensor<2x4xf32>
}
