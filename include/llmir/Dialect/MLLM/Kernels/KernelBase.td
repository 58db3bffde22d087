//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of kernels, and their operand types and attributes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_KERNELS_KERNELBASE
#define LLMIR_DIALECT_MLLM_KERNELS_KERNELBASE

include "llmir/Dialect/MLLM/Kernels/KernelInterface.td"
include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def MLLM_RowSpace : I32EnumAttr<"RowSpace", "the rows that a kernel processes", [
    I32EnumAttrCase<"Tokens", 0, "tokens">,
    I32EnumAttrCase<"LogitRows", 1, "logit_rows">]> {
  let cppNamespace = "::llmir::mllm::kernel";
}
def MLLM_OverAttr : DefaultValuedAttr<MLLM_RowSpace,
    "::llmir::mllm::kernel::RowSpace::Tokens">;
/// Rows of the step that the first loop of a nest runs over, or none where the
/// size of that loop is fixed.
def MLLM_NestRowsAttr : OptionalAttr<MLLM_RowSpace>;

/// Sizes of models: products of two sizes do not overflow.
def MLLM_Size : ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<268435456>]> {
  let summary = "a size from 1 to 2^28";
}
def MLLM_Sizes : ConfinedAttr<DenseI64ArrayAttr,
    [DenseArrayStrictlyPositive<DenseI64ArrayAttr>]> {
  let summary = "positive sizes";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A packed matrix, or a buffer with a matrix packed by the program.
def MLLM_PackedWeight : MemRefOf<[I8, F32]>;
/// An f32 vector padded to whole tiles, or a buffer with such a vector.
def MLLM_PackedVector : MemRefOf<[I8, F32]>;
/// Rows of elements, padded to whole tiles of 16 columns.
def MLLM_F32Rows : MemRefRankOf<[F32], [2]>;
def MLLM_I32Rows : MemRefRankOf<[I32], [2]>;
/// Rows of f32 or i32 zero points.
def MLLM_ZeroPointRows : MemRefRankOf<[F32, I32], [2]>;
def MLLM_IndexRows : MemRefRankOf<[I32, I64], [2]>;
def MLLM_AnyRows : MemRefRankOf<[F32, I32, I64], [2]>;

/// The KV cache of the step, which is not an operand.
def MLLM_KVCacheResource : Resource<"::llmir::mllm::kernel::KVCacheResource">;

/// The states of layers, which are not operands.
def MLLM_StatePoolResource : Resource<"::llmir::mllm::kernel::StatePoolResource">;

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A kernel. `overrides` are the interface methods whose default the op
/// overrides.
class MLLM_KernelOp<string mnemonic, list<string> overrides = [],
                    list<Trait> traits = []>
    : MLLM_Op<"kernel." # mnemonic,
              traits # [DeclareOpInterfaceMethods<MLLM_KernelOpInterface, overrides>]> {
  let cppNamespace = "::llmir::mllm::kernel";
  let hasVerifier = 1;
}

/// A kernel whose workers read only those elements of `x` that they write in
/// `out`, which may be `x` if both have the same type.
class MLLM_LocalKernelOp<string mnemonic, list<string> overrides = [],
                         list<Trait> traits = []>
    : MLLM_KernelOp<mnemonic, overrides # ["getDivisionOf"], traits> {
  let extraClassDefinition = [{
    std::optional<::llmir::mllm::kernel::WorkDivision>
    $cppClass::getDivisionOf(::mlir::OpOperand &operand) {
      if (&operand == &getXMutable() || &operand == &getOutMutable())
        return getWorkDivision();
      return std::nullopt;
    }
  }];
}

#endif // LLMIR_DIALECT_MLLM_KERNELS_KERNELBASE
