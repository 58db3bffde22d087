//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Base classes of ops of the linalg level. An op with inferred results
// implements
//   static llmir::Expected<ResultTypes> inferResults(Adaptor op);
// which returns the result types for given operands and attributes, or an
// error. Builders, the verifier and eager execution call it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMLINALGBASE
#define LLMIR_DIALECT_MLLM_MLLMLINALGBASE

include "llmir/Dialect/MLLM/MLLMAttrs.td"
include "llmir/Dialect/MLLM/MLLMInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Sizes after the first are static; the first may be `?`.
def MLLM_HasStaticTail
    : CPred<"::llmir::mllm::hasStaticTail($_self)">;

class MLLM_ActivationOfRank<int rank, string dims>
    : Type<And<[CPred<"::llmir::mllm::isF32TensorOfRank($_self, " # rank # ")">,
                MLLM_HasStaticTail]>,
           "f32 tensor " # dims # " whose sizes after the first are static",
           "::mlir::RankedTensorType">;

def MLLM_Rows : MLLM_ActivationOfRank<2, "[tokens, columns]">;
def MLLM_Heads : MLLM_ActivationOfRank<3, "[tokens, heads, head size]">;

def MLLM_RowsOrHeads
    : Type<Or<[MLLM_Rows.predicate, MLLM_Heads.predicate]>,
           "f32 tensor [tokens, columns] or [tokens, heads, head size] whose "
           "sizes after the first are static",
           "::mlir::RankedTensorType">;

def MLLM_Activation
    : Type<And<[CPred<"::llmir::mllm::isF32Tensor($_self)">,
                MLLM_HasStaticTail]>,
           "f32 tensor of rank 1 or more whose sizes after the first are static",
           "::mlir::RankedTensorType">;

def MLLM_TokenIds
    : Type<CPred<"::llmir::mllm::isTokenIds($_self)">,
           "tensor [tokens] of i32 or i64", "::mlir::RankedTensorType">;

// A string attribute restricted to a list of words, which the diagnostic for
// other values includes.
class MLLM_WordAttr<list<string> words>
    : StringBasedAttr<And<[
          CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
          Or<!foreach(word, words,
              CPred<"::llvm::cast<::mlir::StringAttr>($_self).getValue() == \"" # word # "\"">)>]>,
          "one of the words " # !interleave(words, ", ")>;

def MLLM_InfersResults : NativeOpTrait<"InfersResults"> {
  let cppNamespace = "::llmir::mllm";
}

// `bound`: C++ expression of LinalgOpInterface::getErrorBound. Ops append
// declarations of their own:
// `let extraClassDeclaration = commonDeclaration # [{…}];`.
class MLLM_LinalgOpBase<string mnemonic, string bound, list<Trait> traits>
    : MLLM_Op<"linalg." # mnemonic, traits # [MLLM_LinalgOpInterface]> {
  string errorBound = bound;
  code commonDeclaration = !strconcat(
      "static double getErrorBound() { return ", bound, "; }");
  let extraClassDeclaration = commonDeclaration;
}

// The declarations of inferred results.
defvar MLLM_InferDeclaration = [{
    static ::llmir::Expected<::llmir::mllm::ResultTypes> inferResults(Adaptor op);
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::llmir::mllm::detail::appendInferredTypes(
          location, getOperationName(),
          inferResults(Adaptor(operands, attributes, properties, regions)),
          types);
    }
    /// The trait InfersResults verifies result types, with better diagnostics.
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange declared) {
      return ::llmir::mllm::fits(inferred, declared);
    }
}];

// An op without parameters. `Pure` unless other traits are given.
class MLLM_LinalgOp<string mnemonic, string bound, list<Trait> traits = [Pure]>
    : MLLM_LinalgOpBase<mnemonic, bound,
                        traits # [InferTypeOpInterface, MLLM_InfersResults]> {
  let commonDeclaration = !strconcat(
      "static double getErrorBound() { return ", bound, "; }",
      MLLM_InferDeclaration);
}

// An op that only moves data: exact, without floating-point operations.
class MLLM_MoveOp<string mnemonic, list<Trait> traits = [Pure]>
    : MLLM_LinalgOp<mnemonic, "0", traits> {
  let commonDeclaration = !strconcat(
      "static double getErrorBound() { return 0; }",
      "std::optional<int64_t> getFlops() { return 0; }",
      MLLM_InferDeclaration);
}

// A layer with parameters, which attributes reference by symbol.
// verifySymbolUses() verifies them against operands and results. The result
// type is part of the assembly, since it depends on the shape of a parameter.
class MLLM_ParamOp<string mnemonic, string bound, list<Trait> traits = [Pure]>
    : MLLM_LinalgOpBase<mnemonic, bound,
                        traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

// A layer with parameters whose result has the type of its operand.
class MLLM_InferredParamOp<string mnemonic, string bound, list<Trait> traits = [Pure]>
    : MLLM_LinalgOp<mnemonic, bound,
                    traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

// Element-wise f(x). The assembly includes the result type if it differs.
class MLLM_UnaryElementwise<string mnemonic, string bound, Type type = MLLM_FloatTensor>
    : MLLM_LinalgOp<mnemonic, bound, [Pure, Elementwise]> {
  let arguments = (ins Arg<type, "input of any shape">:$x);
  let results = (outs Res<type, "element-wise result, shaped as `x`">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::sameAs(op.getX());
    }
  }];
}

// Element-wise f(lhs, rhs) with broadcasting of dimensions of size 1. Operands
// have the same element type.
class MLLM_BinaryElementwise<string mnemonic, string bound, list<Trait> traits = [],
                             Type type = MLLM_NumberTensor>
    : MLLM_LinalgOp<mnemonic, bound, traits # [Pure]> {
  let arguments = (ins
    Arg<type, "left operand of any shape">:$lhs,
    Arg<type, "right operand, broadcastable with `lhs`">:$rhs
  );
  let results = (outs Res<type, "element-wise result of the broadcast shape">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::broadcastOf(op.getLhs(), op.getRhs());
    }
  }];
}

#endif // LLMIR_DIALECT_MLLM_MLLMLINALGBASE
