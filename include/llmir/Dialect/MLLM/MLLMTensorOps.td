//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor level: parameters.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMTENSOROPS
#define LLMIR_DIALECT_MLLM_MLLMTENSOROPS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/IR/SymbolInterfaces.td"

def MLLM_RegisterOp : MLLM_Op<"tensor.register", [
    Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Declares a parameter of the model";
  let description = [{
    Gives a parameter its name, its shape, and the format in which it is stored;
    the values stay in the checkpoint, where `source` names them. A linear
    weight and an embedding table are [rows, columns], a norm's weight and a
    bias are [columns], the matrices of experts [experts, rows, columns]. Ops
    use the parameter by its symbol, from any number of places: a tied output
    projection uses the embedding's parameter.

    With `rope_unpermute_heads = H` the stored rows were reordered for a rotation
    of adjacent pairs, and whoever reads the values restores the order: within
    each of the H heads of D rows, stored row 2j is row j, and stored row 2j + 1
    is row j + D/2.

    Fails verification when
    - c1: the type is neither a ranked tensor of f32, f16 or bf16 nor an
      `!llm.quantized_tensor`;
    - c2: the rank is not 1, 2 or 3 (2 or 3 if quantized);
    - c3: a size is dynamic or less than 1;
    - c4: `source` is empty;
    - c5: `rope_unpermute_heads` is less than 1, or does not divide the rows
      into heads of an even number of rows.

    Example:

    ```mlir
    mllm.tensor.register @model.layers.0.self_attn.q_proj.weight : tensor<64x64xbf16>
        {source = "blk.0.attn_q.weight", rope_unpermute_heads = 4 : i64}
    mllm.tensor.register @model.layers.0.mlp.up_proj.weight :
        !llm.quantized_tensor<i8, [160, 64], true, false, -1, 32, 8, format = q8_0>
        {source = "blk.0.ffn_up.weight"}
    ```
  }];

  let arguments = (ins
    Arg<SymbolNameAttr, "the parameter's name in the module tree (Hugging Face's names)">:$sym_name,
    Arg<TypeAttr, "shape and stored format">:$type,
    Arg<StrAttr, "name of the tensor in the checkpoint">:$source,
    Arg<OptionalAttr<I64Attr>, "number of heads whose stored rows are to be put back in order">:$rope_unpermute_heads,
    Arg<OptionalAttr<StrAttr>, "visibility of the symbol; public when absent">:$sym_visibility
  );

  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::Type":$type,
                   "::llvm::StringRef":$source,
                   CArg<"std::optional<int64_t>", "std::nullopt">:$ropeUnpermuteHeads)>
  ];

  let extraClassDeclaration = [{
    /// Sizes in elements, whatever the format: [rows, columns] or [columns].
    ::llvm::ArrayRef<int64_t> getShape() {
      return *::llmir::mllm::parameterShape(getType());
    }
  }];

  let assemblyFormat = "($sym_visibility^)? $sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMTENSOROPS
