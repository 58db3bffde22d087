// RUN: llmir-opt %s --convert-program-to-llvm | FileCheck %s

// In a decode-sized step, per-worker buffers are after the arena, replicated
// kernels are called as for a single worker, and barriers with unless_decode
// are skipped.

llvm.func @k(%ctx: !llvm.ptr, %worker: i64, %workers: i64, %layer: i64, %x: !llvm.ptr, %y: !llvm.ptr) {
  llvm.return
}

// CHECK: llvm.func @llmir_step(%[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64) {
// CHECK: %[[ARENA_AT:.*]] = llvm.getelementptr %[[CTX]][1]
// CHECK: %[[ARENA:.*]] = llvm.load %[[ARENA_AT]]
// CHECK: %[[TOKENS_AT:.*]] = llvm.getelementptr %[[CTX]][6]
// CHECK: %[[TOKENS:.*]] = llvm.load %[[TOKENS_AT]]
// CHECK: %[[LIMIT:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[FEW:.*]] = llvm.icmp "sle" %[[TOKENS]], %[[LIMIT]]
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(8192 : i64)
// CHECK: %[[BEFORE:.*]] = llvm.mul %[[WORKER]], %[[BYTES]]
// CHECK: %[[ARENA_BYTES:.*]] = llvm.mlir.constant(1024 : i64)
// CHECK: %[[BEHIND:.*]] = llvm.getelementptr %[[ARENA]][%[[ARENA_BYTES]]]
// CHECK: %[[OWN:.*]] = llvm.getelementptr %[[BEHIND]][%[[BEFORE]]]
mllm.program.fragment @llmir_step code attributes {arena_bytes = 1024 : i64, decode_tokens = 4 : i64, worker_bytes = 8192 : i64} {
  // CHECK: %[[C0:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK: %[[X:.*]] = llvm.getelementptr %[[ARENA]][%[[C0]]]
  %x = mllm.program.buffer offset 0 : memref<8x16xf32>
  // CHECK: %[[C512:.*]] = llvm.mlir.constant(512 : i64)
  // CHECK: %[[MANY:.*]] = llvm.getelementptr %[[ARENA]][%[[C512]]]
  // CHECK: %[[C64:.*]] = llvm.mlir.constant(64 : i64)
  // CHECK: %[[MINE:.*]] = llvm.getelementptr %[[OWN]][%[[C64]]]
  // CHECK: %[[Y:.*]] = llvm.select %[[FEW]], %[[MINE]], %[[MANY]]
  %y = mllm.program.buffer offset 512 per_worker at 64 : memref<8x16xf32>
  mllm.program.entry_point
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK: %[[FIRST:.*]] = llvm.select %[[FEW]], %[[ZERO]], %[[WORKER]]
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK: %[[COUNT:.*]] = llvm.select %[[FEW]], %[[ONE]], %[[WORKERS]]
  // CHECK: llvm.call @k(%[[CTX]], %[[FIRST]], %[[COUNT]], %{{.*}}, %[[X]], %[[Y]])
  mllm.program.instruction replicated {
    mllm.program.call @k(%x, %y) : memref<8x16xf32>, memref<8x16xf32>
  }
  // CHECK: llvm.cond_br %[[FEW]], ^[[AFTER:.*]], ^[[WAIT:.*]]
  // CHECK: ^[[WAIT]]:
  // CHECK: llvm.call %{{.*}}(%[[CTX]], %[[WORKER]]) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  // CHECK: ^[[AFTER]]:
  mllm.program.barrier unless_decode
  // CHECK: llvm.call @k(%[[CTX]], %[[WORKER]], %[[WORKERS]], %{{.*}}, %[[Y]], %[[X]])
  mllm.program.instruction {
    mllm.program.call @k(%y, %x) : memref<8x16xf32>, memref<8x16xf32>
  }
  mllm.program.exit
}
