//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Segment.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llmir;
using namespace llmir::xnnpack;

static constexpr float infinity = std::numeric_limits<float>::infinity();
/// Number of bytes that the library may read past the end of a tensor.
static constexpr size_t extraValues = XNN_EXTRA_BYTES / sizeof(float);

static Status refused(const std::string &what, xnn_status status) {
  static const char *const reasons[] = {"success",
                                        "it is not initialized",
                                        "a parameter is not valid",
                                        "the state is not valid",
                                        "a parameter is not supported",
                                        "this processor is not supported",
                                        "out of memory"};
  const auto number = static_cast<size_t>(status);
  return Status(status == xnn_status_out_of_memory
                    ? StatusCode::ResourceExhausted
                    : StatusCode::Unsupported,
                "XNNPACK rejects " + what + ": " +
                    (number < std::size(reasons) ? reasons[number]
                                                 : "for an unknown reason"));
}

Expected<std::unique_ptr<Library>> Library::open(int threads) {
  if (xnn_status status = xnn_initialize(nullptr); status != xnn_status_success)
    return refused("to start", status);
  pthreadpool_t pool = pthreadpool_create(static_cast<size_t>(threads));
  std::unique_ptr<Library> library(new Library(pool));
  if (!pool)
    return Status(StatusCode::ResourceExhausted,
                  "no " + std::to_string(threads) + " threads for XNNPACK");
  return library;
}

Library::~Library() { xnn_deinitialize(); }

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Segment::~Segment() {
  if (runtime)
    xnn_delete_runtime(runtime);
}

Tensor Segment::add(Dims dims) {
  places.emplace_back();
  places.back().dims = dims;
  return {static_cast<uint32_t>(places.size() - 1), std::move(dims)};
}

Tensor Segment::filled(Dims dims, std::vector<float> values) {
  Tensor tensor = add(std::move(dims));
  values.resize(numValues(tensor.dims) + extraValues);
  places.back().numbers = std::move(values);
  return tensor;
}

Tensor Segment::input(Dims dims) {
  Tensor tensor = filled(std::move(dims), {});
  places.back().isInput = true;
  return tensor;
}

Tensor Segment::constant(Dims dims, std::vector<float> values) {
  Tensor tensor = filled(std::move(dims), std::move(values));
  places.back().isConstant = true;
  return tensor;
}

Tensor Segment::number(double value) {
  return constant({1}, {static_cast<float>(value)});
}

void Segment::markOutput(const Tensor &tensor) {
  Place &place = places[tensor.id];
  if (place.isInput || place.isConstant || place.isOutput)
    return;
  place.isOutput = true;
  place.numbers.resize(numValues(place.dims) + extraValues);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void Segment::node(const char *what,
                   std::function<xnn_status(xnn_subgraph_t)> make) {
  nodes.push_back({what, std::move(make)});
}

Tensor Segment::unary(UnaryFn function, const Tensor &x) {
  Tensor y = add(x.dims);
  node("a function of one tensor", [=, from = read(x), to = y.id](auto graph) {
    return function(graph, from, to, /*flags=*/0);
  });
  return y;
}

Tensor Segment::binary(BinaryFn function, const Tensor &a, const Tensor &b) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  Dims dims(rank, 1);
  for (const Tensor *side : {&a, &b})
    for (size_t i = 0; i < side->dims.size(); ++i) {
      size_t &size = dims[rank - side->dims.size() + i];
      size = std::max(size, side->dims[i]);
    }
  Tensor y = add(std::move(dims));
  node("arithmetic of two tensors",
       [=, left = read(a), right = read(b), to = y.id](auto graph) {
         return function(graph, -infinity, infinity, left, right, to,
                         /*flags=*/0);
       });
  return y;
}

Tensor Segment::clamp(const Tensor &x, double least, double greatest) {
  Tensor y = add(x.dims);
  node("a clamp", [=, from = read(x), to = y.id](auto graph) {
    return xnn_define_clamp(graph, static_cast<float>(least),
                            static_cast<float>(greatest), from, to,
                            /*flags=*/0);
  });
  return y;
}

Tensor Segment::reshape(const Tensor &x, Dims dims) {
  if (dims == x.dims)
    return x;
  Tensor y = add(std::move(dims));
  node("a reshape", [from = read(x), to = y.id, dims = y.dims](auto graph) {
    return xnn_define_static_reshape(graph, dims.size(), dims.data(), from, to,
                                     /*flags=*/0);
  });
  return y;
}

Tensor Segment::pad(const Tensor &x, const Dims &before, const Dims &after,
                    double value) {
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] += before[i] + after[i];
  Tensor y = add(std::move(dims));
  node("a pad", [=, from = read(x), to = y.id](auto graph) {
    return xnn_define_static_constant_pad(graph, before.data(), after.data(),
                                          static_cast<float>(value), from, to,
                                          /*flags=*/0);
  });
  return y;
}

Tensor Segment::fullyConnected(const Tensor &x, std::vector<float> matrix,
                               size_t rows, std::vector<float> bias) {
  Dims dims = x.dims;
  const uint32_t filter = constant({rows, dims.back()}, std::move(matrix)).id;
  const uint32_t added = bias.empty() ? XNN_INVALID_VALUE_ID
                                      : constant({rows}, std::move(bias)).id;
  dims.back() = rows;
  Tensor y = add(std::move(dims));
  node("a product with a matrix", [=, from = read(x), to = y.id](auto graph) {
    return xnn_define_fully_connected(graph, -infinity, infinity, from, filter,
                                      added, to, /*flags=*/0);
  });
  return y;
}

Tensor Segment::sumOfLast(const Tensor &x, double factor) {
  const size_t size = x.dims.back();
  return fullyConnected(x, std::vector<float>(size, static_cast<float>(factor)),
                        1, {});
}

Tensor Segment::resizeBilinear(const Tensor &x, size_t height, size_t width,
                               bool alignCorners) {
  Tensor y = add({x.dims[0], height, width, x.dims[3]});
  const uint32_t flags = alignCorners ? XNN_FLAG_ALIGN_CORNERS : 0;
  node("a bilinear interpolation", [=, from = read(x), to = y.id](auto graph) {
    return xnn_define_static_resize_bilinear_2d(graph, height, width, from, to,
                                                flags);
  });
  return y;
}

Tensor Segment::convolution(const Tensor &x, const Convolution &shape,
                            std::vector<float> kernels,
                            std::vector<float> bias) {
  const size_t channels = x.dims[3] / shape.groups;
  const uint32_t filter =
      constant({shape.outputs, shape.kernel[0], shape.kernel[1], channels},
               std::move(kernels))
          .id;
  const uint32_t added = bias.empty()
                             ? XNN_INVALID_VALUE_ID
                             : constant({shape.outputs}, std::move(bias)).id;
  Dims dims = {x.dims[0], 0, 0, shape.outputs};
  for (size_t i = 0; i < 2; ++i)
    dims[i + 1] = (x.dims[i + 1] + 2 * shape.padding[i] -
                   shape.dilation[i] * (shape.kernel[i] - 1) - 1) /
                      shape.stride[i] +
                  1;
  Tensor y = add(std::move(dims));
  node("a convolution", [=, from = read(x), to = y.id](auto graph) {
    return xnn_define_convolution_2d(
        graph, shape.padding[0], shape.padding[1], shape.padding[0],
        shape.padding[1], shape.kernel[0], shape.kernel[1], shape.stride[0],
        shape.stride[1], shape.dilation[0], shape.dilation[1], shape.groups,
        channels, shape.outputs / shape.groups, -infinity, infinity, from,
        filter, added, to, /*flags=*/0);
  });
  return y;
}

//===----------------------------------------------------------------------===//
// Building and running
//===----------------------------------------------------------------------===//

Status Segment::defineTensors(xnn_subgraph_t subgraph) {
  for (size_t i = 0; i < places.size(); ++i) {
    const Place &place = places[i];
    const uint32_t flags =
        (place.isInput ? XNN_VALUE_FLAG_EXTERNAL_INPUT : 0) |
        (place.isOutput ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT : 0);
    uint32_t id = 0;
    const xnn_status status = xnn_define_tensor_value(
        subgraph, xnn_datatype_fp32, place.dims.size(), place.dims.data(),
        place.isConstant ? place.numbers.data() : nullptr,
        static_cast<uint32_t>(i), flags, &id);
    if (status != xnn_status_success)
      return refused("a tensor", status);
  }
  return Status::ok();
}

Status Segment::build(pthreadpool_t pool) {
  if (nodes.empty()) // Only reordered inputs.
    return Status::ok();
  xnn_subgraph_t made = nullptr;
  if (xnn_status status = xnn_create_subgraph(
          static_cast<uint32_t>(places.size()), /*flags=*/0, &made);
      status != xnn_status_success)
    return refused("a subgraph", status);
  std::unique_ptr<struct xnn_subgraph, xnn_status (*)(xnn_subgraph_t)> subgraph(
      made, xnn_delete_subgraph);
  LLMIR_RETURN_IF_ERROR(defineTensors(made));
  for (const Node &node : nodes)
    if (xnn_status status = node.make(made); status != xnn_status_success)
      return refused(node.what, status);
  if (xnn_status status =
          xnn_create_runtime_v2(made, pool, /*flags=*/0, &runtime);
      status != xnn_status_success)
    return refused("the subgraph", status);
  std::vector<xnn_external_value> outside;
  for (size_t i = 0; i < places.size(); ++i)
    if ((places[i].isInput && places[i].isRead) || places[i].isOutput)
      outside.push_back({static_cast<uint32_t>(i), places[i].numbers.data()});
  if (xnn_status status =
          xnn_setup_runtime(runtime, outside.size(), outside.data());
      status != xnn_status_success)
    return refused("the tensors of its caller", status);
  return Status::ok();
}

Status Segment::run() {
  if (!runtime)
    return Status::ok();
  if (xnn_status status = xnn_invoke_runtime(runtime);
      status != xnn_status_success)
    return refused("to run", status);
  return Status::ok();
}
