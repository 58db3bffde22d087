//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Ops of the tensor level: parameters, inputs, constants and memory.
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
  let summary = "Declare a model parameter";
  let description = [{
    Declares the name, shape and stored format of a parameter. The elements stay
    in the checkpoint, where `source` names the tensor; a model with parameters
    without a source can be traced but not run. Linear weights and embedding
    tables are [rows, columns], norm weights and biases are [columns], expert
    matrices are [experts, rows, columns]. Any number of ops may reference the
    parameter by symbol: a tied output projection uses the parameter of the
    embedding.

    With `rope_unpermute_heads = H`, the stored rows are in the order for
    rotating adjacent pairs, and readers restore the original order: within each
    of the H heads of D rows, stored row 2j is row j, and stored row 2j + 1 is
    row j + D/2.

    A stack [count, rows, 1] can be stored as [count, rows]: biases of experts.

    A `source` with a `*` is that of a stack [count, rows, columns] whose matrices
    are separate tensors, named with the index of the matrix in place of `*`.

    With `slice = array<i64: first, total>`, the parameter consists of the rows
    (elements of a vector) from `first` on of a stored tensor with `total` rows;
    so does each matrix of a stack.
    With `slice = array<i64: first, total, n, stride>`, it consists of the `n`
    rows from `first` on, the `n` rows from `first + stride` on, and so on:
    GPT-NeoX stores queries, keys and values together for each head.
    With `transposed`, the stored matrix, or each one of a stack, is [columns,
    rows], and the slice applies to its columns: GPT-2 stores queries, keys and
    values in one tensor [columns, 3 * columns]. With `slices_columns` as well,
    the slice is that of the columns, the rows of each stored matrix of a stack:
    DeepSeek-V2 stores matrices [columns, rows] of keys and those of values
    together for each head.

    Fails verification when
    - c1: the type is neither a ranked tensor of f32, f16 or bf16 nor an
      `!llm.quantized_tensor`;
    - c2: the rank is not between 1 and 5 (2 or 3 if quantized);
    - c3: a size is dynamic or less than 1;
    - c4: `source` is empty;
    - c5: `rope_unpermute_heads` is less than 1, or does not divide the rows
      into heads of an even number of rows;
    - c6: `slice` does not have two elements with 0 <= first and first + rows <=
      total, or four such that whole groups of 1 <= n <= stride rows are the
      rows, or the tensor is not a vector, a matrix or a stack of matrices;
    - c7: `transposed` is given for a tensor that is neither a matrix nor a
      stack of matrices;
    - c8: `slices_columns` is given for another tensor than a transposed stack
      with a slice of consecutive columns.

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
    Arg<SymbolNameAttr, "name of the parameter in the module tree (Hugging Face naming)">:$sym_name,
    Arg<TypeAttr, "shape and stored format">:$type,
    Arg<OptionalAttr<StrAttr>, "name of the tensor in the checkpoint; absent if only the shape is known">:$source,
    Arg<OptionalAttr<I64Attr>, "number of heads whose stored row order is to be restored">:$rope_unpermute_heads,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "first row of the parameter in the stored tensor, and number of rows of the stored tensor, possibly with the rows of a group and between the starts of groups; all rows if absent">:$slice,
    Arg<UnitAttr, "whether each matrix is stored as [columns, rows]">:$transposed,
    Arg<UnitAttr, "whether the slice of a transposed stack is that of its columns">:$slices_columns,
    Arg<OptionalAttr<StrAttr>, "visibility of the symbol; public if absent">:$sym_visibility
  );

  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::Type":$type,
                   "::llvm::StringRef":$source,
                   CArg<"std::optional<int64_t>", "std::nullopt">:$ropeUnpermuteHeads)>
  ];

  let extraClassDeclaration = [{
    /// The shape in elements, independent of the format: [rows, columns] or
    /// [columns].
    ::llvm::ArrayRef<int64_t> getShape() {
      return *::llmir::mllm::parameterShape(getType());
    }
  }];

  let assemblyFormat = "($sym_visibility^)? $sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def MLLM_InputOp : MLLM_Op<"tensor.input", [
    MemoryEffects<[MemAlloc]>, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Model input";
  let description = [{
    Placed at module level before the call of the traced model, one per
    argument, in order. The caller of the model provides the value.

    Only the ODS constraints apply.

    Example:

    ```mlir
    %ids = mllm.tensor.input : tensor<1x128xi64>
    %logits = mllm.graph.call_graph @model(%ids) : (tensor<1x128xi64>) -> tensor<1x128x259xf32>
    ```
  }];
  let results = (outs Res<MLLM_Tensor, "value provided by the caller">:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def MLLM_ConstantOp : MLLM_Op<"tensor.constant", [
    Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "Constant tensor";
  let description = [{
    `result = value`.

    Only the ODS constraints apply.

    Example:

    ```mlir
    %c = mllm.tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins Arg<ElementsAttr, "constant elements">:$value);
  let results = (outs Res<MLLM_Tensor, "constant tensor">:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def MLLM_AllocOp : MLLM_Op<"tensor.alloc"> {
  let summary = "Allocate memory for a tensor";
  let description = [{
    Allocates uninitialized memory. `mllm.linalg.copy` places a value in it;
    `mllm.tensor.free` ends its lifetime. `offset` is its byte offset in the
    arena shared by all values of a model; for a dynamic size, the maximum
    planned size is reserved.

    Fails verification when
    - c1: `offset` is negative.

    Example:

    ```mlir
    %m = mllm.tensor.alloc offset 4096 : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<OptionalAttr<I64Attr>, "byte offset in the arena; not planned yet if absent">:$offset
  );
  let results = (outs Res<MLLM_Tensor, "allocated memory", [MemAlloc]>:$result);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def MLLM_FreeOp : MLLM_Op<"tensor.free"> {
  let summary = "Free the memory of a tensor";
  let description = [{
    Afterwards, the value must not be read, and its memory may be reused.

    Fails verification when
    - c1: the value is freed twice in one block;
    - c2: a later op in the block uses the value.

    Example:

    ```mlir
    mllm.tensor.free %y : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<MLLM_Tensor, "value whose memory is freed", [MemFree]>:$x
  );
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMTENSOROPS
