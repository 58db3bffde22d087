//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/Trace.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace llmir;
using namespace mlir;
using llmir::mllm::CallGraphOp;
using llmir::mllm::MLLMDialect;
using llmir::mllm::RegisterOp;
using llmir::mllm::ReturnOp;
using llmir::mllm::SubGraphOp;

namespace mllm::ir {

/// The name in a location that the tracer made.
static std::string locationText(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  return "the model";
}

static Status contradiction(Location where, const Twine &what) {
  return Status(StatusCode::InvalidArgument,
                (locationText(where) + ": " + what).str(),
                "change the module so that its shapes fit each other");
}

//===----------------------------------------------------------------------===//
// Tracer
//===----------------------------------------------------------------------===//

Tracer::Tracer(MLIRContext &context, ParameterSource &parameters)
    : opBuilder(&context), parameters(parameters) {
  context.loadDialect<MLLMDialect, mlir::llm::LLMDialect>();
  module = ModuleOp::create(UnknownLoc::get(&context));
}

Location Tracer::location(const nn::Layer &layer) {
  return NameLoc::get(opBuilder.getStringAttr(layer.path()));
}

Location Tracer::location() {
  return NameLoc::get(opBuilder.getStringAttr(currentPath));
}

Tensor Tracer::fail(Location where, const Twine &what) {
  if (status)
    status = contradiction(where, what);
  return {};
}

FlatSymbolRefAttr Tracer::symbol(const nn::Parameter &parameter) {
  std::string path = parameter.path();
  auto [it, isNew] = registered.try_emplace(path);
  if (!isNew || !status)
    return it->second;
  Expected<ParameterBinding> binding =
      parameters.bind(*opBuilder.getContext(), parameter);
  if (!binding) {
    status = binding.takeStatus();
    return {};
  }
  // Parameters stand before the subgraphs, in the order of their first use.
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPoint(*module->getOps<SubGraphOp>().begin());
  std::optional<int64_t> heads;
  if (binding->unpermuteHeads > 0)
    heads = binding->unpermuteHeads;
  auto parameterOp =
      RegisterOp::create(opBuilder, NameLoc::get(opBuilder.getStringAttr(path)),
                         path, binding->type, binding->source, heads);
  if (binding->storedRows > 0)
    parameterOp.setSlice(
        ArrayRef<int64_t>{binding->firstRow, binding->storedRows});
  parameterOp.setTransposed(binding->transposed);
  it->second = FlatSymbolRefAttr::get(opBuilder.getContext(), path);
  return it->second;
}

SubGraphOp Tracer::trace(nn::Module &traced, StringRef name, Type input,
                         bool entry) {
  OpBuilder::InsertionGuard guard(opBuilder);
  opBuilder.setInsertionPointToEnd(module->getBody());
  std::string outerPath = std::exchange(currentPath, name.str());
  auto subgraph =
      SubGraphOp::create(opBuilder, location(), name,
                         opBuilder.getFunctionType({input}, {}), entry);
  subgraphs[name].op = subgraph;
  opBuilder.setInsertionPointToStart(&subgraph.getBody().front());
  Tensor result = traced.forward(tensor(subgraph.getArgument(0)));
  if (!result && status)
    fail(location(), "forward() gave no tensor");
  if (!result || !status)
    return nullptr;
  ReturnOp::create(opBuilder, location(), result.value());
  subgraph.setFunctionType(opBuilder.getFunctionType({input}, {result.type()}));
  subgraphs[name].complete = true;
  currentPath = std::move(outerPath);
  return subgraph;
}

Tensor Tracer::call(nn::Module &callee, const Tensor &x) {
  std::string path = callee.path();
  auto found = subgraphs.find(path);
  SubGraphOp subgraph;
  if (found == subgraphs.end()) {
    subgraph = trace(callee, path, x.type(), /*entry=*/false);
    if (!subgraph)
      return {};
  } else {
    subgraph = found->second.op;
    if (!found->second.complete)
      return fail(location(), "'" + path + "' is called inside itself");
    if (subgraph.getArgumentTypes().front() != x.type())
      return fail(location(), "'" + path + "' is called with two shapes");
  }
  auto where = NameLoc::get(opBuilder.getStringAttr(path));
  return tensor(
      CallGraphOp::create(opBuilder, where, subgraph, x.value()).getResult(0));
}

Status Tracer::verify() {
  Status verified;
  ScopedDiagnosticHandler handler(
      opBuilder.getContext(), [&](Diagnostic &diagnostic) {
        if (verified && diagnostic.getSeverity() == DiagnosticSeverity::Error)
          verified = contradiction(diagnostic.getLocation(), diagnostic.str());
        return success();
      });
  if (failed(mlir::verify(*module)) && verified)
    verified = contradiction(module->getLoc(), "the trace is not valid");
  return verified;
}

llmir::Expected<OwningOpRef<ModuleOp>> traceModel(MLIRContext &context,
                                                  nn::Module &model,
                                                  StringRef name,
                                                  ParameterSource &parameters) {
  Tracer tracer(context, parameters);
  auto ids = RankedTensorType::get({kSymbolic}, IntegerType::get(&context, 64));
  if (!tracer.trace(model, name, ids, /*entry=*/true))
    return std::move(tracer.status);
  LLMIR_RETURN_IF_ERROR(tracer.verify());
  return std::move(tracer.module);
}

} // namespace mllm::ir
