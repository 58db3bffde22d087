// RUN: llmir-opt %s --convert-llm-to-program --mllm-synchronize-program --split-input-file | FileCheck %s

// Branches and loops of functions are labels and jumps.

// The results have their own buffers, to which both branches copy; counts are
// set again after a label, where their values are unknown.
// CHECK: mllm.program.fragment @llmir_step code
// CHECK-DAG: input "arg0"(%[[C:.*]]) columns 1 : memref<1x16xi32>
// CHECK-DAG: input "arg1"(%[[X:.*]]) columns 16 : memref<3x16xf32>
// CHECK: entry_point
// CHECK-NEXT: jump_if "then0"(%[[C]])
// CHECK-NEXT: set_field num_tokens to 3
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[Z:[0-9]+]]{{[, ]}}{{.*}}label = "gelu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.copy_box {{.*}}%[[Z]]{{[, ]}}{{.*}}%[[R:[0-9]+]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: jump "end0"
// CHECK-NEXT: label "then0"
// CHECK-NEXT: set_field num_tokens to 3
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.copy_box {{.*}}%[[Y]]{{[, ]}}{{.*}}%[[R]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: label "end0"
// A result computed in the branch may be overwritten; a value from outside of
// the branch may not, even if it is not read later.
// CHECK-NEXT: set_field num_tokens to 3
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[R]]{{[, ]}}{{.*}}%[[R]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: output "result0"(%[[R]])
// CHECK-NEXT: exit
func.func @branch(%c: tensor<i1>, %x: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %r = mllm.cf.if %c : tensor<i1> -> tensor<3x16xf32> {
    %y = llm.silu %x : tensor<3x16xf32>
    mllm.cf.yield %y : tensor<3x16xf32>
  } else {
    %z = llm.gelu %x : tensor<3x16xf32>
    mllm.cf.yield %z : tensor<3x16xf32>
  }
  %s = llm.silu %r : tensor<3x16xf32>
  return %s : tensor<3x16xf32>
}

// -----

// Values that a region reads must not be overwritten before its end: %y is read
// in each iteration, and after the loop.
// CHECK: mllm.program.fragment @llmir_step code
// CHECK-DAG: input "arg0"(%[[X:.*]]) columns 16
// CHECK-DAG: input "arg1"(%[[C:.*]]) columns 1
// CHECK: entry_point
// CHECK: kernel.elementwise {{.*}}%[[X]]{{[, ]}}{{.*}}%[[Y:[0-9]+]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK: kernel.copy_box {{.*}}%[[X]]{{[, ]}}{{.*}}%[[A:[0-9]+]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.copy_box {{.*}}%[[Y]]{{[, ]}}{{.*}}%[[B:[0-9]+]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: label "loop0"
// CHECK-NEXT: set_field num_tokens to 3
// Values computed in the condition remain in place, for the body and after the
// loop.
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[B]]{{[, ]}}{{.*}}%[[D:[0-9]+]]{{[, ]}}{{.*}}label = "silu_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: jump_if "body0"(%[[C]])
// CHECK-NEXT: barrier
// CHECK-NEXT: jump "end0"
// CHECK-NEXT: label "body0"
// CHECK-NEXT: set_field num_tokens to 3
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.elementwise {{.*}}%[[D]]{{[, ]}}{{.*}}%[[Y]]{{[, ]}}{{.*}}%[[E:[0-9]+]]{{[, ]}}{{.*}}label = "add_16"
// CHECK: program.yield
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: {{^ +}$}}
// The values are swapped: one is copied to a temporary.
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.copy_box {{.*}}%[[A]]{{[, ]}}{{.*}}%[[ASIDE:[0-9]+]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.copy_box {{.*}}%[[E]]{{[, ]}}{{.*}}%[[A]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: instruction {
// CHECK-NEXT: kernel.copy_box {{.*}}%[[ASIDE]]{{[, ]}}{{.*}}%[[B]]{{[, ]}}{{.*}}label = "copy_box"
// CHECK-NEXT: {{^ +}$}}
// CHECK-NEXT: barrier
// CHECK-NEXT: jump "loop0"
// CHECK-NEXT: label "end0"
// CHECK-NEXT: output "result0"(%[[A]])
// CHECK-NEXT: output "result1"(%[[D]])
// CHECK-NEXT: exit
func.func @loop(%x: tensor<3x16xf32>, %c: tensor<i1>) -> (tensor<3x16xf32>, tensor<3x16xf32>) {
  %y = llm.silu %x : tensor<3x16xf32>
  %r:2 = mllm.cf.while (%x, %y) : (tensor<3x16xf32>, tensor<3x16xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>) {
  ^bb0(%a: tensor<3x16xf32>, %b: tensor<3x16xf32>):
    %d = llm.silu %b : tensor<3x16xf32>
    mllm.cf.yield %c, %a, %d : tensor<i1>, tensor<3x16xf32>, tensor<3x16xf32>
  } do {
  ^bb0(%a: tensor<3x16xf32>, %d: tensor<3x16xf32>):
    %e = llm.add %d, %y : tensor<3x16xf32>
    mllm.cf.yield %e, %a : tensor<3x16xf32>, tensor<3x16xf32>
  }
  return %r#0, %r#1 : tensor<3x16xf32>, tensor<3x16xf32>
}
