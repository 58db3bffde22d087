// RUN: not llmir-opt %s --mllm-specialize=sizes=?=2 2>&1 | FileCheck %s

// Nested loops whose iterations change a size: each is visited twice per visit
// of its parent.
// CHECK: 'mllm.cf.yield' op is beyond the limit of 5000000 inferred ops, counting nested loops repeatedly; inline less, or use fewer loops
mllm.graph.subgraph @deep(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
%r0 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i0: tensor<i64>, %a0: tensor<?xf32>):
%r1 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i1: tensor<i64>, %a1: tensor<?xf32>):
%r2 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i2: tensor<i64>, %a2: tensor<?xf32>):
%r3 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i3: tensor<i64>, %a3: tensor<?xf32>):
%r4 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i4: tensor<i64>, %a4: tensor<?xf32>):
%r5 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i5: tensor<i64>, %a5: tensor<?xf32>):
%r6 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i6: tensor<i64>, %a6: tensor<?xf32>):
%r7 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i7: tensor<i64>, %a7: tensor<?xf32>):
%r8 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i8: tensor<i64>, %a8: tensor<?xf32>):
%r9 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i9: tensor<i64>, %a9: tensor<?xf32>):
%r10 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i10: tensor<i64>, %a10: tensor<?xf32>):
%r11 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i11: tensor<i64>, %a11: tensor<?xf32>):
%r12 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i12: tensor<i64>, %a12: tensor<?xf32>):
%r13 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i13: tensor<i64>, %a13: tensor<?xf32>):
%r14 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i14: tensor<i64>, %a14: tensor<?xf32>):
%r15 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i15: tensor<i64>, %a15: tensor<?xf32>):
%r16 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i16: tensor<i64>, %a16: tensor<?xf32>):
%r17 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i17: tensor<i64>, %a17: tensor<?xf32>):
%r18 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i18: tensor<i64>, %a18: tensor<?xf32>):
%r19 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i19: tensor<i64>, %a19: tensor<?xf32>):
%r20 = mllm.cf.for %n (%x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32> {
^bb0(%i20: tensor<i64>, %a20: tensor<?xf32>):
%r21 = mllm.linalg.neg %x : tensor<?xf32>
%c20 = mllm.linalg.concat %a20, %r21 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c20 : tensor<?xf32>
}
%c19 = mllm.linalg.concat %a19, %r20 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c19 : tensor<?xf32>
}
%c18 = mllm.linalg.concat %a18, %r19 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c18 : tensor<?xf32>
}
%c17 = mllm.linalg.concat %a17, %r18 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c17 : tensor<?xf32>
}
%c16 = mllm.linalg.concat %a16, %r17 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c16 : tensor<?xf32>
}
%c15 = mllm.linalg.concat %a15, %r16 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c15 : tensor<?xf32>
}
%c14 = mllm.linalg.concat %a14, %r15 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c14 : tensor<?xf32>
}
%c13 = mllm.linalg.concat %a13, %r14 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c13 : tensor<?xf32>
}
%c12 = mllm.linalg.concat %a12, %r13 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c12 : tensor<?xf32>
}
%c11 = mllm.linalg.concat %a11, %r12 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c11 : tensor<?xf32>
}
%c10 = mllm.linalg.concat %a10, %r11 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c10 : tensor<?xf32>
}
%c9 = mllm.linalg.concat %a9, %r10 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c9 : tensor<?xf32>
}
%c8 = mllm.linalg.concat %a8, %r9 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c8 : tensor<?xf32>
}
%c7 = mllm.linalg.concat %a7, %r8 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c7 : tensor<?xf32>
}
%c6 = mllm.linalg.concat %a6, %r7 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c6 : tensor<?xf32>
}
%c5 = mllm.linalg.concat %a5, %r6 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c5 : tensor<?xf32>
}
%c4 = mllm.linalg.concat %a4, %r5 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c4 : tensor<?xf32>
}
%c3 = mllm.linalg.concat %a3, %r4 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c3 : tensor<?xf32>
}
%c2 = mllm.linalg.concat %a2, %r3 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c2 : tensor<?xf32>
}
%c1 = mllm.linalg.concat %a1, %r2 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c1 : tensor<?xf32>
}
%c0 = mllm.linalg.concat %a0, %r1 {dim = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
mllm.cf.yield %c0 : tensor<?xf32>
}
mllm.cf.return %r0 : tensor<?xf32>
}
