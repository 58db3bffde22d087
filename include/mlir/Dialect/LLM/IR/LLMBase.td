//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `llm` dialect itself and the base classes of its ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLM_BASE_TD
#define LLM_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LLM_Dialect : Dialect {
  let name = "llm";
  let cppNamespace = "::mlir::llm";
  let summary = "Operations of large language model inference";
  let description = [{
    The `llm` dialect describes how a decoder is executed: the new tokens of all
    sequences of a step are concatenated into one ragged batch, keys and values
    live in a paged cache that is an SSA value, and weights keep their stored
    format.

    In a ragged batch, T is the number of new tokens and S the number of
    sequences; sequence `s` owns the tokens `query_offsets[s]` to
    `query_offsets[s + 1]` (exclusive). Only T and S are dynamic.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Registers the types, whose storage classes are private to LLMTypes.cpp.
    void registerTypes();

    /// Unit attribute of a function that is one layer of the model;
    /// `-llm-inline-modules` does not inline it.
    static ::llvm::StringRef getLayerAttrName() { return "llm.layer"; }

    /// i64 attribute of a function: the number of ranks that run it in
    /// lockstep, each on its own values.
    static ::llvm::StringRef getNumRanksAttrName() { return "llm.num_ranks"; }

    /// i64 attribute of a function: the 0-based pipeline stage that it
    /// implements.
    static ::llvm::StringRef getStageAttrName() { return "llm.stage"; }

    /// i64 attribute of an argument or result of a function with
    /// `llm.num_ranks`: the dimension in which each rank has its own slice of
    /// the caller's tensor. Without it, every rank has the whole tensor.
    static ::llvm::StringRef getShardDimAttrName() { return "llm.shard_dim"; }

    /// Unit attribute of an argument that is the same in every call, such as a
    /// weight; the compiler may pack it ahead of time.
    static ::llvm::StringRef getConstantAttrName() { return "llm.constant"; }
  }];
}

class LLM_Op<string mnemonic, list<Trait> traits = []>
    : Op<LLM_Dialect, mnemonic, traits>;

def LLM_ScaleAttr
    : AnyAttrOf<[F32Attr, F64Attr], "f32 or f64 attribute", "::llvm::APFloat",
                "::llvm::cast<::mlir::FloatAttr>($_self).getValue()">;
def LLM_CountAttr
    : AnyAttrOf<[I32Attr, I64Attr], "i32 or i64 attribute", "int64_t",
                "::llvm::cast<::mlir::IntegerAttr>($_self).getInt()">;

/// A 64-bit integer attribute whose accessor returns a signed value.
def LLM_IntAttr
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer attribute">;

/// An op that implements inferReturnTypes; a printed result type is checked
/// against the inferred one.
class LLM_InferredOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)>;

/// An element-wise op on operands of one type.
class LLM_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)>;

/// An op with the syntax `llm.op %a, %b {attributes} : (T, T) -> T`. The parser
/// also accepts parentheses around the operands, types without parentheses,
/// attribute names in camel case, and 32-bit integer attributes in place of
/// 64-bit ones.
class LLM_PositionalOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return ::mlir::llm::parsePositional(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::mlir::llm::printPositional(printer, *this);
    }
  }];
}

#endif // LLM_BASE_TD
