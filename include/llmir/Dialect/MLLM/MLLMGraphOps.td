//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph level: modules and the calls between them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMGRAPHOPS
#define LLMIR_DIALECT_MLLM_MLLMGRAPHOPS

include "llmir/Dialect/MLLM/MLLMAttrs.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MLLM_SubGraphOp : MLLM_Op<"graph.subgraph", [
    FunctionOpInterface, IsolatedFromAbove, SingleBlock,
    HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One instance of a module: its computation under its path";
  let description = [{
    Holds what one module instance computes from its arguments. The symbol is
    the module's path in the checkpoint, for example
    `@model.layers.3.self_attn`; each instance has a subgraph of its own, equal
    layers included. The subgraph marked `entry` is the traced model: it takes
    the token ids and gives the logits, and nothing calls it.

    Parameters are not arguments: a layer's op names its parameters by symbol.

    Fails verification when
    - c1: an argument or a result is not a ranked tensor;
    - c2: the body does not end in `mllm.cf.return`;
    - c3: it is marked `entry`, and so is another subgraph of the module;
    - c4: it is marked `entry`, and following the calls from it leads back to a
      subgraph that is still being called;
    - c5: it is marked `entry`, and a call in the module itself is of another
      subgraph;
    - c6: `device` is `kCPU`, which is what no device means;
    - c7: it has no body, and its module does not stand in another one.

    In modules that stand in a module a subgraph may have no body: then it says
    that another one of the modules defines it, and `mllm-link` joins them.

    Example:

    ```mlir
    mllm.graph.subgraph @model.norm_and_head(%x: tensor<?x64xf32>) -> tensor<?x259xf32> attributes {entry} {
      %0 = mllm.linalg.rms_norm %x, @model.norm.weight {eps = 1.0e-5 : f64} : tensor<?x64xf32>
      %1 = mllm.linalg.linear %0, @lm_head.weight : tensor<?x64xf32> -> tensor<?x259xf32>
      mllm.cf.return %1 : tensor<?x259xf32>
    }
    ```
  }];

  let arguments = (ins
    Arg<SymbolNameAttr, "path of the module instance, for example `model.layers.3.mlp`">:$sym_name,
    Arg<TypeAttrOf<FunctionType>, "types of the arguments and results">:$function_type,
    Arg<UnitAttr, "present on the traced model itself: token ids in, logits out">:$entry,
    Arg<OptionalAttr<MLLM_DeviceAttr>, "where the subgraph runs; the CPU when absent">:$device,
    Arg<OptionalAttr<StrAttr>, "visibility of the symbol; public when absent">:$sym_visibility,
    Arg<OptionalAttr<DictArrayAttr>, "attributes of the arguments, one dictionary each">:$arg_attrs,
    Arg<OptionalAttr<DictArrayAttr>, "attributes of the results, one dictionary each">:$res_attrs
  );
  let regions = (region AnyRegion:$body);

  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                   CArg<"bool", "false">:$entry)>
  ];

  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    /// FunctionOpInterface: constraint c1.
    ::llvm::LogicalResult verifyType();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def MLLM_CallGraphOp : MLLM_Op<"graph.call_graph", [
    CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a subgraph";
  let description = [{
    Gives the results of the callee for the operands.

    Fails verification when
    - c1: the callee is not an `mllm.graph.subgraph` of the module;
    - c2: the number or the types of the operands are not those of the callee's
      arguments;
    - c3: the number or the types of the results are not those of the callee's
      results.

    Example:

    ```mlir
    %y = mllm.graph.call_graph @model.layers.0(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];

  let arguments = (ins
    Arg<FlatSymbolRefAttr, "the subgraph to run">:$callee,
    Arg<Variadic<AnyRankedTensor>, "the callee's arguments, in order">:$operands,
    Arg<OptionalAttr<DictArrayAttr>, "attributes of the operands, one dictionary each">:$arg_attrs,
    Arg<OptionalAttr<DictArrayAttr>, "attributes of the results, one dictionary each">:$res_attrs
  );
  let results = (outs
    Res<Variadic<AnyRankedTensor>, "the callee's results, in order">:$results
  );

  let builders = [
    OpBuilder<(ins "::llmir::mllm::SubGraphOp":$callee,
                   "::mlir::ValueRange":$operands)>
  ];

  let extraClassDeclaration = [{
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() {
      return getOperandsMutable();
    }
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return ::llvm::cast<::mlir::SymbolRefAttr>(getCalleeAttr());
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(
          ::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
  }];

  let assemblyFormat = [{
    $callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
}

def MLLM_CommentOp : MLLM_Op<"dbg.comment", [MemoryEffects<[MemWrite]>]> {
  let summary = "A note that computes nothing";
  let description = [{
    Stands where whoever traced the model wanted to find it again. It survives
    every pass but `mllm-remove-debug-ops`.

    Fails verification when ODS' own constraints do: the text is no string.

    Example:

    ```mlir
    mllm.dbg.comment "attention of the first layer"
    ```
  }];
  let arguments = (ins Arg<StrAttr, "the note">:$text);
  let assemblyFormat = "$text attr-dict";
}

#endif // LLMIR_DIALECT_MLLM_MLLMGRAPHOPS
