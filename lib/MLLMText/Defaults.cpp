//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds what the documented spelling omits: parameters, options, inputs.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include <cmath>

using namespace mlir;
using namespace llmir::mllm;

/// The last size of a tensor; nullopt if it is dynamic.
static std::optional<int64_t> lastSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0 ||
      ShapedType::isDynamic(tensor.getShape().back()))
    return std::nullopt;
  return tensor.getShape().back();
}

/// The number of columns of a linear layer: the sizes of its result after those
/// that it shares with its operand.
static std::optional<int64_t> columnsOf(Type operand, Type result) {
  auto x = dyn_cast<RankedTensorType>(operand);
  auto y = dyn_cast<RankedTensorType>(result);
  if (!x || !y || x.getRank() == 0 || y.getRank() < x.getRank())
    return std::nullopt;
  int64_t columns = 1;
  for (int64_t size : y.getShape().drop_front(x.getRank() - 1))
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(columns, size, columns))
      return std::nullopt;
  return columns;
}

/// The name of a layer in a subgraph: the kind of op, and the number of such
/// ops before it.
std::string TextParser::layerName(const Head &head) {
  StringRef kind = StringRef(head.name).rsplit('.').second;
  std::string name = (path + "." + kind).str();
  return name + "_" + std::to_string(completed[name]++);
}

/// Adds the parameter `role` of an op, unless the text names it.
LogicalResult
TextParser::completeParameter(Head &head, const std::string &layer,
                              StringRef role,
                              ArrayRef<std::optional<int64_t>> sizes) {
  if (head.attributes.get(role))
    return success();
  SmallVector<int64_t> shape;
  for (std::optional<int64_t> size : sizes) {
    if (!size || *size < 1)
      return error(head.start)
             << "the shape of the parameter '" << role
             << "' cannot be inferred from the types; register it and write ["
             << role << ":@name]";
    shape.push_back(*size);
  }
  std::string name = layer + "." + role.str();
  head.attributes.set(role, FlatSymbolRefAttr::get(&context, name));
  synthesized.push_back(
      {name, RankedTensorType::get(shape, builder.getF32Type()), head.start});
  return success();
}

/// Adds an option of the op, unless the text specifies it.
void TextParser::completeOption(Head &head, StringRef name, Attribute value) {
  OperationName op(head.name, &context);
  bool isKnown = llvm::any_of(op.getAttributeNames(), [&](StringAttr each) {
    return each.getValue() == name;
  });
  if (isKnown && !head.attributes.get(name)) {
    head.attributes.set(name, value);
    hasDefaults = true;
  }
}

/// True if heads precede tokens: the results of transpositions in explicit
/// attention, and rotations of them.
static bool areHeadsFirst(Value value) {
  Operation *producer = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!producer || !type || type.getRank() != 4)
    return false;
  auto layout = producer->getAttrOfType<StringAttr>("layout");
  return isa<TransposeOp>(producer) ||
         (isa<RoPEOp>(producer) && layout && layout.getValue() == "bhsd");
}

/// The dimensions whose exchange turns `x` into `y`, if they are unique.
static std::optional<std::pair<int64_t, int64_t>>
exchangedDims(RankedTensorType x, RankedTensorType y) {
  std::optional<std::pair<int64_t, int64_t>> found;
  for (int64_t i = 0; i < x.getRank(); ++i)
    for (int64_t j = i + 1; j < x.getRank(); ++j) {
      SmallVector<int64_t> shape(x.getShape());
      std::swap(shape[i], shape[j]);
      if (ArrayRef<int64_t>(shape) != y.getShape())
        continue;
      if (found)
        return std::nullopt;
      found = {i, j};
    }
  return found;
}

/// Options of explicit attention that are inferred from shapes.
void TextParser::completeAttention(Head &head, ArrayRef<Value> operands,
                                   ArrayRef<Type> results) {
  auto x = dyn_cast<RankedTensorType>(operands[0].getType());
  auto y = dyn_cast<RankedTensorType>(results[0]);
  if (!x || !y || x.getRank() != y.getRank() || x.getRank() < 2)
    return;
  StringRef name = head.name;
  if (name == "mllm.linalg.transpose") {
    if (auto dims = exchangedDims(x, y)) {
      completeOption(head, "dim0", builder.getI64IntegerAttr(dims->first));
      completeOption(head, "dim1", builder.getI64IntegerAttr(dims->second));
    }
  } else if (name == "mllm.linalg.matmul" && operands.size() == 2) {
    // Scores contract the last dimensions of both operands.
    auto b = dyn_cast<RankedTensorType>(operands[1].getType());
    if (!b || b.getRank() < 2)
      return;
    int64_t rows = b.getShape()[b.getRank() - 2], last = b.getShape().back();
    bool plain = rows == x.getShape().back() && last == y.getShape().back();
    bool transposed =
        last == x.getShape().back() && rows == y.getShape().back();
    if (transposed && !plain)
      completeOption(head, "transpose_b", builder.getUnitAttr());
  } else if (name == "mllm.linalg.mul" && operands.size() == 1) {
    // Scores are scaled by the square root of the head size.
    auto scores = operands[0].getDefiningOp<MatMulOp>();
    std::optional<int64_t> size =
        scores ? lastSize(scores.getLhs().getType()) : std::nullopt;
    if (size && *size > 0)
      completeOption(head, "scalar",
                     builder.getF64FloatAttr(1 / std::sqrt(double(*size))));
  } else if ((name == "mllm.linalg.rope" || name == "mllm.linalg.kv_cache") &&
             areHeadsFirst(operands[0])) {
    completeOption(head, "layout", builder.getStringAttr("bhsd"));
    if (x.getShape()[1] != y.getShape()[1])
      completeOption(head, "q_head",
                     builder.getI64IntegerAttr(y.getShape()[1]));
  }
}

LogicalResult TextParser::complete(Head &head, ArrayRef<Value> operands,
                                   ArrayRef<Type> results) {
  // Defaults apply only if no attribute is specified.
  if (head.hasBrackets || operands.empty() || results.empty())
    return success();
  completeAttention(head, operands, results);
  Type x = operands[0].getType(), y = results[0];
  StringRef name = head.name;
  auto f64 = [&](double value) { return builder.getF64FloatAttr(value); };
  if (name == "mllm.linalg.linear") {
    return completeParameter(head, layerName(head), "weight",
                             {columnsOf(x, y), lastSize(x)});
  }
  if (name == "mllm.linalg.embedding") {
    if (head.attributes.get("weight"))
      return success();
    // The vocabulary size is inferred from the model's result.
    std::string layer = layerName(head) + ".weight";
    head.attributes.set("weight", FlatSymbolRefAttr::get(&context, layer));
    tables.push_back({layer, y, head.start});
    return success();
  }
  if (name == "mllm.linalg.rms_norm" || name == "mllm.linalg.layer_norm") {
    std::string layer = layerName(head);
    completeOption(head, "eps", f64(1e-6));
    completeOption(head, "normalized_shape",
                   builder.getDenseI64ArrayAttr({lastSize(x).value_or(0)}));
    if (failed(completeParameter(head, layer, "weight", {lastSize(x)})))
      return failure();
    return name == "mllm.linalg.rms_norm"
               ? success()
               : completeParameter(head, layer, "bias", {lastSize(x)});
  }
  if (name == "mllm.linalg.softmax") {
    completeOption(head, "axis", builder.getI64IntegerAttr(-1));
    return success();
  }
  if (name == "mllm.linalg.rope") {
    // Tables of sines and cosines determine all options.
    if (operands.size() > 1)
      return success();
    int64_t width = lastSize(x).value_or(0);
    SmallVector<double> frequencies;
    for (int64_t i = 0; i < width / 2 && i < 4096; ++i)
      frequencies.push_back(std::pow(1e4, -2.0 * i / width));
    completeOption(head, "frequencies",
                   builder.getDenseF64ArrayAttr(frequencies));
    completeOption(head, "scaling", f64(1));
    return success();
  }
  if (name == "mllm.linalg.kv_cache") {
    if (!head.attributes.get("layer"))
      completeOption(head, "layer",
                     builder.getI64IntegerAttr(completed["kv_cache"]++));
    return success();
  }
  if (name == "mllm.linalg.flash_attention2") {
    int64_t width = lastSize(x).value_or(1);
    completeOption(head, "scale",
                   f64(1 / std::sqrt(std::max<double>(width, 1))));
    completeOption(head, "causal", builder.getBoolAttr(true));
  }
  return success();
}

/// Registers the added parameters before all other ops, with a remark for each.
LogicalResult TextParser::registerSynthesized() {
  SubGraphOp entry = entrySubGraph(*module);
  for (const Parameter &table : tables) {
    std::optional<int64_t> rows, columns = lastSize(table.type);
    if (entry && entry.getResultTypes().size() == 1)
      rows = lastSize(entry.getResultTypes().front());
    if (!rows || !columns)
      return error(table.start)
             << "the number of rows of the table cannot be inferred from the "
                "result of the model; register it and write [weight:@name]";
    synthesized.push_back(
        {table.name,
         RankedTensorType::get({*rows, *columns}, builder.getF32Type()),
         table.start});
  }
  OpBuilder inserter = OpBuilder::atBlockBegin(module->getBody());
  for (const Parameter &parameter : synthesized) {
    Location location = lexer.location(parameter.start);
    OperationState state(location, RegisterOp::getOperationName());
    state.addAttribute("sym_name", builder.getStringAttr(parameter.name));
    state.addAttribute("type", TypeAttr::get(parameter.type));
    Operation *op = inserter.create(state);
    locations.emplace_back(op, builder.getUnknownLoc());
    emitRemark(location) << "added the parameter @" << parameter.name << " : "
                         << parameter.type
                         << ", which the text does not specify";
  }
  if (hasDefaults)
    emitRemark(lexer.location(firstPlace))
        << "options that the text does not specify have the default values of "
           "mllm (eps 1e-6, theta 1e4, causal masks, scores scaled by head "
           "size ^ -0.5, layers in order)";
  return success();
}

LogicalResult TextParser::makeInputs(ArrayRef<Mention> operands, Block &block) {
  for (const Mention &operand : operands) {
    if (scopes.back().values.count(operand.name))
      continue;
    OperationState state(lexer.location(operand.start), "mllm.tensor.input");
    if (!state.name.isRegistered())
      return error(operand.start)
             << "%" << operand.name << " is used before its definition";
    state.addTypes(operand.type);
    Operation *input = Operation::create(state);
    block.push_back(input);
    locations.emplace_back(input, builder.getUnknownLoc());
    if (failed(define(operand, input->getResult(0))))
      return failure();
  }
  return success();
}
