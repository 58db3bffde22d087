//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The classes from which the ops of the linalg level are made. An op with
// inferred results has one function of its own,
//   static llmir::Expected<ResultTypes> inferResults(Adaptor op);
// that says the types of the results from the operands and attributes, or why
// there are none. Builders, verifier and eager execution all call it.
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

// A word out of a list; the message about another one lists them.
class MLLM_WordAttr<list<string> words>
    : StringBasedAttr<And<[
          CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
          Or<!foreach(word, words,
              CPred<"::llvm::cast<::mlir::StringAttr>($_self).getValue() == \"" # word # "\"">)>]>,
          "one of the words " # !interleave(words, ", ")>;

def MLLM_InfersResults : NativeOpTrait<"InfersResults"> {
  let cppNamespace = "::llmir::mllm";
}

// `bound`: see LinalgOpInterface::getErrorBound, as C++ text. An op that needs
// declarations of its own appends them: `let extraClassDeclaration =
// commonDeclaration # [{…}];`.
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
    /// The trait InfersResults verifies, with better words.
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

// An op without parameters. `Pure` unless its traits say more.
class MLLM_LinalgOp<string mnemonic, string bound, list<Trait> traits = [Pure]>
    : MLLM_LinalgOpBase<mnemonic, bound,
                        traits # [InferTypeOpInterface, MLLM_InfersResults]> {
  let commonDeclaration = !strconcat(
      "static double getErrorBound() { return ", bound, "; }",
      MLLM_InferDeclaration);
}

// An op that only moves values: exact, and no floating-point operation.
class MLLM_MoveOp<string mnemonic, list<Trait> traits = [Pure]>
    : MLLM_LinalgOp<mnemonic, "0", traits> {
  let commonDeclaration = !strconcat(
      "static double getErrorBound() { return 0; }",
      "std::optional<int64_t> getFlops() { return 0; }",
      MLLM_InferDeclaration);
}

// A layer with parameters, which attributes name by symbol. They are verified
// in verifySymbolUses() against operands and results; the result's type stands
// in the text, as it follows from a parameter's shape.
class MLLM_ParamOp<string mnemonic, string bound, list<Trait> traits = [Pure]>
    : MLLM_LinalgOpBase<mnemonic, bound,
                        traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

// A layer with parameters whose result has the type of its operand.
class MLLM_InferredParamOp<string mnemonic, string bound, list<Trait> traits = [Pure]>
    : MLLM_LinalgOp<mnemonic, bound,
                    traits # [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

// f(x) for each value. The text says the result's type where it is another.
class MLLM_UnaryElementwise<string mnemonic, string bound, Type type = MLLM_FloatTensor>
    : MLLM_LinalgOp<mnemonic, bound, [Pure, Elementwise]> {
  let arguments = (ins Arg<type, "values of any shape">:$x);
  let results = (outs Res<type, "one value for each of `x`">:$result);
  let assemblyFormat = "$x attr-dict `:` custom<UnaryTypes>(type($x), type($result))";
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::sameAs(op.getX());
    }
  }];
}

// f(lhs, rhs) for each pair of values; sizes of 1 repeat. Operands have one
// element type.
class MLLM_BinaryElementwise<string mnemonic, string bound, list<Trait> traits = [],
                             Type type = MLLM_NumberTensor>
    : MLLM_LinalgOp<mnemonic, bound, traits # [Pure]> {
  let arguments = (ins
    Arg<type, "left values, of any shape">:$lhs,
    Arg<type, "right values, of a shape that broadcasts with `lhs`">:$rhs
  );
  let results = (outs Res<type, "one value for each pair">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<BinaryTypes>(type($lhs), type($rhs), type($result))";
  let extraClassDefinition = [{
    ::llmir::Expected<::llmir::mllm::ResultTypes> $cppClass::inferResults(Adaptor op) {
      return ::llmir::mllm::broadcastOf(op.getLhs(), op.getRhs());
    }
  }];
}

#endif // LLMIR_DIALECT_MLLM_MLLMLINALGBASE
