//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mllm.program.*`: the last IR before LLVM and the only source of the step
// function. A program is a list of instructions with labels and jumps. Every
// worker executes it; barriers separate the accesses of different workers to
// the same data.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS
#define LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

class MLLM_ProgramOp<string mnemonic, list<Trait> traits = []>
    : MLLM_Op<"program." # mnemonic, traits> {
  let cppNamespace = "::llmir::mllm::program";
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def MLLM_FragmentKind : I32EnumAttr<"FragmentKind", "the contents of a fragment", [
    I32EnumAttrCase<"Code", 0, "code">,
    I32EnumAttrCase<"Data", 1, "data">,
    I32EnumAttrCase<"Text", 2, "text">]> {
  let cppNamespace = "::llmir::mllm::program";
}

def MLLMProgram_FragmentOp : MLLM_ProgramOp<"fragment",
    [Symbol, SymbolTable, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "A part of the program: code, data or text";
  let description = [{
    A `code` fragment becomes one native function that every worker runs
    (`step(ctx, worker, workers)`). A `data` fragment lists the packed weights
    and their offsets in the weight section. A `text` fragment contains named
    constants; `table` is accepted as another spelling of its kind.

    Steps of at most `decode_tokens` tokens are decode-sized: in such a step,
    every worker executes `replicated` instructions completely, into per-worker
    memory, and skips barriers with `unless_decode`.

    Fails verification when:
    - c1: a code fragment does not start with one `entry_point` (after buffers
      and inputs, if any) or does not end with `exit`;
    - c2: a data fragment contains other ops than `weight` and `constant`;
    - c3: a text fragment contains other ops than `constant`;
    - c4: `replicated`, `per_worker` or `unless_decode` is used in a code
      fragment without `decode_tokens`;
    - c5: two labels of a code fragment have the same name;
    - c6: a code fragment has two `logits` ops, which would alias.

    Example:
    ```mlir
    mllm.program.fragment @step code {
      %x = mllm.program.buffer offset 0 : memref<512x64xf32>
      mllm.program.entry_point
      mllm.program.instruction {
        %w = mllm.program.get_weight @model.embed_tokens.weight : memref<65536xi8>
        mllm.kernel.embedding weights(%w : memref<65536xi8>) outs(%x : memref<512x64xf32>)
            {format = "bf16", rows = 512, columns = 64}
      }
      mllm.program.exit
    }
    ```
  }];
  let arguments = (ins
    Arg<SymbolNameAttr, "the name of the fragment; for code, also that of its native function">:$sym_name,
    Arg<MLLM_FragmentKind, "code, data or text">:$kind);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
    "$sym_name custom<FragmentKind>($kind) attr-dict-with-keyword $body";
  // Attributes of nested ops are read after these ops are verified.
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Data: weights
//===----------------------------------------------------------------------===//

def MLLMProgram_WeightOp : MLLM_ProgramOp<"weight", [Symbol]> {
  let summary = "A packed weight in the weight section, one offset per layer";
  let description = [{
    Names the checkpoint tensors that are packed into the weight section and
    the byte offsets at which they start. A weight inside a run of equal layers
    has one source and one offset for each layer of the run, starting at
    `first_layer`; other weights have one of each. All sources have the same
    format, shape and layout, so that one kernel serves every layer.

    `tiles16` is the matrix layout: tiles of 16 rows, each a sequence of 64-byte
    lines of 16 rows x 4 bytes of K, block formats with 16 f16 scales after the
    lines of a block. `vector` is a rank-1 tensor converted to f32, padded with
    zeros to a multiple of 16 elements.

    Fails verification when:
    - c1: the numbers of sources and offsets differ or are zero;
    - c2: an offset is negative or not a multiple of 64;
    - c3: `slice` is not a pair with 0 <= first and first + rows <= total, or
      four numbers as in mllm.tensor.register, or the tensor is not a vector, a
      matrix or a stack of matrices;
    - c4: the tensor is `transposed` but neither a matrix nor a stack of
      matrices;
    - c5: `slices_columns` is given for another tensor than a transposed stack
      with a slice of consecutive columns.

    Example:
    ```mlir
    mllm.program.weight @layers.q_proj "tiles16" "bf16" [64, 64] bytes 8192
        sources ["model.layers.0.self_attn.q_proj.weight"] at [4096]
    ```
  }];
  let arguments = (ins
    Arg<SymbolNameAttr, "the name by which instructions refer to it">:$sym_name,
    Arg<StrAttr, "packed layout: tiles16 or vector">:$layout,
    Arg<StrAttr, "storage format of the sources, a name of TensorFormats.def">:$format,
    Arg<DenseI64ArrayAttr, "rows and columns of a source; [N] for a vector, [E, rows, columns] for the consecutive matrices of E experts">:$shape,
    Arg<I64Attr, "bytes of one packed source">:$bytes,
    Arg<StrArrayAttr, "names of the checkpoint's tensors, one per layer of the run">:$sources,
    Arg<DenseI64ArrayAttr, "byte offsets in the weight section, one per source">:$offsets,
    Arg<DefaultValuedAttr<I64Attr, "0">, "model layer of the first source">:$first_layer,
    Arg<DefaultValuedAttr<I64Attr, "0">, "number of heads whose interleaved rows are reordered to halves when packed; 0: rows are not reordered">:$rope_unpermute_heads,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "first row in each source, and the number of rows of a source, possibly with groups, as in mllm.tensor.register">:$slice,
    Arg<UnitAttr, "each matrix of the sources is [columns, rows]">:$transposed,
    Arg<UnitAttr, "the slice of a transposed stack is that of its columns">:$slices_columns);
  let assemblyFormat = [{
    $sym_name $layout $format $shape `bytes` $bytes `sources` $sources `at` $offsets
    (`first_layer` $first_layer^)? (`rope_unpermute_heads` $rope_unpermute_heads^)? attr-dict
  }];
  let hasVerifier = 1;
}

def MLLMProgram_ConstantOp : MLLM_ProgramOp<"constant", [Symbol]> {
  let summary = "Compile-time constant values, by name"
                " for inputs and weights";
  let description = [{
    In a program of a function, the values are written into the inputs, and
    packed into the weights, that name the constant as their source. In a step
    they are packed into weights when the artifact is written.

    Example: `mllm.program.constant @constant0 dense<[0, 4, 8]> : tensor<3xi32>`
  }];
  let arguments = (ins
    Arg<SymbolNameAttr, "the name by which inputs and weights refer to it">:$sym_name,
    Arg<ElementsAttr, "the values; i1 for a mask">:$value);
  let assemblyFormat = "$sym_name $value attr-dict";
}

//===----------------------------------------------------------------------===//
// Regions of kernels
//===----------------------------------------------------------------------===//

def MLLMProgram_YieldOp : MLLM_ProgramOp<"yield", [Pure, Terminator]> {
  let summary = "Ends the scalar region of a kernel";
  let description = [{
    Yields the element of the result.

    Fails verification when:
    - c1: it does not terminate the region of a kernel.

    Example: `mllm.program.yield %sum : f32`
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[F32, I32, I64]>, "the result's element, of its buffer's type">:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

def MLLMProgram_BufferOp : MLLM_ProgramOp<"buffer"> {
  let summary = "A buffer in the arena";
  let description = [{
    The rows of a buffer are tokens (or requested logits rows), with the maximum
    number of rows of a step; a step uses a prefix. Rows are padded to multiples
    of 16 elements. `plan-program-memory` assigns the offset.

    In a decode-sized step, a `per_worker` buffer is in the memory of each
    worker, `at` an offset there, with the maximum number of rows of such a
    step.

    Example: `%x = mllm.program.buffer offset 4096 per_worker at 0 : memref<512x64xf32>`
  }];
  let arguments = (ins
    Arg<OptionalAttr<I64Attr>, "bytes from the start of the arena">:$offset,
    Arg<UnitAttr, "each worker has its own copy in a decode-sized step">:$per_worker,
    Arg<OptionalAttr<I64Attr>, "bytes from the start of the worker's memory">:$worker_offset);
  let results = (outs Res<AnyStaticShapeMemRef, "the buffer">:$buffer);
  let assemblyFormat = [{
    (`offset` $offset^)? (`per_worker` $per_worker^)? (`at` $worker_offset^)?
    attr-dict `:` type($buffer)
  }];
  let builders = [
    // A buffer that is not per-worker.
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::IntegerAttr":$offset), [{
      build($_builder, $_state, type, offset, /*per_worker=*/false,
            ::mlir::IntegerAttr());
    }]>
  ];
}

def MLLMProgram_LogitsOp : MLLM_ProgramOp<"logits"> {
  let summary = "The step's output: the logits buffer of the caller";
  let description = [{
    The memory at `logits` of the step context, as rows of padded vocabulary
    entries.

    Example: `%l = mllm.program.logits : memref<64x512xf32>`
  }];
  let results = (outs Res<AnyStaticShapeMemRef, "[logit rows, padded vocabulary]">:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
}

def MLLMProgram_InputOp : MLLM_ProgramOp<"input"> {
  let summary = "Declares a buffer that the caller fills before the program runs";
  let description = [{
    `source` is an argument of the compiled function (`arg0`; with several ranks
    `arg0.rank1`) or a `constant`. Its elements, in order, fill `columns`
    entries of each row; the rest of a row is zero. Generates no code.

    Fails verification when:
    - c1: `columns` is not between 0 and the columns of the buffer.

    Example: `mllm.program.input "arg0" (%x) columns 60 : memref<7x64xf32>`
  }];
  let arguments = (ins
    Arg<StrAttr, "arg<number>, arg<number>.rank<number>, or a constant's name">:$source,
    Arg<AnyStaticShapeMemRef, "the buffer to fill">:$buffer,
    Arg<I64Attr, "entries of a row without padding">:$columns);
  let assemblyFormat = "$source `(` $buffer `)` `columns` $columns attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def MLLMProgram_OutputOp : MLLM_ProgramOp<"output"> {
  let summary = "Declares a buffer that the caller reads after the program has run";
  let description = [{
    `name` is a result of the compiled function (`result0`; with several ranks
    `result0.rank1`). The op is at the end of the code, so that the buffer is
    live until then. Generates no code.

    Fails verification when:
    - c1: `columns` is not between 0 and the columns of the buffer.

    Example: `mllm.program.output "result0" (%y) columns 60 : memref<7x64xf32>`
  }];
  let arguments = (ins
    Arg<StrAttr, "result<number> or result<number>.rank<number>">:$name,
    Arg<AnyStaticShapeMemRef, "the buffer to read">:$buffer,
    Arg<I64Attr, "entries of a row without padding">:$columns);
  let assemblyFormat = "$name `(` $buffer `)` `columns` $columns attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def MLLMProgram_EntryPointOp : MLLM_ProgramOp<"entry_point"> {
  let summary = "The start of a code fragment";
  let description = [{
    Execution of the native function starts here, with the layer register at
    zero.
  }];
  let assemblyFormat = "attr-dict";
}

def MLLMProgram_ExitOp : MLLM_ProgramOp<"exit"> {
  let summary = "The end of a code fragment";
  let description = [{
    Returns from the native function. Every worker reaches it.
  }];
  let assemblyFormat = "attr-dict";
}

def MLLMProgram_LabelOp : MLLM_ProgramOp<"label"> {
  let summary = "A jump target";
  let description = [{
    Names the next instruction within the fragment.

    Example: `mllm.program.label "layers.0"`
  }];
  let arguments = (ins Arg<StrAttr, "unique within the fragment">:$name);
  let assemblyFormat = "$name attr-dict";
}

def MLLMProgram_SetLayerOp : MLLM_ProgramOp<"set_layer"> {
  let summary = "Sets the layer register";
  let description = [{
    The layer register selects the offset of per-layer weights and the layer
    of the KV pool.

    Example: `mllm.program.set_layer 0`
  }];
  let arguments = (ins Arg<I64Attr, "layer of the model, from 0">:$layer);
  let assemblyFormat = "$layer attr-dict";
}

def MLLMProgram_SetFieldOp : MLLM_ProgramOp<"set_field"> {
  let summary = "Sets a field of the step context for the kernels that follow";
  let description = [{
    Kernels read sizes and index arrays from the step context. In a program with
    a `set_field`, each worker has its own copy of the context, which it
    modifies and passes to kernels; the context of the caller remains unchanged.
    A count is set to an integer, a pointer to a buffer, which is live until the
    field is set again; `restored` resets either to the caller's value.

    Fails verification when:
    - c1: the field is owned by the caller (runtime, arena, weights, state);
    - c2: a count is neither set to an integer nor restored, or a pointer is
      neither set to a buffer nor restored.

    Example:
    ```mlir
    mllm.program.set_field num_tokens to 7
    mllm.program.set_field token_ids at %ids : memref<1x16xi32>
    mllm.program.set_field kv_pool restored
    ```
  }];
  let arguments = (ins
    Arg<I64Attr, "index of the field in RuntimeABI.def; printed by name">:$field,
    Arg<OptionalAttr<I64Attr>, "the new value of a count">:$value,
    Arg<Optional<AnyStaticShapeMemRef>, "the new target of a pointer">:$buffer,
    Arg<UnitAttr, "the caller's value is restored">:$restored);
  let assemblyFormat = [{
    custom<StepFieldName>($field) (`to` $value^)? (`at` $buffer^ `:` type($buffer))?
    (`restored` $restored^)? attr-dict
  }];
  let builders = [
    OpBuilder<(ins "::llmir::StepField":$field, "int64_t":$value)>,
    OpBuilder<(ins "::llmir::StepField":$field, "::mlir::Value":$buffer)>,
    // Restores the caller's value.
    OpBuilder<(ins "::llmir::StepField":$field)>
  ];
  let extraClassDeclaration = [{
    ::llmir::StepField getStepField() {
      return static_cast<::llmir::StepField>(getField());
    }
  }];
  let hasVerifier = 1;
}

def MLLMProgram_RuntimeCallOp : MLLM_ProgramOp<"runtime_call"> {
  let summary = "Calls a function of the runtime from one worker";
  let description = [{
    The first worker calls the function of RuntimeABI.def; the others continue
    to the next barrier. Pointers are passed as buffers, scalars as attributes,
    each in the order of the function's parameters.

    Fails verification when:
    - c1: the function is called by every worker (barrier);
    - c2: the number of buffers is not that of its pointer parameters;
    - c3: the scalars do not have the number and types (i64 and f64) of its
      scalar parameters.

    Example:
    ```mlir
    mllm.program.runtime_call fork_kv (%from, %to) [2 : i64]
        : memref<2x1xi32>, memref<2x1xi32>
    ```
  }];
  let arguments = (ins
    Arg<I64Attr, "index of the function in RuntimeABI.def; printed by name">:$function,
    Arg<Variadic<AnyStaticShapeMemRef>, "pointer arguments">:$buffers,
    Arg<ArrayAttr, "scalar arguments">:$numbers);
  let assemblyFormat = [{
    custom<RuntimeFunctionName>($function) `(` $buffers `)` $numbers attr-dict
    (`:` type($buffers)^)?
  }];
  let extraClassDeclaration = [{
    ::llmir::RuntimeFunction getRuntimeFunction() {
      return static_cast<::llmir::RuntimeFunction>(getFunction());
    }
  }];
  let hasVerifier = 1;
}

def MLLMProgram_JumpNextLayerOp : MLLM_ProgramOp<"jump_next_layer"> {
  let summary = "Increments the layer register and jumps while it is below a limit";
  let description = [{
    The conditional jump that makes a run of equal layers a loop.

    Fails verification when:
    - c1: the label is not in the same fragment.

    Example: `mllm.program.jump_next_layer "layers.0" below 5`
  }];
  let arguments = (ins
    Arg<StrAttr, "the label at the start of the run">:$label,
    Arg<I64Attr, "first layer after the run">:$limit);
  let assemblyFormat = "$label `below` $limit attr-dict";
  let hasVerifier = 1;
}

def MLLMProgram_JumpOp : MLLM_ProgramOp<"jump"> {
  let summary = "Jumps to a label";
  let description = [{
    Every worker continues at the label, which is before or after the jump. The
    layer register does not change.

    Fails verification when:
    - c1: the label is not in the same fragment.

    Example: `mllm.program.jump "end"`
  }];
  let arguments = (ins Arg<StrAttr, "the target">:$label);
  let assemblyFormat = "$label attr-dict";
  let hasVerifier = 1;
}

def MLLMProgram_JumpIfOp : MLLM_ProgramOp<"jump_if"> {
  let summary = "Jumps to a label if a condition is not 0";
  let description = [{
    Every worker reads the first element of the buffer. If it is not 0,
    execution continues at the label, which is before or after the jump, else at
    the next instruction. A barrier is required between the instruction that
    writes the condition and the jump, so that all workers take the same branch.
    The layer register does not change.

    Fails verification when:
    - c1: the label is not in the same fragment;
    - c2: the element type of the buffer is not i32, or it has no elements;
    - c3: the buffer is `per_worker`, so that workers could take different
      branches.

    Example: `mllm.program.jump_if "again" (%more) : memref<1x16xi32>`
  }];
  let arguments = (ins
    Arg<StrAttr, "the target if the condition is not 0">:$label,
    Arg<AnyStaticShapeMemRef, "buffer of i32 whose first element is the condition">:$condition);
  let assemblyFormat =
    "$label `(` $condition `)` attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def MLLMProgram_BarrierOp : MLLM_ProgramOp<"barrier"> {
  let summary = "Waits until every worker has arrived";
  let description = [{
    Calls the runtime's barrier: all writes of any worker before it are visible
    to every worker after it. With `unless_decode`, it is skipped in
    decode-sized steps; with `if_split`, it is executed only in steps that split
    attention.
  }];
  let arguments = (ins
    Arg<UnitAttr, "skipped in decode-sized steps">:$unless_decode,
    Arg<UnitAttr, "skipped unless the step splits attention">:$if_split);
  let assemblyFormat =
    "(`unless_decode` $unless_decode^)? (`if_split` $if_split^)? attr-dict";
}

def MLLMProgram_InstructionOp : MLLM_ProgramOp<"instruction", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Runs one or more kernels";
  let description = [{
    Every worker executes its part of the kernels in order, without barriers
    between them: a kernel may read only those results of an earlier one that
    the same worker has written. `-fuse-program-instructions` creates
    instructions with several kernels. The weights that the kernels read are
    selected before them.

    With `replicated`, every worker executes the kernels completely in a
    decode-sized step, and their results are `per_worker` buffers.

    `-emit-kernels` replaces each kernel by a `mllm.program.call` of its
    generated function.

    Fails verification when:
    - c1: it contains an op other than `get_weight`, kernels and `call`, or no
      kernel and no call;
    - c2: it is replicated and a kernel writes a buffer that is not `per_worker`.

    Example:
    ```mlir
    mllm.program.instruction {
      %w = mllm.program.get_weight @layers.up_proj : memref<22528xi8>
      mllm.kernel.linear weights(%w : memref<22528xi8>) ins(%x : memref<512x32xf32>)
          outs(%y : memref<512x176xf32>) {format = "bf16", rows = 172, columns = 64}
    }
    ```
  }];
  let arguments = (ins
    Arg<UnitAttr, "executed completely by every worker in decode-sized steps">:$replicated);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`replicated` $replicated^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def MLLMProgram_GetWeightOp : MLLM_ProgramOp<"get_weight",
    [Pure, HasParent<"InstructionOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The packed weight of the current layer";
  let description = [{
    The layer register selects one of the offsets of a weight with several.

    Fails verification when:
    - c1: the weight is not declared in a data fragment;
    - c2: the type does not match the weight: the bytes of a matrix, or the
      elements of a vector.

    Example: `%w = mllm.program.get_weight @layers.up_proj : memref<22528xi8>`
  }];
  let arguments = (ins
    Arg<FlatSymbolRefAttr, "a weight of a data fragment">:$weight);
  let results = (outs
    Res<MemRefRankOf<[I8, F32], [1]>, "the packed bytes of a matrix, or the f32 elements of a vector">:$value);
  let assemblyFormat = "$weight attr-dict `:` type($value)";
}

def MLLMProgram_CallOp : MLLM_ProgramOp<"call",
    [HasParent<"InstructionOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls the function generated for a kernel";
  let description = [{
    Every worker calls the function with the step context, its worker index, the
    number of workers, the layer register, and the operands. Created by
    `-emit-kernels`.

    Fails verification when:
    - c1: the function does not exist in the module, or has a different number
      of arguments.

    Example:
    ```mlir
    mllm.program.call @linear_bf16_172x64 (%w, %x, %y)
        : memref<22528xi8>, memref<512x32xf32>, memref<512x176xf32>
    ```
  }];
  let arguments = (ins
    Arg<FlatSymbolRefAttr, "the function">:$callee,
    Arg<Variadic<AnyStaticShapeMemRef>, "weights and buffers, in the order of the kernel's operands">:$arguments);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict (`:` type($arguments)^)?";
}

#endif // LLMIR_DIALECT_MLLM_MLLMPROGRAMOPS
