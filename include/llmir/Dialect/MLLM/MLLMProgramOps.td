//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `mllm.program.*`: the last IR before LLVM and the only source of the step
// function. A program is a list of instructions with labels and jumps; every
// worker runs it, and a barrier stands wherever one worker reads what
// another has written.
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

def MLLM_FragmentKind : I32EnumAttr<"FragmentKind", "what a fragment holds", [
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
    and where they are in the weight section. A `text` fragment holds named
    constants; its kind may be written `table`, too.

    With `few_tokens`, a step of at most as many tokens is a step of few: then
    every worker does the whole work of `replicated` instructions in memory of
    its own, and barriers `unless_few` are passed by.

    Fails verification when:
    - c1: a code fragment does not begin with one `entry_point` (buffers and
      inputs may stand before it) or does not end with `exit`;
    - c2: a data fragment holds anything but `weight` and `constant` ops;
    - c3: a text fragment holds anything but `constant` ops;
    - c4: an op of a code fragment without `few_tokens` speaks of few tokens;
    - c5: two labels of a code fragment have the same name;
    - c6: a code fragment has two `logits`, which would be the same memory.

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
    Arg<SymbolNameAttr, "the fragment's name; a code fragment's is that of its native function">:$sym_name,
    Arg<MLLM_FragmentKind, "code, data or text">:$kind);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
    "$sym_name custom<FragmentKind>($kind) attr-dict-with-keyword $body";
  // What its ops say is read after they are verified themselves.
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
    has one source and one offset for each layer of the run, beginning at
    `first_layer`; a weight outside has one of each. All sources share format,
    shape and layout, so that one kernel serves every layer.

    `tiles16` is the matrix layout: tiles of 16 rows, each a sequence of 64-byte
    lines of 16 rows x 4 bytes of K, block formats with 16 f16 scales after the
    lines of a block. `vector` is a rank-1 tensor as f32, padded to 16 with zero.

    Fails verification when:
    - c1: the numbers of sources and offsets differ, or there is none;
    - c2: an offset is negative or not a multiple of 64;
    - c3: `slice` is not two numbers, 0 <= first and first + rows <= total, or the
      tensor is neither a vector nor a matrix;
    - c4: `transposed` stands at a tensor that is no matrix.

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
    Arg<DenseI64ArrayAttr, "rows and columns of a source; [N] for a vector, [E, rows, columns] for the matrices of E experts, which lie one behind the other">:$shape,
    Arg<I64Attr, "bytes of one packed source">:$bytes,
    Arg<StrArrayAttr, "names of the checkpoint's tensors, one per layer of the run">:$sources,
    Arg<DenseI64ArrayAttr, "byte offsets in the weight section, one per source">:$offsets,
    Arg<DefaultValuedAttr<I64Attr, "0">, "model layer of the first source">:$first_layer,
    Arg<DefaultValuedAttr<I64Attr, "0">, "heads whose rows are stored in pairs and put back in halves when packing; 0 = none">:$rope_unpermute_heads,
    Arg<OptionalAttr<DenseI64ArrayAttr>, "first row in each source, and the rows of a source, as mllm.tensor.register has it">:$slice,
    Arg<UnitAttr, "the sources are [columns, rows]">:$transposed);
  let assemblyFormat = [{
    $sym_name $layout $format $shape `bytes` $bytes `sources` $sources `at` $offsets
    (`first_layer` $first_layer^)? (`rope_unpermute_heads` $rope_unpermute_heads^)? attr-dict
  }];
  let hasVerifier = 1;
}

def MLLMProgram_ConstantOp : MLLM_ProgramOp<"constant", [Symbol]> {
  let summary = "Values that are known when compiling, by name"
                " for inputs and weights";
  let description = [{
    Whoever runs the program writes the values into the inputs, and packs them
    into the weights, that name the constant as their source. The step's program
    has none: its weights come from the checkpoint.

    Example: `mllm.program.constant @constant0 dense<[0, 4, 8]> : tensor<3xi32>`
  }];
  let arguments = (ins
    Arg<SymbolNameAttr, "the name by which inputs and weights refer to it">:$sym_name,
    Arg<ElementsAttr, "the values; i1 stands for a mask">:$value);
  let assemblyFormat = "$sym_name $value attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernels' regions
//===----------------------------------------------------------------------===//

def MLLMProgram_YieldOp : MLLM_ProgramOp<"yield", [Pure, Terminator]> {
  let summary = "Ends the scalar region of a kernel";
  let description = [{
    Gives the element of the result.

    Fails verification when:
    - c1: it does not end the region of a kernel.

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
  let summary = "A buffer of the arena at its planned offset";
  let description = [{
    The rows of a buffer are tokens (or listed logits rows), as many as a step
    may have; a step uses a prefix. Rows are padded to 16 elements. Without an
    offset the buffer is not planned yet.

    In a step of few tokens a buffer `per_worker` lies in memory of each worker's
    own, `at` an offset there, with as many rows as such a step may have.

    Example: `%x = mllm.program.buffer offset 4096 per_worker at 0 : memref<512x64xf32>`
  }];
  let arguments = (ins
    Arg<OptionalAttr<I64Attr>, "bytes from the start of the arena">:$offset,
    Arg<UnitAttr, "each worker has its own in a step of few tokens">:$per_worker,
    Arg<OptionalAttr<I64Attr>, "bytes from the start of the worker's memory">:$worker_offset);
  let results = (outs Res<AnyStaticShapeMemRef, "the buffer">:$buffer);
  let assemblyFormat = [{
    (`offset` $offset^)? (`per_worker` $per_worker^)? (`at` $worker_offset^)?
    attr-dict `:` type($buffer)
  }];
  let builders = [
    // In the arena alone.
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::IntegerAttr":$offset), [{
      build($_builder, $_state, type, offset, /*per_worker=*/false,
            ::mlir::IntegerAttr());
    }]>
  ];
}

def MLLMProgram_LogitsOp : MLLM_ProgramOp<"logits"> {
  let summary = "The step's output: the logits buffer of the caller";
  let description = [{
    The memory that the step context names `logits`, seen as rows of padded
    vocabulary entries.

    Example: `%l = mllm.program.logits : memref<64x512xf32>`
  }];
  let results = (outs Res<AnyStaticShapeMemRef, "[logit rows, padded vocabulary]">:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
}

def MLLMProgram_InputOp : MLLM_ProgramOp<"input"> {
  let summary = "What the caller writes into a buffer before the program runs";
  let description = [{
    `source` is an argument of the function that was compiled (`arg0`; for one
    rank of several `arg0.rank1`) or a `constant`. Its elements, in order, fill
    `columns` entries of each row; the rest of a row is zero. No code results.

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
  let summary = "A buffer that the caller reads after the program has run";
  let description = [{
    `name` is a result of the function that was compiled (`result0`; for one
    rank of several `result0.rank1`). Stands at the end of the code, so that the
    buffer lives until then. No code results.

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
  let summary = "Where a code fragment starts";
  let description = [{
    The native function begins here, with the layer register at zero.
  }];
  let assemblyFormat = "attr-dict";
}

def MLLMProgram_ExitOp : MLLM_ProgramOp<"exit"> {
  let summary = "Where a code fragment ends";
  let description = [{
    The native function returns; every worker reaches it.
  }];
  let assemblyFormat = "attr-dict";
}

def MLLMProgram_LabelOp : MLLM_ProgramOp<"label"> {
  let summary = "A place to jump to";
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
    Kernels read sizes and index arrays in the step context. A program with a
    `set_field` gives each worker a copy of its own to write to, and its kernels
    get that copy; the runtime keeps the caller's. A count is set to a number, a
    pointer to a buffer, which lives until the field is set again; `restored`
    gives either what the caller has set.

    Fails verification when:
    - c1: the field is one that belongs to the caller (runtime, arena, weights,
      state);
    - c2: a count is neither set to a number nor restored, or a pointer neither
      set to a buffer nor restored.

    Example:
    ```mlir
    mllm.program.set_field num_tokens to 7
    mllm.program.set_field token_ids at %ids : memref<1x16xi32>
    mllm.program.set_field kv_pool restored
    ```
  }];
  let arguments = (ins
    Arg<I64Attr, "number of the field in RuntimeABI.def; printed by name">:$field,
    Arg<OptionalAttr<I64Attr>, "the new value of a count">:$value,
    Arg<Optional<AnyStaticShapeMemRef>, "what a pointer shall point to">:$buffer,
    Arg<UnitAttr, "the caller's value comes back">:$restored);
  let assemblyFormat = [{
    custom<StepFieldName>($field) (`to` $value^)? (`at` $buffer^ `:` type($buffer))?
    (`restored` $restored^)? attr-dict
  }];
  let builders = [
    OpBuilder<(ins "::llmir::StepField":$field, "int64_t":$value)>,
    OpBuilder<(ins "::llmir::StepField":$field, "::mlir::Value":$buffer)>,
    // The caller's value again.
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
    The first worker calls the function of RuntimeABI.def; the others go on to
    the next barrier. Pointers are given as buffers, numbers as attributes, each
    in the order of the function's parameters.

    Fails verification when:
    - c1: the function is one that every worker calls (barrier);
    - c2: the buffers are not as many as its pointers;
    - c3: the numbers are not those that it takes (i64 and f64).

    Example:
    ```mlir
    mllm.program.runtime_call fork_kv (%from, %to) [2 : i64]
        : memref<2x1xi32>, memref<2x1xi32>
    ```
  }];
  let arguments = (ins
    Arg<I64Attr, "number of the function in RuntimeABI.def; printed by name">:$function,
    Arg<Variadic<AnyStaticShapeMemRef>, "what its pointers point to">:$buffers,
    Arg<ArrayAttr, "its numbers">:$numbers);
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
  let summary = "Adds one to the layer register and jumps while it is below a limit";
  let description = [{
    The conditional jump that makes a run of equal layers a loop.

    Fails verification when:
    - c1: the label does not stand in the same fragment.

    Example: `mllm.program.jump_next_layer "layers.0" below 5`
  }];
  let arguments = (ins
    Arg<StrAttr, "the label that begins the run">:$label,
    Arg<I64Attr, "first layer that no longer belongs to the run">:$limit);
  let assemblyFormat = "$label `below` $limit attr-dict";
  let hasVerifier = 1;
}

def MLLMProgram_JumpOp : MLLM_ProgramOp<"jump"> {
  let summary = "Goes on at a label";
  let description = [{
    Every worker goes on at the label, which stands before or behind the jump.
    The layer register stays what it is.

    Fails verification when:
    - c1: the label does not stand in the same fragment.

    Example: `mllm.program.jump "end"`
  }];
  let arguments = (ins Arg<StrAttr, "where the program goes on">:$label);
  let assemblyFormat = "$label attr-dict";
  let hasVerifier = 1;
}

def MLLMProgram_JumpIfOp : MLLM_ProgramOp<"jump_if"> {
  let summary = "Goes on at a label if a number is not 0";
  let description = [{
    Every worker reads the first element of the buffer; where it is not 0, the
    program goes on at the label, which stands before or behind the jump, else
    at the next instruction. A barrier stands between the instruction that
    writes the number and the jump, so that all workers go the same way. The
    layer register stays what it is.

    Fails verification when:
    - c1: the label does not stand in the same fragment;
    - c2: the buffer does not hold i32, or has no element;
    - c3: the buffer is `per_worker`, so that workers could go different ways.

    Example: `mllm.program.jump_if "again" (%more) : memref<1x16xi32>`
  }];
  let arguments = (ins
    Arg<StrAttr, "where the program goes on if the number is not 0">:$label,
    Arg<AnyStaticShapeMemRef, "i32 numbers, of which the first decides">:$condition);
  let assemblyFormat =
    "$label `(` $condition `)` attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def MLLMProgram_BarrierOp : MLLM_ProgramOp<"barrier"> {
  let summary = "Waits until every worker is here";
  let description = [{
    The one call of the runtime's barrier; what any worker wrote before it is
    seen by every worker after it. With `unless_few` there is none in a step of
    few tokens, with `if_split` only in a step that splits its attention.
  }];
  let arguments = (ins
    Arg<UnitAttr, "passed by in a step of few tokens">:$unless_few,
    Arg<UnitAttr, "passed by unless the step splits attention">:$if_split);
  let assemblyFormat =
    "(`unless_few` $unless_few^)? (`if_split` $if_split^)? attr-dict";
}

def MLLMProgram_InstructionOp : MLLM_ProgramOp<"instruction", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Runs one or more kernels";
  let description = [{
    Every worker runs the kernels in order, each its own part of the work, with
    no barrier between them: what one of them reads of another's results the
    same worker has written. `-fuse-program-instructions` makes instructions of
    several kernels. Before its kernels an instruction takes the weights that
    they read.

    With `replicated`, every worker does the whole work in a decode-sized step:
    what the kernels write is `per_worker`.

    `-emit-kernels` replaces each kernel by a `mllm.program.call` of the function
    that it generates.

    Fails verification when:
    - c1: it holds an op that is not `get_weight`, a kernel or `call`, or neither
      a kernel nor a call;
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
    Arg<UnitAttr, "done whole by every worker in a decode-sized step">:$replicated);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`replicated` $replicated^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def MLLMProgram_GetWeightOp : MLLM_ProgramOp<"get_weight",
    [Pure, HasParent<"InstructionOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The packed weight of the current layer";
  let description = [{
    Where a weight has several offsets, the layer register selects one of them.

    Fails verification when:
    - c1: the weight is not declared in a data fragment;
    - c2: the type is neither the bytes of a matrix nor the elements of a vector
      that the weight holds.

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
  let summary = "Calls the function that was generated for a kernel";
  let description = [{
    Every worker calls the function with the step context, its own number, the
    number of workers, the layer register, and the operands. `-emit-kernels`
    makes these calls.

    Fails verification when:
    - c1: there is no such function in the module, or it takes another number of
      arguments.

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
