//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes shared by several levels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMATTRS
#define LLMIR_DIALECT_MLLM_MLLMATTRS

include "llmir/Dialect/MLLM/MLLMBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def MLLM_Device : I32EnumAttr<"Device", "device of a tensor or a subgraph", [
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
  let summary = "Device and symbolic sizes of a tensor type";
  let description = [{
    The encoding of a tensor type: its device, and an expression for each of its
    sizes. An expression is an integer, a linear combination of symbols with
    integer coefficients, or `?` for an unnamed size. Sizes with the same name
    are equal throughout the module. Without an encoding, a tensor is on the CPU
    and its dynamic sizes are unnamed; an encoding that says no more is invalid.

    Fails verification when
    - c1: it names neither a device other than `kCPU` nor a dynamic size;
    - c2: the number of expressions is not the rank of the tensor;
    - c3: an expression is an integer that differs from the tensor's size, or
      names a static size.

    Examples:

    ```mlir
    tensor<1x?xi64, #mllm.tensor<dims = (1, seq)>>
    tensor<?x64xf32, #mllm.tensor<kCUDA, dims = (seq + past, 64)>>
    tensor<4x4xf16, #mllm.tensor<kQNN>>
    ```
  }];
  let parameters = (ins
    "::llmir::mllm::Device":$device,
    ArrayRefParameter<"::mlir::StringAttr", "canonical text of each size; empty if no size is named">:$sizes
  );
  let extraClassDeclaration = [{
    /// The expressions of the sizes; empty if no size is named.
    ::llmir::shapes::Shape getDims() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Enum attributes of linalg ops
//===----------------------------------------------------------------------===//

class MLLM_Choice<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::llmir::mllm";
  let genSpecializedAttr = 0;
}

def MLLM_FillKind : MLLM_Choice<"FillKind", "kind of values that fill creates", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Specific", 2, "specific">,
    I32EnumAttrCase<"Random", 3, "random">,
    I32EnumAttrCase<"Arange", 4, "arange">]>;
def MLLM_FillKindAttr : EnumAttr<MLLM_Dialect, MLLM_FillKind, "fill_kind">;

def MLLM_Comparison : MLLM_Choice<"Comparison", "comparison predicate", [
    I32EnumAttrCase<"NotEqual", 0, "not_equal">,
    I32EnumAttrCase<"Less", 1, "less">,
    I32EnumAttrCase<"LessEqual", 2, "less_equal">,
    I32EnumAttrCase<"Greater", 3, "greater">,
    I32EnumAttrCase<"GreaterEqual", 4, "greater_equal">]>;
def MLLM_ComparisonAttr : EnumAttr<MLLM_Dialect, MLLM_Comparison, "comparison">;

def MLLM_PadMode : MLLM_Choice<"PadMode", "how a tensor is padded", [
    I32EnumAttrCase<"Constant", 0, "constant">,
    I32EnumAttrCase<"Reflect", 1, "reflect">,
    I32EnumAttrCase<"Replicate", 2, "replicate">,
    I32EnumAttrCase<"Circular", 3, "circular">]>;
def MLLM_PadModeEnumAttr : EnumAttr<MLLM_Dialect, MLLM_PadMode, "pad_mode">;

def MLLM_RangeAttr : AttrDef<MLLM_Dialect, "Range"> {
  let mnemonic = "range";
  let summary = "Range of a symbolic size";
  let description = [{
    The multiples of `multiple` from `least` to `greatest`, inclusive.

    Fails verification when
    - c1: `least` is negative, or greater than `greatest`;
    - c2: `multiple` is less than 1;
    - c3: the range contains no multiple.

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
  let summary = "Quantization annotation";
  let description = [{
    Annotates a weight (in `mllm.quant.weights`) or an argument or result (in
    its attribute dictionary). `scheme` is one of `raw` (not quantized),
    `sym_per_tensor`, `sym_per_channel`, `sym_per_block`, `asym_per_tensor`,
    `asym_per_channel`, `asym_per_block`, `lpbq` (a 4-bit integer scale for each
    block and a float scale for each channel), or the name of a file block
    format (`q8_0`, `q4_0`, …), with its rounding. `axis` is the channel
    dimension, `block` the number of consecutive elements along the last
    dimension that share a scale.

    Fails verification when
    - c1: the scheme is none of these;
    - c2: `bits` is not between 2 and 8 (0 for `raw`);
    - c3: `axis` is given for a scheme other than per channel or `lpbq`, or is
      less than -1;
    - c4: `block` is given for a scheme without blocks, or absent or less than 1
      for one with blocks;
    - c5: `bits` or `block` differs from that of the named block format.

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
