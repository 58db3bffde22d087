//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Ops of the graph level: modules and calls.
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
  let summary = "Computation of a module instance";
  let description = [{
    Holds the computation of one module instance. The symbol is the path of the
    module in the checkpoint, for example `@model.layers.3.self_attn`; each
    instance, including identical layers, has its own subgraph. The subgraph
    marked `entry` is the traced model: it maps token ids to logits, and no
    other subgraph calls it. Parameters are not arguments: layer ops reference
    their parameters by symbol.

    Fails verification when
    - c1: an argument or a result is not a ranked tensor;
    - c2: the body does not end with `mllm.cf.return`;
    - c3: it is marked `entry`, and so is another subgraph of the module;
    - c4: it is marked `entry`, and the call graph reachable from it has a
      cycle;
    - c5: it is marked `entry`, and a call at module level has a different
      callee;
    - c6: `device` is `kCPU`, the default;
    - c7: it has no body, and its module is not nested in another module.

    In a nested module, a subgraph without a body declares a subgraph that
    another nested module defines; `mllm-link` links them.

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
    Arg<UnitAttr, "whether this is the traced model itself">:$entry,
    Arg<OptionalAttr<MLLM_DeviceAttr>, "device of the subgraph; the CPU if absent">:$device,
    Arg<OptionalAttr<StrAttr>, "visibility of the symbol; public if absent">:$sym_visibility,
    Arg<OptionalAttr<DictArrayAttr>, "argument attributes, one dictionary per argument">:$arg_attrs,
    Arg<OptionalAttr<DictArrayAttr>, "result attributes, one dictionary per result">:$res_attrs
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
    /// FunctionOpInterface: rule c1.
    ::llvm::LogicalResult verifyType();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def MLLM_CallGraphOp : MLLM_Op<"graph.call_graph", [
    CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call a subgraph";
  let description = [{
    Calls the subgraph `callee` with the operands as arguments.

    Fails verification when
    - c1: the callee is not an `mllm.graph.subgraph` of the module;
    - c2: the number or types of the operands differ from those of the callee's
      arguments;
    - c3: the number or types of the results differ from those of the callee's
      results.

    Example:

    ```mlir
    %y = mllm.graph.call_graph @model.layers.0(%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];

  let arguments = (ins
    Arg<FlatSymbolRefAttr, "called subgraph">:$callee,
    Arg<Variadic<AnyRankedTensor>, "arguments of the callee">:$operands,
    Arg<OptionalAttr<DictArrayAttr>, "argument attributes, one dictionary per argument">:$arg_attrs,
    Arg<OptionalAttr<DictArrayAttr>, "result attributes, one dictionary per result">:$res_attrs
  );
  let results = (outs
    Res<Variadic<AnyRankedTensor>, "results of the callee">:$results
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
  let summary = "Annotation without computation";
  let description = [{
    Marks a position in the traced program. All passes except
    `mllm-remove-debug-ops` preserve it.

    Only the ODS constraints apply.

    Example:

    ```mlir
    mllm.dbg.comment "attention of the first layer"
    ```
  }];
  let arguments = (ins Arg<StrAttr, "text of the comment">:$text);
  let assemblyFormat = "$text attr-dict";
}

#endif // LLMIR_DIALECT_MLLM_MLLMGRAPHOPS
