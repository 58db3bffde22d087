//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor level: parameters, inputs, constants and memory.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMTENSOROPS
#define LLMIR_DIALECT_MLLM_MLLMTENSOROPS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MLLM_RegisterOp : MLLM_Op<"tensor.register", [
    Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Declares a parameter of the model";
  let description = [{
    Gives a parameter its name, its shape, and the format in which it is stored;
    the values stay in the checkpoint, where `source` names them; without a source
    nobody has them, and the model can be traced but not run. A linear
    weight and an embedding table are [rows, columns], a norm's weight and a
    bias are [columns], the matrices of experts [experts, rows, columns]. Ops
    use the parameter by its symbol, from any number of places: a tied output
    projection uses the embedding's parameter.

    With `rope_unpermute_heads = H` the stored rows were reordered for a rotation
    of adjacent pairs, and whoever reads the values restores the order: within
    each of the H heads of D rows, stored row 2j is row j, and stored row 2j + 1
    is row j + D/2.

    With `slice = array<i64: first, total>` the parameter is a part of what is
    stored: its rows (a vector's entries) are the rows from `first` on of a stored
    tensor of `total` rows. With `transposed` the stored matrix is [columns, rows],
    the slice being one of its columns: GPT-2 keeps queries, keys and values in one
    tensor [columns, 3 * columns].

    Fails verification when
    - c1: the type is neither a ranked tensor of f32, f16 or bf16 nor an
      `!llm.quantized_tensor`;
    - c2: the rank is not 1 to 5 (2 or 3 if quantized);
    - c3: a size is dynamic or less than 1;
    - c4: `source` is there and empty;
    - c5: `rope_unpermute_heads` is less than 1, or does not divide the rows
      into heads of an even number of rows;
    - c6: `slice` is not two numbers, 0 <= first and first + rows <= total, or the
      tensor is neither a vector nor a matrix;
    - c7: `transposed` stands at a tensor that is no matrix.

    Example:

    ```mlir
    mllm.tensor.register @model.layers.0.self_attn.q_proj.weight : tensor<64x64xbf16>
        {source = "blk.0.attn_q.weight", rope_unpermute_heads = 4 : i64}
    mllm.tensor.register @model.layers.0.mlp.up_proj.weight :
        !llm.quantized_tensor<i8, [160, 64], true, false, -1, 32, 8, format = q8_0>
        {source = "blk.0.ffn_up.weight"}
    mllm.tensor.register @transformer.h.0.attn.c_attn.k.weight : tensor<48x48xf32>
        {slice = array<i64: 48, 144>, source = "transformer.h.0.attn.c_attn.weight", transposed}
    ```
  }];

  let arguments = (ins
    Arg<SymbolNameAttr, "the parameter's name in the module tree (Hugging Face's names)">:$sym_name,
    Arg<TypeAttr, "shape and stored format">:$type,
    Arg<OptionalAttr<StrAttr>, "name of the tensor in the checkpoint; absent where only the shape is known">:$source,
    Arg<OptionalAttr<I64Attr>, "number of heads whose stored rows are to be put back in order">:$rope_unpermute_heads,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "the first row of the parameter in the stored tensor, and the rows of that; all rows when absent">:$slice,
    Arg<UnitAttr, "the matrix is stored as [columns, rows]">:$transposed,
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

def MLLM_InputOp : MLLM_Op<"tensor.input", [
    MemoryEffects<[MemAlloc]>, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A value that the caller of the model gives";
  let description = [{
    Stands in the module itself, before the call of the traced model, once for
    each of its arguments in their order. It has no values of its own: who runs
    the model gives them.

    Fails verification when ODS' own constraints do: it stands elsewhere, or its
    result is no tensor of the dialect's element types.

    Example:

    ```mlir
    %ids = mllm.tensor.input : tensor<1x128xi64>
    %logits = mllm.graph.call_graph @model(%ids) : (tensor<1x128xi64>) -> tensor<1x128x259xf32>
    ```
  }];
  let results = (outs Res<MLLM_Tensor, "what the caller gives">:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MLLM_ConstantOp : MLLM_Op<"tensor.constant", [
    Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "Values that are known";
  let description = [{
    `result = value`.

    Fails verification when ODS' own constraints do: `value` has another type than
    the result.

    Example:

    ```mlir
    %c = mllm.tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins Arg<ElementsAttr, "the values">:$value);
  let results = (outs Res<MLLM_Tensor, "the values">:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def MLLM_AllocOp : MLLM_Op<"tensor.alloc"> {
  let summary = "Memory for one tensor";
  let description = [{
    Gives memory that holds no values yet. `mllm.linalg.copy` into it says that a
    value lies there; `mllm.tensor.free` ends its life. With `offset` the memory
    lies at that byte of the arena that all of a model's values share; a dynamic
    size has room for the greatest that was planned for.

    Fails verification when
    - c1: `offset` is negative.

    Example:

    ```mlir
    %m = mllm.tensor.alloc offset 4096 : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<OptionalAttr<I64Attr>, "first byte in the arena; not planned yet when absent">:$offset
  );
  let results = (outs Res<MLLM_Tensor, "the memory", [MemAlloc]>:$result);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def MLLM_FreeOp : MLLM_Op<"tensor.free"> {
  let summary = "Ends the life of a tensor's memory";
  let description = [{
    After it nothing reads the value, and its memory may hold another one.

    Fails verification when
    - c1: the value is freed twice in one block;
    - c2: an op after it in the block uses the value.

    Example:

    ```mlir
    mllm.tensor.free %y : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "the value whose memory it is", [MemFree]>:$x
  );
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMTENSOROPS
