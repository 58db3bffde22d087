//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every op of the linalg level tells of itself.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINTERFACES
#define LLMIR_DIALECT_MLLM_MLLMINTERFACES

include "mlir/IR/OpBase.td"

def MLLM_LinalgOpInterface : OpInterface<"LinalgOpInterface"> {
  let cppNamespace = "::llmir::mllm";
  let description = [{
    An op of the linalg level: how near compiled code comes to its meaning, and
    what it costs.
  }];
  let methods = [
    StaticInterfaceMethod<[{
      The greatest normalized mean squared error of a compiled result against the
      reference; 0 where the op only moves values or computes exactly.
    }], "double", "getErrorBound">,
    InterfaceMethod<[{
      Floating-point operations, a multiply-add counting as two; nullopt while a
      size that matters is dynamic. By default one for each value of the
      results.
    }], "std::optional<int64_t>", "getFlops", (ins), "", [{
      return ::llmir::mllm::detail::numResultValues($_op);
    }]>,
    InterfaceMethod<[{
      Bytes read and written: operands, parameters and results once each;
      nullopt while a size is dynamic.
    }], "std::optional<int64_t>", "getBytes", (ins), "", [{
      return ::llmir::mllm::detail::bytesTouched($_op);
    }]>,
    InterfaceMethod<[{
      The symbols of the parameters that the op reads, sorted by the name of the
      attribute.
    }], "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getParameters", (ins),
    "", [{
      return ::llmir::mllm::detail::parameterSymbols($_op);
    }]>
  ];
}

#endif // LLMIR_DIALECT_MLLM_MLLMINTERFACES
