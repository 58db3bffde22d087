//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/Registration.h"

#include "llmir/Codegen/Passes.h"
#include "llmir/Conversion/Passes.h"
#include "llmir/Dialect/Check/Check.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Pipelines/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/LLM/Transforms/Pipelines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

void registerAllLLMIRDialects(DialectRegistry &registry) {
  registry
      .insert<mlir::llm::LLMDialect, mllm::MLLMDialect, check::CheckDialect>();
  registry
      .insert<arith::ArithDialect, bufferization::BufferizationDialect,
              cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
              linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);

  // Enables One-Shot Bufferize on functions with a cache.
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  mlir::llm::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
}

std::unique_ptr<MLIRContext> createCompilerContext() {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, func::FuncDialect, mlir::llm::LLMDialect,
              mllm::MLLMDialect, LLVM::LLVMDialect, tensor::TensorDialect>();
  func::registerInlinerExtension(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

void registerAllLLMIRPasses() {
  mlir::llm::registerLLMPasses();
  mlir::llm::registerLLMOptimizationPipeline();
  registerConversionPasses();
  registerLLMIRCodegenPasses();
  mllm::registerMLLMPasses();
  registerLLMIRPipelines();
}

} // namespace llmir
