// Labels are blocks that take the layer register; jumps may be forward or
// backward.

// RUN: llmir-opt %s --convert-program-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @llmir_step(

// CHECK: llvm.br ^[[HEAD:.*]](%{{.*}} : i64)
// CHECK: ^[[HEAD]](%[[LAYER:.*]]: i64):
// CHECK: %[[WORD:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK: %[[JUMPS:.*]] = llvm.icmp "ne" %[[WORD]], %{{.*}} : i32
// CHECK: llvm.cond_br %[[JUMPS]], ^[[BODY:.*]](%[[LAYER]] : i64), ^[[AFTER:.*]]
// CHECK: ^[[AFTER]]:
// CHECK: llvm.br ^[[END:.*]](%[[LAYER]] : i64)
// CHECK: ^[[BODY]](%[[INNER:.*]]: i64):
// CHECK: llvm.call @work
// CHECK: llvm.br ^[[HEAD]](%[[INNER]] : i64)
// CHECK: ^[[END]](%{{.*}}: i64):
// CHECK-NEXT: llvm.return
llvm.func @work(%ctx: !llvm.ptr, %worker: i64, %workers: i64, %layer: i64, %x: !llvm.ptr) {
  llvm.return
}
mllm.program.fragment @llmir_step code attributes {arena_bytes = 64 : i64} {
  %more = mllm.program.buffer offset 0 : memref<1x16xi32>
  mllm.program.entry_point
  mllm.program.label "head"
  mllm.program.jump_if "body" (%more) : memref<1x16xi32>
  mllm.program.jump "end"
  mllm.program.label "body"
  mllm.program.instruction {
    mllm.program.call @work(%more) : memref<1x16xi32>
  }
  mllm.program.barrier
  mllm.program.jump "head"
  mllm.program.label "end"
  mllm.program.exit
}
