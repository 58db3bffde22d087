// RUN: llmir-opt %s --convert-program-to-llvm | FileCheck %s

// A program that sets fields of the step context modifies a copy, which is
// passed to kernels; the runtime gets the caller's context.

llvm.func @k(%ctx: !llvm.ptr, %worker: i64, %workers: i64, %layer: i64, %x: !llvm.ptr) {
  llvm.return
}

// CHECK: llvm.func @llmir_step(%[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64) {
// CHECK: %[[WORDS:.*]] = llvm.mlir.constant(25 : i64)
// CHECK: %[[COPY:.*]] = llvm.alloca %[[WORDS]] x i64 {alignment = 8 : i64}
// CHECK: llvm.getelementptr %[[CTX]][0]
// CHECK: llvm.getelementptr %[[COPY]][0]
// CHECK: llvm.getelementptr %[[CTX]][24]
// CHECK: llvm.getelementptr %[[COPY]][24]
// CHECK: %[[X:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
mllm.program.fragment @llmir_step code {
  %x = mllm.program.buffer offset 512 : memref<1x16xi32>
  // Declarations generate no code.
  mllm.program.input "arg0" (%x) columns 3 : memref<1x16xi32>
  mllm.program.entry_point
  // CHECK: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i64)
  // CHECK-NEXT: %[[TOKENS:.*]] = llvm.getelementptr %[[COPY]][6]
  // CHECK: llvm.store %[[SEVEN]], %[[TOKENS]]
  mllm.program.set_field num_tokens to 7
  // CHECK: %[[IDS:.*]] = llvm.getelementptr %[[COPY]][9]
  // CHECK: llvm.store %[[X]], %[[IDS]]
  mllm.program.set_field token_ids at %x : memref<1x16xi32>
  // CHECK: llvm.call @k(%[[COPY]], %[[WORKER]], %[[WORKERS]], %{{.*}}, %[[X]])
  mllm.program.instruction {
    mllm.program.call @k(%x) : memref<1x16xi32>
  }
  // CHECK: llvm.call %{{.*}}(%[[CTX]], %[[WORKER]]) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  mllm.program.barrier
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %[[WORKER]], %[[ZERO]]
  // CHECK: llvm.cond_br %[[FIRST]], ^[[CALL:.*]], ^[[AFTER:.*]]
  // CHECK: ^[[CALL]]:
  // CHECK: %[[COUNT:.*]] = llvm.mlir.constant(3 : i64)
  // CHECK: %[[FREE_AT:.*]] = llvm.getelementptr %{{.*}}[6]
  // CHECK: %[[FREE:.*]] = llvm.load %[[FREE_AT]]
  // CHECK: llvm.call %[[FREE]](%[[CTX]], %[[X]], %[[COUNT]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK: llvm.br ^[[AFTER]]
  // CHECK: ^[[AFTER]]:
  mllm.program.runtime_call free_kv (%x) [3 : i64] : memref<1x16xi32>
  // CHECK: %[[OLD_AT:.*]] = llvm.getelementptr %[[CTX]][6]
  // CHECK: %[[OLD:.*]] = llvm.load %[[OLD_AT]]
  // CHECK: %[[NEW_AT:.*]] = llvm.getelementptr %[[COPY]][6]
  // CHECK: llvm.store %[[OLD]], %[[NEW_AT]]
  mllm.program.set_field num_tokens restored
  mllm.program.output "result0" (%x) columns 3 : memref<1x16xi32>
  // CHECK: llvm.return
  mllm.program.exit
}
