//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of ops of the linalg level.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINTERFACES
#define LLMIR_DIALECT_MLLM_MLLMINTERFACES

include "mlir/IR/OpBase.td"

def MLLM_LinalgOpInterface : OpInterface<"LinalgOpInterface"> {
  let cppNamespace = "::llmir::mllm";
  let description = [{
    An op of the linalg level: the accuracy of compiled code and its cost.
  }];
  let methods = [
    StaticInterfaceMethod<[{
      The maximum normalized mean squared error of a compiled result relative to
      the reference; 0 if the op only moves data or is exact.
    }], "double", "getErrorBound">,
    InterfaceMethod<[{
      The number of floating-point operations (a multiply-add is two); nullopt if
      a relevant size is dynamic. The default is one per result element.
    }], "std::optional<int64_t>", "getFlops", (ins), "", [{
      return ::llmir::mllm::detail::numResultValues($_op);
    }]>,
    InterfaceMethod<[{
      The number of bytes read and written, counting operands, parameters and
      results once each; nullopt if a size is dynamic.
    }], "std::optional<int64_t>", "getBytes", (ins), "", [{
      return ::llmir::mllm::detail::bytesTouched($_op);
    }]>,
    InterfaceMethod<[{
      The symbols of the parameters that the op reads, sorted by attribute name.
    }], "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getParameters", (ins),
    "", [{
      return ::llmir::mllm::detail::parameterSymbols($_op);
    }]>
  ];
}

#endif // LLMIR_DIALECT_MLLM_MLLMINTERFACES
