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
    accesses it first to the phase that accesses it last; buffers that are
    accessed in a loop live for the whole loop if they carry a value from one
    iteration to the next. A loop is the code between a label and a jump back to
    it. At a forward jump, instructions since the last barrier may still be
    running after the label, so their buffers live until there. Buffers whose
    lifetimes do not overlap share memory, in 64-byte lines: see
    `llmir/Support/IntervalPlanner.h`.

    ```mlir
    %a = mllm.program.buffer : memref<512x64xf32>
    // becomes
    %a = mllm.program.buffer offset 131072 : memref<512x64xf32>
    ```
    The fragment receives `arena_bytes`. Buffers that are `per_worker` also get
    an offset in the worker's own memory, with as many rows as a decode-sized
    step has; a worker executes the code in order, so there they share memory as
    soon as the last instruction that accesses one is done. The fragment receives
    `worker_bytes`, a multiple of 4096. Does nothing to a fragment without
    buffers. Fails if a buffer has more than 2^46 bytes, or a fragment more than
    65536 buffers.
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
    barriers, nothing stands between two such instructions only where the same
    worker has both parts of the work, so their kernels need no barrier inside
    the instruction either.

    ```mlir
    mllm.program.instruction {
      mllm.kernel.softmax ins(%x : …) outs(%y : …) {columns = 64}
    }
    mllm.program.instruction {
      mllm.kernel.round_rows ins(%y : …) outs(%z : …) {columns = 64}
    }
    // becomes
    mllm.program.instruction {
      mllm.kernel.softmax ins(%x : …) outs(%y : …) {columns = 64}
      mllm.kernel.round_rows ins(%y : …) outs(%z : …) {columns = 64}
    }
    ```
    Leaves alone: instructions with a barrier, a label, a jump or a field of the
    step context between them, instructions of which only one is `replicated`,
    and neighbors that do not feed each other. A profile shows each kernel as
    before. Not part of a pipeline; for programs that people read and edit.
  }];
  let statistics = [
    Statistic<"numFused", "fused", "Instructions joined to the one before">];
}

def EmitKernels : Pass<"emit-kernels", "::mlir::ModuleOp"> {
  let summary = "Emit functions for the kernels of the program";
  let description = [{
    Replaces each kernel by a call of a private function that does its work on a
    CPU. Kernels that are equal but for their labels and buffers (the same op
    with the same attributes, operand types and scalar region) share a function.
    It is named after the label of the first of them.

    ```mlir
    mllm.kernel.softmax ins(%x : …) outs(%y : …) {columns = 64, label = "softmax_64"}
    // becomes
    mllm.program.call @softmax_64 (%x, %y) {label = "softmax_64"} : …
    // of
    func.func private @softmax_64(%ctx: !llvm.ptr, %worker: index, %workers: index,
                                  %layer: index, %x: …, %y: …) { scf.for … }
    ```
    The emitter of each op is looked up in `KernelEmitters::forCPU`, to which the
    dialects of plugins add those of their own kernels. Fails on a kernel that
    has none. Text fragments are erased.
  }];
  let options = [
    Option<"level", "level", "std::string", /*default=*/"\"x86-64-v4\"",
           "CPU level whose row of CPULevels.def decides tiles and products">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "Functions emitted">];
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
