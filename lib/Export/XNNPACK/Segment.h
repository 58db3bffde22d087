//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One subgraph of XNNPACK: planned, then built, then run.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_XNNPACK_SEGMENT_H
#define LLMIR_LIB_EXPORT_XNNPACK_SEGMENT_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <xnnpack.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llmir::xnnpack {

/// The sizes of a tensor in memory order.
using Dims = std::vector<size_t>;

/// Requires sizes accepted by checkOp(), whose product does not overflow.
inline size_t numValues(const Dims &dims) {
  size_t product = 1;
  for (size_t size : dims)
    product *= size;
  return product;
}

/// RAII wrapper of the library and its threads.
class Library {
public:
  static Expected<std::unique_ptr<Library>> open(int threads);
  ~Library();
  pthreadpool_t pool() const { return threads.get(); }

private:
  explicit Library(pthreadpool_t pool) : threads(pool, pthreadpool_destroy) {}
  std::unique_ptr<struct pthreadpool, void (*)(pthreadpool_t)> threads;
};

/// A tensor of a segment.
struct Tensor {
  uint32_t id; ///< Index in the segment.
  Dims dims;
};

/// A subgraph: tensors and nodes are added in order, build() creates them,
/// run() executes them. All elements are f32.
class Segment {
public:
  Segment() = default;
  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  //===--------------------------------------------------------------------===//
  // Planning
  //===--------------------------------------------------------------------===//

  Tensor input(Dims dims);
  /// A constant with elements in memory order.
  Tensor constant(Dims dims, std::vector<float> values);
  Tensor number(double value);
  /// Marks a tensor that the caller reads after run(); inputs and constants are
  /// read in place.
  void markOutput(const Tensor &tensor);

  using UnaryFn = xnn_status (*)(xnn_subgraph_t, uint32_t, uint32_t, uint32_t);
  using BinaryFn = xnn_status (*)(xnn_subgraph_t, float, float, uint32_t,
                                  uint32_t, uint32_t, uint32_t);
  Tensor unary(UnaryFn function, const Tensor &x);
  /// Broadcasts as in NumPy.
  Tensor binary(BinaryFn function, const Tensor &a, const Tensor &b);
  Tensor clamp(const Tensor &x, double least, double greatest);
  Tensor reshape(const Tensor &x, Dims dims);
  Tensor pad(const Tensor &x, const Dims &before, const Dims &after,
             double value);
  /// The last dimension times the matrix [rows, columns of x], row-major; the
  /// bias has `rows` values or none.
  Tensor fullyConnected(const Tensor &x, std::vector<float> matrix, size_t rows,
                        std::vector<float> bias);
  /// Sum of the last dimension times `factor`; that dimension becomes 1.
  Tensor sumOfLast(const Tensor &x, double factor);
  Tensor resizeBilinear(const Tensor &x, size_t height, size_t width,
                        bool alignCorners);

  struct Convolution {
    uint32_t kernel[2], stride[2], dilation[2], padding[2];
    uint32_t groups;
    size_t outputs;
  };
  /// x is [batch, height, width, channels], the kernels are [outputs, height,
  /// width, channels / groups], the bias has `outputs` elements or none.
  Tensor convolution(const Tensor &x, const Convolution &shape,
                     std::vector<float> kernels, std::vector<float> bias);

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  /// Creates the subgraph and its runtime; no tensors or nodes may be added
  /// afterwards.
  Status build(pthreadpool_t pool);
  /// The memory of an input, to be written before run().
  float *data(const Tensor &tensor) { return places[tensor.id].numbers.data(); }
  Status run();

private:
  /// The memory of a tensor, for inputs, constants and outputs, with padding
  /// for out-of-bounds reads of the library.
  struct Place {
    Dims dims;
    std::vector<float> numbers;
    bool isInput = false, isConstant = false, isOutput = false;
    bool isRead = false; ///< Read by a node: the library drops other inputs.
  };
  Tensor add(Dims dims);
  Tensor filled(Dims dims, std::vector<float> values);
  /// The id of a tensor that a node reads.
  uint32_t read(const Tensor &tensor) {
    places[tensor.id].isRead = true;
    return tensor.id;
  }
  /// A node; `what` names it in messages.
  void node(const char *what, std::function<xnn_status(xnn_subgraph_t)> make);
  Status defineTensors(xnn_subgraph_t subgraph);

  struct Node {
    const char *what;
    std::function<xnn_status(xnn_subgraph_t)> make;
  };
  std::deque<Place> places;
  std::vector<Node> nodes;
  xnn_runtime_t runtime = nullptr;
};

} // namespace llmir::xnnpack

#endif // LLMIR_LIB_EXPORT_XNNPACK_SEGMENT_H
