//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/ModelFacts.h"
#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Dialect/MLLM/QuantAttrs.h"

using namespace mlir;
using namespace llmir::mllm;

namespace {
/// An integer of ModelFacts and its key in the dictionary.
struct Fact {
  StringLiteral key;
  int64_t ModelFacts::*member;
};
} // namespace

static constexpr Fact facts[] = {
    {"num_layers", &ModelFacts::numLayers},
    {"num_heads", &ModelFacts::numHeads},
    {"num_kv_heads", &ModelFacts::numKVHeads},
    {"head_dim", &ModelFacts::headDim},
    {"hidden_size", &ModelFacts::hiddenSize},
    {"intermediate_size", &ModelFacts::intermediateSize},
    {"vocab_size", &ModelFacts::vocabSize},
    {"context_length", &ModelFacts::contextLength},
};
static constexpr StringLiteral architectureKey = "architecture";
static constexpr StringLiteral valuesInKeysKey = "values_in_keys";

/// Reads the dictionary; errors are reported at `op`.
static FailureOr<ModelFacts> parseFacts(Operation *op, Attribute attr) {
  auto dictionary = dyn_cast<DictionaryAttr>(attr);
  if (!dictionary)
    return op->emitOpError()
           << "'" << ModelFacts::attrName() << "' is not a dictionary";
  ModelFacts result;
  auto architecture = dictionary.getAs<StringAttr>(architectureKey);
  if (!architecture || architecture.empty())
    return op->emitOpError() << "'" << ModelFacts::attrName()
                             << "' needs a string '" << architectureKey << "'";
  result.architecture = architecture.str();
  for (const Fact &fact : facts) {
    auto number = dictionary.getAs<IntegerAttr>(fact.key);
    if (!number || !number.getType().isInteger(64))
      return op->emitOpError() << "'" << ModelFacts::attrName()
                               << "' needs an i64 '" << fact.key << "'";
    if (number.getInt() < 1)
      return op->emitOpError()
             << "'" << ModelFacts::attrName() << "' has '" << fact.key << "' "
             << number.getInt() << ", expected at least 1";
    result.*fact.member = number.getInt();
  }
  if (result.numHeads % result.numKVHeads != 0)
    return op->emitOpError()
           << "'" << ModelFacts::attrName() << "' has 'num_heads' "
           << result.numHeads << ", expected a multiple of 'num_kv_heads' "
           << result.numKVHeads;
  if (Attribute given = dictionary.get(valuesInKeysKey)) {
    auto number = dyn_cast<IntegerAttr>(given);
    if (!number || !number.getType().isInteger(64) || number.getInt() < 1 ||
        number.getInt() > result.headDim)
      return op->emitOpError()
             << "'" << ModelFacts::attrName() << "' has '" << valuesInKeysKey
             << "' " << given << ", expected an i64 from 1 to 'head_dim' "
             << result.headDim;
    result.valuesInKeys = number.getInt();
  }
  return result;
}

FailureOr<ModelFacts> ModelFacts::read(ModuleOp module) {
  Attribute attr = module->getAttr(attrName());
  if (!attr)
    return module.emitOpError() << "has no '" << attrName() << "'";
  return parseFacts(module, attr);
}

void ModelFacts::write(ModuleOp module) const {
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> entries = {builder.getNamedAttr(
      architectureKey, builder.getStringAttr(architecture))};
  for (const Fact &fact : facts)
    entries.push_back(builder.getNamedAttr(
        fact.key, builder.getI64IntegerAttr(this->*fact.member)));
  if (valuesInKeys > 0)
    entries.push_back(builder.getNamedAttr(
        valuesInKeysKey, builder.getI64IntegerAttr(valuesInKeys)));
  module->setAttr(attrName(), builder.getDictionaryAttr(entries));
}

/// `mllm.dims` of a subgraph or a function: one range per name.
static LogicalResult verifyDims(Operation *op, Attribute attr) {
  auto names = dyn_cast<DictionaryAttr>(attr);
  if (!isa<FunctionOpInterface>(op) || !names)
    return op->emitOpError() << "has 'mllm.dims', which must be a dictionary "
                                "on a subgraph or a function";
  for (NamedAttribute name : names)
    if (!isa<RangeAttr>(name.getValue()))
      return op->emitOpError()
             << "'mllm.dims' has " << name.getValue() << " for '"
             << name.getName().getValue() << "', expected #mllm.range<…>";
  return success();
}

/// `mllm.res_attrs` of an op: one dictionary per result.
static LogicalResult verifyResultAttributes(Operation *op, Attribute attr) {
  auto list = dyn_cast<ArrayAttr>(attr);
  if (list && list.size() == op->getNumResults() &&
      llvm::all_of(list, llvm::IsaPred<DictionaryAttr>))
    return success();
  return op->emitOpError() << "has 'mllm.res_attrs' " << attr
                           << ", expected one dictionary for each of its "
                           << op->getNumResults() << " results";
}

LogicalResult MLLMDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == "mllm.dims")
    return verifyDims(op, attribute.getValue());
  if (attribute.getName() == "mllm.res_attrs")
    return verifyResultAttributes(op, attribute.getValue());
  if (attribute.getName() == kQuantInputsAttr) {
    auto bits = dyn_cast<IntegerAttr>(attribute.getValue());
    if (bits && bits.getType().isSignlessInteger(64) && bits.getInt() == 8)
      return success();
    return op->emitOpError() << "has '" << kQuantInputsAttr << "' "
                             << attribute.getValue() << ", expected 8 : i64";
  }
  if (attribute.getName() == kQuantWeightsAttr) {
    if (!isa<ExpertsOp>(op) && isa<QuantAttr>(attribute.getValue()))
      return success();
    auto several = dyn_cast<ArrayAttr>(attribute.getValue());
    if (isa<ExpertsOp>(op) && several && several.size() == 3 &&
        llvm::all_of(several, llvm::IsaPred<QuantAttr>))
      return success();
    return op->emitOpError()
           << "has '" << kQuantWeightsAttr << "' " << attribute.getValue()
           << ", expected "
           << (isa<ExpertsOp>(op) ? "an array of three #mllm.quant<…>, for the "
                                    "gate, up and down projections"
                                  : "#mllm.quant<…>");
  }
  if (attribute.getName() != ModelFacts::attrName())
    return success();
  if (!isa<ModuleOp>(op))
    return op->emitOpError() << "has '" << ModelFacts::attrName()
                             << "', which is only valid on a builtin module";
  return parseFacts(op, attribute.getValue());
}
