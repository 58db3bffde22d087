//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llmir;

namespace mllm {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Call &Call::attribute(const char *key,
                      std::function<Attribute(Builder &)> make) {
  attributes.emplace_back(key, std::move(make));
  return *this;
}

Call &Call::i64(const char *key, int64_t number) {
  return attribute(key,
                   [=](Builder &b) { return b.getI64IntegerAttr(number); });
}

Call &Call::f64(const char *key, double number) {
  return attribute(key, [=](Builder &b) { return b.getF64FloatAttr(number); });
}

Call &Call::str(const char *key, const std::string &text) {
  return attribute(key, [=](Builder &b) { return b.getStringAttr(text); });
}

Call &Call::boolean(const char *key, bool value) {
  return attribute(key, [=](Builder &b) { return b.getBoolAttr(value); });
}

Call &Call::flag(const char *key, bool value) {
  if (!value)
    return *this;
  return attribute(key, [](Builder &b) { return b.getUnitAttr(); });
}

Call &Call::i64s(const char *key, std::vector<int64_t> numbers) {
  return attribute(key,
                   [=](Builder &b) { return b.getDenseI64ArrayAttr(numbers); });
}

Call &Call::f64s(const char *key, std::vector<double> numbers) {
  return attribute(key,
                   [=](Builder &b) { return b.getDenseF64ArrayAttr(numbers); });
}

Call &Call::parameter(const char *key, const nn::Parameter &parameter) {
  parameters.emplace_back(key, &parameter);
  return *this;
}

Call &Call::result(shapes::Shape dims) {
  const bool isKnown = !operands.empty() && operands.front().isValid();
  return result(std::move(dims), isKnown ? operands.front().dtype() : kFp32);
}

Call &Call::result(shapes::Shape dims, DataTypes dtype) {
  results.emplace_back(std::move(dims), dtype);
  return *this;
}

Call &Call::at(const char *atFile, int atLine) {
  file = atFile;
  line = atLine;
  return *this;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

bool hasNull(const std::vector<Tensor> &operands, const std::string &what,
             const nn::Component *layer) {
  auto null = llvm::find_if(
      operands, [](const Tensor &operand) { return !operand.isValid(); });
  if (null == operands.end())
    return false;
  Engine &engine = engineOf(operands);
  if (!engine.hasFailed())
    engine.fail(engine.location(layer),
                "operand #" + std::to_string(null - operands.begin()) + " of " +
                    what + " is a null tensor",
                "pass a valid tensor");
  return true;
}

/// An op with inferred result types is created twice, since inference requires
/// its properties.
static std::string inferTypes(OperationState &state) {
  auto *interface = state.name.getInterface<InferTypeOpInterface>();
  if (!interface)
    return {};
  Operation *scratch = Operation::create(state);
  std::string errors = errorsOf(*state.getContext(), [&] {
    return interface->inferReturnTypes(
        state.getContext(), state.location, scratch->getOperands(),
        scratch->getAttrDictionary(), scratch->getPropertiesStorage(),
        scratch->getRegions(), state.types);
  });
  scratch->destroy();
  return errors;
}

/// Verifies the op and the symbols that it names.
static LogicalResult verifyOp(Operation *op) {
  if (failed(mlir::verify(op, /*verifyRecursively=*/false)))
    return failure();
  SymbolTableCollection tables;
  if (auto user = dyn_cast<SymbolUserOpInterface>(op))
    return user.verifySymbolUses(tables);
  return success();
}

std::vector<Tensor> Call::all(size_t count) {
  const std::vector<Tensor> nothing(count);
  if (hasNull(operands, name, layer))
    return nothing;
  Engine &engine = engineOf(operands);
  OpBuilder &builder = engine.builder();
  Location where = engine.location(layer);
  if (file)
    where =
        NameLoc::get(cast<NameLoc>(where).getName(),
                     FileLineColLoc::get(
                         builder.getStringAttr(llvm::sys::path::filename(file)),
                         unsigned(line), 0));
  OperationState state(where, name);
  for (auto [key, parameter] : parameters) {
    FlatSymbolRefAttr symbol = engine.symbol(*parameter);
    if (!symbol)
      return nothing;
    state.addAttribute(key, symbol);
  }
  for (auto &[key, make] : attributes)
    state.addAttribute(key, make(builder));
  for (const Tensor &operand : operands) {
    Value value = engine.valueOf(operand);
    if (!value)
      return nothing;
    state.addOperands(value);
  }
  auto refuse = [&](const std::string &why) {
    engine.fail(where, why, fitAdvice);
    return nothing;
  };
  for (auto &[dims, dtype] : results) {
    DeviceTypes device = operands.empty() ? kCPU : operands.front().device();
    RankedTensorType type =
        tensorType(builder.getContext(), dims, dtype, device);
    if (!type)
      return refuse("the result has an unsupported type");
    state.addTypes(type);
  }
  if (results.empty())
    if (std::string errors = inferTypes(state); !errors.empty())
      return refuse(errors);
  Operation *op = builder.create(state);
  if (std::string errors =
          errorsOf(*builder.getContext(), [&] { return verifyOp(op); });
      !errors.empty()) {
    op->erase();
    return refuse(errors);
  }
  std::vector<Tensor> taken = engine.take(op, operands, layer);
  for (Tensor &tensor : taken)
    if (tensor.isValid()) {
      tensor.get()->file = file;
      tensor.get()->line = line;
    }
  if (taken.empty())
    return nothing; // The error has been reported.
  if (taken.size() != count)
    return refuse("the op has " + std::to_string(taken.size()) +
                  " results, not " + std::to_string(count));
  return taken;
}

} // namespace mllm
