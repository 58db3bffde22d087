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
  let summary = "Assign the buffers of a program to offsets in the arena";
  let description = [{
    A buffer is live from the first to the last phase (the instructions between
    two barriers) that accesses it; buffers that are accessed in a loop are live
    during the whole loop if they carry a value from one iteration to the next.
    A loop is the code between a label and a backward jump to it. At a forward
    jump, instructions since the last barrier may still be running after the
    label, so their buffers are live until there. Buffers whose lifetimes do not
    overlap share memory, in 64-byte lines: see
    `llmir/Support/IntervalPlanner.h`.

    ```mlir
    %a = mllm.program.buffer : memref<512x64xf32>
    // becomes
    %a = mllm.program.buffer offset 131072 : memref<512x64xf32>
    ```
    Sets `arena_bytes` of the fragment. Buffers that are `per_worker` also get
    an offset in the worker's own memory, with the maximum number of rows of a
    decode-sized step; since a worker executes the code in order, their
    lifetimes end with the last instruction that accesses them. Sets
    `worker_bytes` of the fragment, a multiple of 4096. Does nothing to a
    fragment without buffers. Fails if a buffer has more than 2^46 bytes, or a
    fragment more than 65536 buffers.
  }];
  let statistics = [
    Statistic<"numBuffers", "buffers", "Buffers assigned">,
    Statistic<"arenaBytes", "arena-bytes", "Bytes of the arena">,
    Statistic<"workerBytes", "worker-bytes", "Bytes of memory per worker">,
    Statistic<"unsharedBytes", "unshared-bytes", "Bytes without sharing">];
}

def FuseProgramInstructions
    : Pass<"fuse-program-instructions", "::mlir::ModuleOp"> {
  let summary = "Fuse adjacent instructions with a data dependence";
  let description = [{
    Two adjacent instructions are fused into one with the kernels of both if the
    second reads a result of the first. In a program with barriers, there is no
    barrier between two such instructions only if their work is divided in the
    same way, so their kernels need no barrier inside the instruction either.

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
    Does not fuse: instructions separated by a barrier, a label, a jump or a
    `set_field`, instructions of which only one is `replicated`, and adjacent
    instructions without a data dependence. Profiles still show each kernel. Not
    part of a pipeline; intended for programs that are read and edited by hand.
  }];
  let statistics = [
    Statistic<"numFused", "fused", "Instructions fused with the previous one">];
}

def EmitKernels : Pass<"emit-kernels", "::mlir::ModuleOp"> {
  let summary = "Emit functions for the kernels of the program";
  let description = [{
    Replaces each kernel by a call of a private function that implements it on a
    CPU. Kernels that differ only in their labels and buffers (the same op with
    the same attributes, operand types and scalar region) share a function,
    which is named after the label of the first of them.

    ```mlir
    mllm.kernel.softmax ins(%x : …) outs(%y : …) {columns = 64, label = "softmax_64"}
    // becomes
    mllm.program.call @softmax_64 (%x, %y) {label = "softmax_64"} : …
    // of
    func.func private @softmax_64(%ctx: !llvm.ptr, %worker: index, %workers: index,
                                  %layer: index, %x: …, %y: …) { scf.for … }
    ```
    The emitter of each op is looked up in `KernelEmitters::forCPU`, to which the
    dialects of plugins add those of their own kernels. Fails on a kernel
    without an emitter. Text fragments are erased.
  }];
  let options = [
    Option<"level", "level", "std::string", /*default=*/"\"x86-64-v4\"",
           "CPU level, a row of CPULevels.def">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "Functions emitted">];
}

def VectorizeRowTiles : Pass<"vectorize-row-tiles", "::mlir::func::FuncOp"> {
  let summary = "Vectorize the linalg ops of row kernels";
  let description = [{
    Vectorizes each linalg op on a rank-1 row tile, lowers transfers to vector
    loads and stores, and expands `math.exp` to a polynomial, so that no calls
    of the math library remain.

    Fails on a linalg op that the upstream vectorizer does not support.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numVectorized", "vectorized", "Linalg ops vectorized">];
}

#endif // LLMIR_CODEGEN_PASSES
