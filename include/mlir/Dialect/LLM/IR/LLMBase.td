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
    The `llm` dialect says how a decoder is run: the new tokens of all sequences
    of a step are concatenated (a ragged batch), keys and values live in a paged
    cache that is a value of the IR, and weights keep the format in which they
    are stored.

    In a ragged batch T is the number of new tokens, S the number of sequences;
    sequence `s` owns tokens `query_offsets[s]` to `query_offsets[s + 1]`. Only T
    and S are dynamic.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Registers the types, whose storage one source file alone knows.
    void registerTypes();

    /// Unit attribute of a function: it is one layer of the model, which
    /// `-llm-inline-modules` keeps as a function.
    static ::llvm::StringRef getLayerAttrName() { return "llm.layer"; }

    /// i64 attribute of a function: it is run by that many ranks in lockstep,
    /// each with values of its own.
    static ::llvm::StringRef getNumRanksAttrName() { return "llm.num_ranks"; }

    /// i64 attribute of a function: it is that stage of a pipeline, from 0.
    static ::llvm::StringRef getStageAttrName() { return "llm.stage"; }

    /// i64 attribute of an argument or result of such a function: it is the
    /// rank's slice, in this dimension, of the caller's tensor. Without it each
    /// rank has the whole.
    static ::llvm::StringRef getShardDimAttrName() { return "llm.shard_dim"; }

    /// Unit attribute of an argument: it is the same in every call, as a weight
    /// is, so that the compiler may pack it.
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

/// A number of 64 bits whose accessor gives it with its sign.
def LLM_IntAttr
    : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer attribute">;

/// An op whose result type follows from its operands (inferReturnTypes is
/// written for it); the printed result type is checked against that.
class LLM_InferredOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)>;

/// One number of the result from the numbers at the same place.
class LLM_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)>;

/// An op that is written `llm.op %a, %b {attributes} : (T, T) -> T`. Also parsed
/// are parentheses around the operands, none around the types, attribute names
/// in camel case, and 32-bit attributes in place of 64-bit ones.
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
