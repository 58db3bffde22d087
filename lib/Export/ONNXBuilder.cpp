//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ONNXBuilder.h"

#include <limits>
#include <set>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

std::optional<ElementType> onnx::elementTypeOf(mllm::DataTypes type) {
  switch (type) {
  case mllm::kFp32:
    return Float;
  case mllm::kInt64:
    return Int64;
  case mllm::kInt32:
    return Int32;
  case mllm::kBool:
    return Bool;
  default:
    return std::nullopt;
  }
}

// AttributeProto: name 1, f 2, i 3, s 4, ints 8, type 20.
Attribute::Attribute(std::string name, int64_t value) {
  message.text(1, name);
  message.integer(3, value);
  message.integer(20, 2);
}

Attribute::Attribute(std::string name, double value) {
  message.text(1, name);
  message.real(2, static_cast<float>(value));
  message.integer(20, 1);
}

Attribute::Attribute(std::string name, const char *word) {
  message.text(1, name);
  message.text(4, word);
  message.integer(20, 3);
}

Attribute::Attribute(std::string name, const std::vector<int64_t> &values) {
  message.text(1, name);
  for (int64_t value : values)
    message.integer(8, value);
  message.integer(20, 7);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Builder::Builder(const Graph &graph, const GraphPart &part,
                 const ONNXOptions &options)
    : graph(graph), part(part), options(options) {}

Name Builder::newName(const char *prefix) {
  Name name;
  do
    name = prefix + std::to_string(nextName++);
  while (taken.count(name));
  return name;
}

Name Builder::node(const char *type, const std::vector<Name> &inputs,
                   const std::vector<Attribute> &attributes) {
  Name result = newName();
  node(type, inputs, std::vector<Name>{result}, attributes);
  return result;
}

void Builder::node(const char *type, const std::vector<Name> &inputs,
                   const std::vector<Name> &outputs,
                   const std::vector<Attribute> &attributes) {
  protobuf::Message message; // NodeProto
  for (const Name &input : inputs)
    message.text(1, input);
  for (const Name &output : outputs)
    message.text(2, output);
  message.text(4, type);
  for (const Attribute &attribute : attributes)
    message.message(5, attribute.message);
  nodes.message(1, message);
}

void Builder::define(const GraphValue *value, const Name &name) {
  node("Identity", {name}, std::vector<Name>{value->name}, {});
}

//===----------------------------------------------------------------------===//
// Constants and parameters
//===----------------------------------------------------------------------===//

template <typename T> static std::string bytesOf(const std::vector<T> &values) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                "raw_data is little-endian");
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

Name Builder::initializer(int64_t type, const Sizes &shape,
                          const std::string &bytes) {
  std::string key = std::to_string(type) + ":";
  for (int64_t size : shape)
    key += std::to_string(size) + ",";
  auto [entry, isNew] = constants.try_emplace(key + ":" + bytes);
  if (!isNew)
    return entry->second;
  const Name name = entry->second = newName("c");
  protobuf::Message message; // TensorProto
  for (int64_t size : shape)
    message.integer(1, size);
  message.integer(2, type);
  message.text(8, name);
  message.text(9, bytes);
  initializers.message(5, message);
  return name;
}

Name Builder::ints(const Sizes &values) {
  return initializer(Int64, {static_cast<int64_t>(values.size())},
                     bytesOf(values));
}

Name Builder::integers(const Sizes &values, const Sizes &shape) {
  return initializer(Int64, shape, bytesOf(values));
}

Name Builder::real64(double value) {
  return initializer(Double, {}, bytesOf(std::vector<double>{value}));
}

template <typename T> static std::string endOfRange(bool isLeast) {
  using Limits = std::numeric_limits<T>;
  return bytesOf(std::vector<T>{isLeast ? Limits::min() : Limits::max()});
}

Name Builder::least(ElementType type) {
  return initializer(type, {},
                     type == Int32 ? endOfRange<int32_t>(true)
                                   : endOfRange<int64_t>(true));
}

Name Builder::greatest(ElementType type) {
  return initializer(type, {},
                     type == Int32 ? endOfRange<int32_t>(false)
                                   : endOfRange<int64_t>(false));
}

Name Builder::integer(int64_t value) {
  return initializer(Int64, {}, bytesOf(std::vector<int64_t>{value}));
}

Name Builder::real(double value) {
  return initializer(Float, {},
                     bytesOf(std::vector<float>{static_cast<float>(value)}));
}

Name Builder::reals(const std::vector<double> &values, const Sizes &shape) {
  std::vector<float> numbers(values.begin(), values.end());
  return initializer(Float, shape, bytesOf(numbers));
}

Name Builder::number(double value, const GraphValue *like) {
  switch (like->dtype) {
  case mllm::kInt64:
    return integer(static_cast<int64_t>(value));
  case mllm::kInt32:
    return initializer(
        Int32, {}, bytesOf(std::vector<int32_t>{static_cast<int32_t>(value)}));
  case mllm::kBool:
    return initializer(Bool, {}, std::string(1, value != 0 ? 1 : 0));
  default:
    return real(value);
  }
}

static ElementType weightType(const GraphParameter &parameter,
                              ONNXWeights wanted) {
  switch (wanted) {
  case ONNXWeights::F32:
    return Float;
  case ONNXWeights::F16:
    return Float16;
  case ONNXWeights::BF16:
    return BFloat16;
  case ONNXWeights::Stored:
    break;
  }
  return parameter.format == "f16"    ? Float16
         : parameter.format == "bf16" ? BFloat16
                                      : Float;
}

Name Builder::parameter(const GraphParameter *parameter) {
  auto [entry, isNew] = parameters.try_emplace(parameter, parameter->name);
  if (!isNew)
    return entry->second;
  if (!options.reader) {
    GraphValue like;
    like.shape.assign(parameter->shape.begin(), parameter->shape.end());
    addValueInfo(11, entry->second, like);
    return entry->second;
  }
  weights.push_back({parameter, weightType(*parameter, options.weights)});
  if (weights.back().type != Float)
    entry->second = node("Cast", {entry->second},
                         {Attribute("to", static_cast<int64_t>(Float))});
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Sizes and the cache
//===----------------------------------------------------------------------===//

Name Builder::sizeOf(const Name &value, int64_t dim) {
  return node("Gather", {node("Shape", {value}), integer(dim)});
}

Name Builder::reshape(const Name &value, const Sizes &shape) {
  bool hasZero = false;
  for (int64_t size : shape)
    hasZero |= size == 0;
  return node("Reshape", {value, ints(shape)},
              {Attribute("allowzero", static_cast<int64_t>(hasZero))});
}

Name Builder::pastTokens() {
  Name &name = shared["past"];
  if (name.empty())
    name =
        firstCache ? sizeOf(firstCache->first, firstCache->second) : integer(0);
  return name;
}

/// ValueInfoProto: name 1, type 2 { tensor_type 1 { elem_type 1, shape 2 {
/// dim 1 { dim_value 1 | dim_param 2 } } } }.
void Builder::addValueInfo(int field, const Name &name,
                           const GraphValue &value) {
  protobuf::Message shape, tensor, type, info;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    protobuf::Message dim;
    const shapes::DimExpr &size = value.shape[i];
    if (std::optional<int64_t> number = size.constant())
      dim.integer(1, *number);
    else if (size.isKnown())
      dim.text(2, size.str());
    else if (i == 0) // The token dimension of models with one sequence.
      dim.text(2, "tokens");
    else
      dim.text(2, name + "." + std::to_string(i));
    shape.message(1, dim);
  }
  tensor.integer(1, elementTypeOf(value.dtype).value_or(Float));
  tensor.message(2, shape);
  type.message(1, tensor);
  info.text(1, name);
  info.message(2, type);
  infos.message(field, info);
}

static GraphValue withSize(GraphValue value, int64_t dim,
                           const shapes::DimExpr &size) {
  value.shape[static_cast<size_t>(dim)] = size;
  return value;
}

Name onnx::cacheName(const char *when, bool isValue, const GraphOp &op) {
  return std::string(when) + (isValue ? "_value_" : "_key_") +
         std::to_string(op.integer("layer"));
}

Name Builder::addCacheInput(const std::string &name, const GraphValue *like,
                            int64_t tokenDim, const shapes::DimExpr &tokens) {
  if (!firstCache)
    firstCache = {name, tokenDim};
  addValueInfo(11, name, withSize(*like, tokenDim, tokens));
  return name;
}

void Builder::addCacheOutput(const std::string &name, const Name &value,
                             const GraphValue *like, int64_t tokenDim,
                             const shapes::DimExpr &tokens) {
  node("Identity", {value}, std::vector<Name>{name}, {});
  addValueInfo(12, name, withSize(*like, tokenDim, tokens));
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static Status atOp(const GraphOp &op, Status status) {
  return std::move(status).withContext(
      (op.path.empty() ? std::string() : op.path + ": ") + op.kind);
}

/// The cache of a layer is an input and an output, once each.
static Status checkCaches(const GraphPart &part) {
  std::set<int64_t> layers;
  for (const GraphOp *op : part.ops)
    if (op->kind == "kv_cache" && !layers.insert(op->integer("layer")).second)
      return atOp(*op, Status(StatusCode::Unsupported,
                              "the cache of layer " +
                                  std::to_string(op->integer("layer")) +
                                  " is written twice in a step",
                              "use distinct layer indices"));
  return Status::ok();
}

Status Builder::takeNames() {
  auto take = [&](const Name &name) {
    return taken.insert(name).second
               ? Status::ok()
               : Status(StatusCode::Unsupported,
                        "two tensors of the model have the name '" + name + "'",
                        "rename the parameter");
  };
  std::set<const GraphParameter *> used; // Ops may share parameters.
  for (const GraphValue *input : part.inputs)
    LLMIR_RETURN_IF_ERROR(take(input->name));
  for (const GraphOp *op : part.ops) {
    for (const GraphValue *result : op->results)
      LLMIR_RETURN_IF_ERROR(take(result->name));
    for (const auto &entry : op->parameters)
      if (used.insert(entry.second).second)
        LLMIR_RETURN_IF_ERROR(take(entry.second->name));
    if (op->kind == "kv_cache")
      for (bool isValue : {false, true})
        for (const char *when : {"past", "present"})
          LLMIR_RETURN_IF_ERROR(take(cacheName(when, isValue, *op)));
  }
  return Status::ok();
}

Expected<Model> Builder::build() {
  for (const GraphValue *input : part.inputs)
    addValueInfo(11, input->name, *input);
  for (const GraphValue *output : part.outputs)
    addValueInfo(12, output->name, *output);
  // Positions are relative to the first cache, which an earlier op may need.
  for (const GraphOp *op : part.ops)
    if (op->kind == "kv_cache" && !firstCache)
      firstCache = {cacheName("past", false, *op),
                    op->operands[0]->shape.size() -
                        (op->text("layout", "bshd") == "bshd" ? 3 : 2)};
  LLMIR_RETURN_IF_ERROR(checkCaches(part));
  LLMIR_RETURN_IF_ERROR(takeNames());
  for (const GraphOp *op : part.ops)
    if (Status status = lowerOp(*this, *op); !status.isOk())
      return atOp(*op, std::move(status));
  // GraphProto: node 1, name 2, initializer 5, input 11, output 12.
  protobuf::Message name;
  name.text(2, graph.name);
  Model model;
  model.graph = nodes.data() + name.data() + initializers.data() + infos.data();
  model.weights = std::move(weights);
  return model;
}

Status ONNXTarget::supported(const GraphOp &op) const {
  return onnx::canLower(op);
}

Status ONNXTarget::emit(const Graph &graph, const GraphPart &part) {
  Expected<Model> model = Builder(graph, part, options).build();
  if (!model)
    return model.takeStatus();
  std::string file;
  LLMIR_RETURN_IF_ERROR(
      writeModel(*model, options.reader, [&](std::string_view bytes) {
        file += bytes;
        return Status::ok();
      }));
  files.push_back(std::move(file));
  return Status::ok();
}

/// The whole graph as one part, or an error for an unsupported op.
static Expected<GraphPart> wholeGraph(const Graph &graph) {
  GraphPart whole;
  whole.supported = true;
  whole.ops = opsOf(graph);
  for (const GraphOp *op : whole.ops)
    if (Status status = canLower(*op); !status.isOk())
      return atOp(*op, std::move(status));
  whole.inputs = graph.inputs();
  std::set<const GraphValue *> given;
  for (const GraphValue *output : graph.outputs())
    if (given.insert(output).second)
      whole.outputs.push_back(output);
  return whole;
}

Expected<std::string> llmir::exportONNX(const Graph &graph,
                                        ONNXOptions options) {
  Expected<GraphPart> whole = wholeGraph(graph);
  if (!whole)
    return whole.takeStatus();
  ONNXTarget target(std::move(options));
  LLMIR_RETURN_IF_ERROR(target.emit(graph, *whole));
  return target.models().front();
}

Status llmir::writeONNX(const Graph &graph, const std::string &path,
                        ONNXOptions options, bool externalData) {
  Expected<GraphPart> whole = wholeGraph(graph);
  if (!whole)
    return whole.takeStatus();
  Expected<Model> model = Builder(graph, *whole, options).build();
  if (!model)
    return model.takeStatus();
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.takeStatus();
  const Sink sink = [&](std::string_view bytes) { return file->write(bytes); };
  if (!externalData && fitsOneFile(*model)) {
    LLMIR_RETURN_IF_ERROR(writeModel(*model, options.reader, sink));
    return file->commit();
  }
  Expected<AtomicFile> data = AtomicFile::create(path + ".data");
  if (!data)
    return data.takeStatus();
  const ExternalData external = {
      path.substr(path.find_last_of('/') + 1) + ".data", &*data};
  LLMIR_RETURN_IF_ERROR(writeModel(*model, options.reader, sink, &external));
  // A full disk must not result in new weights with an old model.
  LLMIR_RETURN_IF_ERROR(data->flush());
  LLMIR_RETURN_IF_ERROR(file->flush());
  LLMIR_RETURN_IF_ERROR(data->commit());
  return file->commit();
}
