// RUN: llmir-opt %s --convert-program-to-llvm | FileCheck %s

// A program becomes one function that every worker runs. The step context's
// fields are eight-byte words: runtime table 0, arena 1, weights 2, logits 17,
// trace 19. If the latter is not null, the worker reports the completion of
// each instruction and barrier, which are numbered.

mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}

mllm.program.fragment @weights data {
  mllm.program.weight @one "tiles16" "f32" [16, 16] bytes 1024 sources ["a"] at [4096]
  mllm.program.weight @many "tiles16" "f32" [16, 16] bytes 1024 sources ["b", "c", "d"] at [0, 1024, 2048] first_layer 2
}

// Kernels are called with the context, the worker, the layer, then addresses.
// CHECK: llvm.func internal @linear(
llvm.func @linear(%ctx: !llvm.ptr, %worker: i64, %workers: i64, %layer: i64, %w: !llvm.ptr, %x: !llvm.ptr, %y: !llvm.ptr) {
  llvm.return
}

// Only the table of offsets grows with the number of layers.
// CHECK: llvm.mlir.global internal constant @offsets.many(dense<[0, 1024, 2048]> : tensor<3xi64>)

// SPEC: 25 193
// CHECK: llvm.func @llmir_step(%[[CTX:.*]]: !llvm.ptr, %[[WORKER:.*]]: i64, %[[WORKERS:.*]]: i64) {
mllm.program.fragment @llmir_step code {
  // CHECK: %[[ARENA_AT:.*]] = llvm.getelementptr %[[CTX]][1] : (!llvm.ptr) -> !llvm.ptr, i64
  // CHECK: %[[ARENA:.*]] = llvm.load %[[ARENA_AT]]
  // CHECK: %[[WEIGHTS_AT:.*]] = llvm.getelementptr %[[CTX]][2]
  // CHECK: %[[WEIGHTS:.*]] = llvm.load %[[WEIGHTS_AT]]
  // CHECK: %[[TRACE_AT:.*]] = llvm.getelementptr %[[CTX]][24]
  // CHECK: %[[TRACE:.*]] = llvm.load %[[TRACE_AT]]
  // CHECK: %[[NULL:.*]] = llvm.mlir.zero
  // CHECK: %[[TRACED:.*]] = llvm.icmp "ne" %[[TRACE]], %[[NULL]]
  // CHECK: %[[C512:.*]] = llvm.mlir.constant(512 : i64)
  // CHECK: %[[X:.*]] = llvm.getelementptr %[[ARENA]][%[[C512]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %x = mllm.program.buffer offset 512 : memref<8x16xf32>
  // CHECK: %[[LOGITS_AT:.*]] = llvm.getelementptr %[[CTX]][22]
  // CHECK: %[[LOGITS:.*]] = llvm.load %[[LOGITS_AT]]
  %l = mllm.program.logits : memref<8x16xf32>
  mllm.program.entry_point
  // CHECK: %[[FIRST:.*]] = llvm.mlir.constant(2 : i64)
  mllm.program.set_layer 2
  // CHECK: llvm.br ^[[LOOP:.*]](%[[FIRST]] : i64)
  // CHECK: ^[[LOOP]](%[[LAYER:.*]]: i64):
  mllm.program.label "layers"
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @offsets.many
  // CHECK: %[[BASE:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK: %[[ROW:.*]] = llvm.sub %[[LAYER]], %[[BASE]]
  // CHECK: %[[ENTRY:.*]] = llvm.getelementptr %[[TABLE]][%[[ROW]]] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  // CHECK: %[[OFFSET:.*]] = llvm.load %[[ENTRY]]
  // CHECK: %[[W:.*]] = llvm.getelementptr %[[WEIGHTS]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  // CHECK: llvm.call @linear(%[[CTX]], %[[WORKER]], %[[WORKERS]], %[[LAYER]], %[[W]], %[[X]], %[[X]])
  // CHECK: llvm.cond_br %[[TRACED]] weights([1, 1048576]), ^[[SAY:.*]], ^[[ON:.*]]
  // CHECK: ^[[SAY]]:
  // CHECK: %[[SITE:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK: %[[FUNCTIONS_AT:.*]] = llvm.getelementptr %[[CTX]][0]
  // CHECK: %[[FUNCTIONS:.*]] = llvm.load %[[FUNCTIONS_AT]]
  // CHECK: %[[FUNCTION_AT:.*]] = llvm.getelementptr %[[FUNCTIONS]][8]
  // CHECK: %[[FUNCTION:.*]] = llvm.load %[[FUNCTION_AT]]
  // CHECK: llvm.call %[[FUNCTION]](%[[CTX]], %[[WORKER]], %[[SITE]], %[[LAYER]])
  // CHECK: llvm.br ^[[ON]]
  // CHECK: ^[[ON]]:
  mllm.program.instruction {
    %w = mllm.program.get_weight @many : memref<1024xi8>
    mllm.program.call @linear(%w, %x, %x) : memref<1024xi8>, memref<8x16xf32>, memref<8x16xf32>
  }
  // The barrier is a function of the runtime's table, which comes first.
  // CHECK: %[[TABLE_AT:.*]] = llvm.getelementptr %[[CTX]][0]
  // CHECK: %[[RUNTIME:.*]] = llvm.load %[[TABLE_AT]]
  // CHECK: %[[BARRIER_AT:.*]] = llvm.getelementptr %[[RUNTIME]][0]
  // CHECK: %[[BARRIER:.*]] = llvm.load %[[BARRIER_AT]]
  // CHECK: llvm.call %[[BARRIER]](%[[CTX]], %[[WORKER]]) : !llvm.ptr, (!llvm.ptr, i64) -> ()
  // CHECK: llvm.cond_br %[[TRACED]]
  // CHECK: %[[SITE1:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK: llvm.call %{{.*}}(%[[CTX]], %[[WORKER]], %[[SITE1]], %[[LAYER]])
  mllm.program.barrier
  // CHECK: %[[NEXT:.*]] = llvm.add %[[LAYER]],
  // CHECK: %[[LIMIT:.*]] = llvm.mlir.constant(5 : i64)
  // CHECK: %[[AGAIN:.*]] = llvm.icmp "slt" %[[NEXT]], %[[LIMIT]]
  // CHECK: llvm.cond_br %[[AGAIN]], ^[[LOOP]](%[[NEXT]] : i64), ^[[AFTER:.*]]
  // CHECK: ^[[AFTER]]:
  mllm.program.jump_next_layer "layers" below 5
  // A weight with one offset needs no table.
  // CHECK: %[[C4096:.*]] = llvm.mlir.constant(4096 : i64)
  // CHECK: %[[ONE:.*]] = llvm.getelementptr %[[WEIGHTS]][%[[C4096]]]
  // CHECK: llvm.call @linear(%[[CTX]], %[[WORKER]], %[[WORKERS]], %[[NEXT]], %[[ONE]], %[[X]], %[[LOGITS]])
  // CHECK: %[[SITE2:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK: llvm.call %{{.*}}(%[[CTX]], %[[WORKER]], %[[SITE2]], %[[NEXT]])
  mllm.program.instruction {
    %w = mllm.program.get_weight @one : memref<1024xi8>
    mllm.program.call @linear(%w, %x, %l) : memref<1024xi8>, memref<8x16xf32>, memref<8x16xf32>
  }
  // CHECK: llvm.return
  mllm.program.exit
}
// CHECK-NOT: mllm.
