//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Serialization of ONNX files and their weights.
//
//===----------------------------------------------------------------------===//

#include "ONNXBuilder.h"

#include "llmir/Support/SmallFloat.h"

#include <cmath>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

/// The protobuf size limit, less room for the header.
static constexpr uint64_t maxFileBytes = (uint64_t(1) << 31) - 4096;
/// Alignment of weights in a separate file, for memory mapping.
static constexpr uint64_t externalAlignment = 4096;

//===----------------------------------------------------------------------===//
// Weight elements
//===----------------------------------------------------------------------===//

static void append(std::string &bytes, const void *data, size_t size) {
  bytes.append(static_cast<const char *>(data), size);
}

static Status appendNumbers(const Weight &weight, Span<const float> numbers,
                            std::string &bytes) {
  for (float number : numbers) {
    if (weight.type == Float) {
      append(bytes, &number, sizeof number);
      continue;
    }
    uint16_t small = 0;
    if (weight.type == BFloat16) {
      small = floatToBf16(number);
    } else {
      small = floatToF16(number);
      if (std::isfinite(number) && std::isinf(f16ToFloat(small)))
        return Status(StatusCode::OutOfRange,
                      "parameter '" + weight.parameter->name + "' holds " +
                          std::to_string(number) + ", which overflows f16",
                      "write its weights as bf16 or f32");
    }
    append(bytes, &small, sizeof small);
  }
  return Status::ok();
}

static Status writeNumbers(const Weight &weight, const ParameterReader &reader,
                           const Sink &sink) {
  uint64_t written = 0;
  std::string bytes;
  LLMIR_RETURN_IF_ERROR(
      reader(*weight.parameter, [&](Span<const float> numbers) {
        bytes.clear();
        LLMIR_RETURN_IF_ERROR(appendNumbers(weight, numbers, bytes));
        written += bytes.size();
        return sink(bytes);
      }));
  if (written != weight.bytes())
    return Status(StatusCode::Internal,
                  "parameter '" + weight.parameter->name +
                      "' has a different number of elements");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// TensorProto: dims 1, data_type 2, name 8, raw_data 9.
static protobuf::Message tensorHead(const Weight &weight) {
  protobuf::Message message;
  for (int64_t size : weight.parameter->shape)
    message.integer(1, size);
  message.integer(2, weight.type);
  message.text(8, weight.parameter->name);
  return message;
}

/// The message of a tensor with inline data, up to the start of its data.
static std::string inlineHead(const Weight &weight) {
  protobuf::Message tensor = tensorHead(weight), field;
  tensor.begin(9, weight.bytes());
  field.begin(5, tensor.data().size() + weight.bytes());
  return field.data() + tensor.data();
}

/// TensorProto: external_data 13 { key 1, value 2 }, data_location 14.
static std::string externalTensor(const Weight &weight,
                                  const std::string &location,
                                  uint64_t offset) {
  protobuf::Message tensor = tensorHead(weight), field;
  auto add = [&](const char *key, const std::string &value) {
    protobuf::Message entry;
    entry.text(1, key);
    entry.text(2, value);
    tensor.message(13, entry);
  };
  add("location", location);
  add("offset", std::to_string(offset));
  add("length", std::to_string(weight.bytes()));
  tensor.integer(14, 1);
  field.message(5, tensor);
  return field.data();
}

static uint64_t graphBytes(const Model &model) {
  uint64_t size = model.graph.size();
  for (const Weight &weight : model.weights)
    size += inlineHead(weight).size() + weight.bytes();
  return size;
}

bool onnx::fitsOneFile(const Model &model) {
  return graphBytes(model) < maxFileBytes;
}

/// ModelProto: ir_version 1, producer_name 2, graph 7, opset_import 8
/// { domain 1, version 2 }. The graph comes last.
static std::string modelHead(uint64_t graphBytes) {
  protobuf::Message model, opset;
  model.integer(1, 8);
  model.text(2, "llmir");
  opset.text(1, "");
  opset.integer(2, 17);
  model.message(8, opset);
  model.begin(7, graphBytes);
  return model.data();
}

static Status tooLarge(std::string advice) {
  return Status(StatusCode::Unsupported,
                "the model is larger than the 2 GiB of an ONNX file",
                std::move(advice));
}

/// The start of a weight's data after `position`.
static uint64_t aligned(uint64_t position) {
  return (position + externalAlignment - 1) / externalAlignment *
         externalAlignment;
}

/// The graph without weight data.
static uint64_t externalGraphBytes(const Model &model,
                                   const ExternalData &external) {
  uint64_t size = model.graph.size(), offset = external.file->position();
  for (const Weight &weight : model.weights) {
    offset = aligned(offset);
    size += externalTensor(weight, external.location, offset).size();
    offset += weight.bytes();
  }
  return size;
}

static Status writeWithExternal(const Model &model,
                                const ParameterReader &reader, const Sink &sink,
                                const ExternalData &external) {
  if (externalGraphBytes(model, external) >= maxFileBytes)
    return tooLarge("export its subgraphs one by one");
  std::string graph = model.graph;
  for (const Weight &weight : model.weights) {
    LLMIR_RETURN_IF_ERROR(external.file->padTo(externalAlignment));
    graph +=
        externalTensor(weight, external.location, external.file->position());
    LLMIR_RETURN_IF_ERROR(
        writeNumbers(weight, reader, [&](std::string_view bytes) {
          return external.file->write(bytes);
        }));
  }
  LLMIR_RETURN_IF_ERROR(sink(modelHead(graph.size())));
  return sink(graph);
}

Status onnx::writeModel(const Model &model, const ParameterReader &reader,
                        const Sink &sink, const ExternalData *external) {
  if (external)
    return writeWithExternal(model, reader, sink, *external);
  if (!fitsOneFile(model))
    return tooLarge("write it to a file with external data");
  LLMIR_RETURN_IF_ERROR(sink(modelHead(graphBytes(model))));
  LLMIR_RETURN_IF_ERROR(sink(model.graph));
  for (const Weight &weight : model.weights) {
    LLMIR_RETURN_IF_ERROR(sink(inlineHead(weight)));
    LLMIR_RETURN_IF_ERROR(writeNumbers(weight, reader, sink));
  }
  return Status::ok();
}
