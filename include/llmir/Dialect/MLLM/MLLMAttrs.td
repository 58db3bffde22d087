//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes that several levels share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMATTRS
#define LLMIR_DIALECT_MLLM_MLLMATTRS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def MLLM_Device : I32EnumAttr<"Device", "where a tensor lies or a subgraph runs", [
    I32EnumAttrCase<"CPU", 0, "kCPU">,
    I32EnumAttrCase<"CUDA", 1, "kCUDA">,
    I32EnumAttrCase<"OpenCL", 2, "kOpenCL">,
    I32EnumAttrCase<"QNN", 3, "kQNN">,
    I32EnumAttrCase<"Ascend", 4, "kAscend">]> {
  let cppNamespace = "::llmir::mllm";
  let genSpecializedAttr = 0;
}

def MLLM_DeviceAttr : EnumAttr<MLLM_Dialect, MLLM_Device, "device"> {
  let assemblyFormat = "`<` $value `>`";
}

def MLLM_TensorEncodingAttr : AttrDef<MLLM_Dialect, "TensorEncoding", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "tensor";
  let summary = "What a tensor type says beside sizes and element type";
  let description = [{
    The encoding of a value's type: the device on which it lies, and an
    expression for each of its sizes. An expression is a number, a sum of
    symbols and numbers with number factors, or `?` for a size without a name.
    Two sizes of the same name are equal wherever they stand in the module.
    Without an encoding a tensor lies on the CPU and its dynamic sizes have no
    names; an encoding that says no more than that is not allowed.

    Fails verification when
    - c1: it names neither a device other than `kCPU` nor a dynamic size;
    - c2: the number of expressions is not the rank of the tensor;
    - c3: an expression is a number other than the tensor's size, or names a
      static size.

    Examples:

    ```mlir
    tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>>
    tensor<?x64xf32, #mllm.tensor<kCUDA, dims = (seq + past, 64)>>
    tensor<4x4xf16, #mllm.tensor<kQNN>>
    ```
  }];
  let parameters = (ins
    "::llmir::mllm::Device":$device,
    ArrayRefParameter<"::mlir::StringAttr", "canonical text of each size; empty when none has a name">:$sizes
  );
  let extraClassDeclaration = [{
    /// The expressions of the sizes; empty when none has a name.
    ::llmir::shapes::Shape getDims() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// What attributes of linalg ops choose from
//===----------------------------------------------------------------------===//

class MLLM_Choice<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::llmir::mllm";
  let genSpecializedAttr = 0;
}

def MLLM_FillKind : MLLM_Choice<"FillKind", "the values of fill", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Specific", 2, "specific">,
    I32EnumAttrCase<"Random", 3, "random">,
    I32EnumAttrCase<"Arange", 4, "arange">]>;
def MLLM_FillKindAttr : EnumAttr<MLLM_Dialect, MLLM_FillKind, "fill_kind">;

def MLLM_Comparison : MLLM_Choice<"Comparison", "what compare asks", [
    I32EnumAttrCase<"NotEqual", 0, "not_equal">,
    I32EnumAttrCase<"Less", 1, "less">,
    I32EnumAttrCase<"LessEqual", 2, "less_equal">,
    I32EnumAttrCase<"Greater", 3, "greater">,
    I32EnumAttrCase<"GreaterEqual", 4, "greater_equal">]>;
def MLLM_ComparisonAttr : EnumAttr<MLLM_Dialect, MLLM_Comparison, "comparison">;

def MLLM_PadMode : MLLM_Choice<"PadMode", "what stands around a tensor", [
    I32EnumAttrCase<"Constant", 0, "constant">,
    I32EnumAttrCase<"Reflect", 1, "reflect">,
    I32EnumAttrCase<"Replicate", 2, "replicate">,
    I32EnumAttrCase<"Circular", 3, "circular">]>;
def MLLM_PadModeEnumAttr : EnumAttr<MLLM_Dialect, MLLM_PadMode, "pad_mode">;

def MLLM_RangeAttr : AttrDef<MLLM_Dialect, "Range"> {
  let mnemonic = "range";
  let summary = "The values that a named size takes";
  let description = [{
    From `least` to `greatest`, both included, in multiples of `multiple`.

    Fails verification when
    - c1: `least` is negative, or greater than `greatest`;
    - c2: `multiple` is less than 1;
    - c3: no multiple lies in the range.

    Examples: `#mllm.range<1, 32768>`, `#mllm.range<0, 4096, multiple of 16>`
  }];
  let parameters = (ins
    "int64_t":$least,
    "int64_t":$greatest,
    DefaultValuedParameter<"int64_t", "1">:$multiple
  );
  let assemblyFormat = "`<` $least `,` $greatest (`,` `multiple` `of` $multiple^)? `>`";
  let genVerifyDecl = 1;
}

def MLLM_QuantAttr : AttrDef<MLLM_Dialect, "Quant"> {
  let mnemonic = "quant";
  let summary = "How numbers are to be quantized";
  let description = [{
    An annotation: of a weight in `mllm.quant.weights`, of an argument or a result
    in its attribute dictionary. `scheme` is one of `raw` (not quantized),
    `sym_per_tensor`, `sym_per_channel`, `sym_per_block`, `asym_per_tensor`,
    `asym_per_channel`, `asym_per_block`, `lpbq` (a 4-bit integer scale for each
    block and a float scale for each channel), and the block formats of files by
    name (`q8_0`, `q4_0`, …), with their rounding. `axis` is the dimension of
    channels, `block` how many numbers along the last dimension share a scale.

    Fails verification when
    - c1: the scheme is none of these;
    - c2: `bits` is not from 2 to 8 (0 for `raw`);
    - c3: `axis` is given for a scheme other than per channel or `lpbq`, or is
      less than -1;
    - c4: `block` is given for a scheme without blocks, or missing or less than
      1 for one with blocks;
    - c5: `bits` or `block` of a block format are not that format's.

    Examples:
    - `#mllm.quant<sym_per_block, bits = 4, block = 32>`
    - `#mllm.quant<q8_0, bits = 8, block = 32>`
  }];
  let parameters = (ins
    StringRefParameter<"name of the scheme">:$scheme,
    DefaultValuedParameter<"int64_t", "0">:$bits,
    DefaultValuedParameter<"int64_t", "-1">:$axis,
    DefaultValuedParameter<"int64_t", "0">:$block
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // LLMIR_DIALECT_MLLM_MLLMATTRS
