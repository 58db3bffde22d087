//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CODEGEN_PASSES
#define LLMIR_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def PlanProgramMemory : Pass<"plan-program-memory", "::mlir::ModuleOp"> {
  let summary = "Give each buffer of a program its place in the arena";
  let description = [{
    A buffer lives from the phase (the instructions between two barriers) that
    first touches it to the phase that last does; buffers touched in a loop live
    for the whole loop when they carry a value around it. A loop is what lies
    between a label and a jump back to it. Where a jump leads forwards, what has
    run since the last barrier before it may still be running behind the label,
    and lives until there. Buffers whose lives do not meet share memory, in
    64-byte lines: see `llmir/Support/IntervalPlanner.h`.

    ```mlir
    %a = mllm.program.buffer : memref<512x64xf32>
    // becomes
    %a = mllm.program.buffer offset 131072 : memref<512x64xf32>
    ```
    The fragment receives `arena_bytes`. Buffers `per_worker` get a place in the
    workers' own memory as well, where they share it as one worker goes through
    the code, with no more rows than a step of few tokens has; the fragment
    receives `worker_bytes`, a multiple of 4096. Does nothing to a fragment
    without buffers. Fails where a buffer has more than 2^46 bytes, or a fragment
    more than 65536 buffers.
  }];
  let statistics = [
    Statistic<"numBuffers", "buffers", "Buffers placed">,
    Statistic<"arenaBytes", "arena-bytes", "Bytes of the arena">,
    Statistic<"workerBytes", "worker-bytes", "Bytes of each worker's own memory">,
    Statistic<"unsharedBytes", "unshared-bytes", "Bytes if no memory were shared">];
}

def FuseProgramInstructions
    : Pass<"fuse-program-instructions", "::mlir::ModuleOp"> {
  let summary = "Make one instruction of kernels that feed each other";
  let description = [{
    Two instructions that follow each other become one with the kernels of both
    where the second reads what the first writes. In a program that has its
    barriers nothing stands between such two only where equal shares of the work
    belong to the same worker, so the kernels need no barrier inside the
    instruction either.

    ```mlir
    mllm.program.instruction @norm weights [@w] (%x, %y) : T, T
    mllm.program.instruction @twice weights [] (%y, %z) : T, T
    // becomes
    mllm.program.instruction @norm weights [@w] (%x, %y), @twice weights [] (%y, %z) : T, T, T, T
    ```
    Leaves alone: instructions with a barrier, a label, a jump or a field of the
    step context between them, instructions of which only one is `replicated`,
    and neighbours that do not feed each other. A profile shows each kernel as
    before. Not part of a pipeline; for programs that people read and edit.
  }];
  let statistics = [
    Statistic<"numFused", "fused", "Instructions joined to the one before">];
}

def EmitKernels : Pass<"emit-kernels", "::mlir::ModuleOp"> {
  let summary = "Emit a function for each kernel of the program";
  let description = [{
    Each `mllm.program.kernel` becomes a private function of the same name: a
    matmul or attention through the micro-kernel emitter, a norm or an
    element-wise chain as linalg on row tiles.

    ```mlir
    mllm.program.kernel @add_64 elementwise {columns = 64 : i64, …} […] { … }
    // becomes
    func.func private @add_64(%ctx: !llvm.ptr, %worker: index, …) { scf.for … }
    ```
    Fails on a kernel of unknown kind, on missing parameters, and on operand
    types that do not fit the kind. The text fragment is erased.
  }];
  let options = [
    Option<"level", "level", "std::string", /*default=*/"\"x86-64-v4\"",
           "CPU level whose row of CPULevels.def decides tiles and products">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "Kernels emitted">];
}

def VectorizeRowTiles : Pass<"vectorize-row-tiles", "::mlir::func::FuncOp"> {
  let summary = "Turn the linalg ops of row kernels into vector code";
  let description = [{
    Vectorizes each linalg op on a rank-1 row tile, lowers the transfers to
    plain vector loads and stores, and expands `math.exp` to a polynomial, so
    that no call of the math library remains.

    Fails on a linalg op that upstream's vectorizer refuses.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numVectorized", "vectorized", "Linalg ops vectorized">];
}

#endif // LLMIR_CODEGEN_PASSES
