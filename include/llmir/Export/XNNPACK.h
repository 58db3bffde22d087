//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XNNPACK: parts of a graph as subgraphs of the library, built and run.
// Includes neither MLIR nor XNNPACK.
//
// The library's release of February 2022 knows static sizes of f32, products
// with constant matrices, convolutions, softmax and arithmetic. Norms and
// activations are written out in these. Transposes cost nothing: a tensor is
// held in the order of dimensions in which it was made (so pictures keep their
// channels last between convolutions) and is put in order where it leaves the
// library.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_XNNPACK_H
#define LLMIR_EXPORT_XNNPACK_H

#include "llmir/Export/ParameterReader.h"

#include <memory>
#include <vector>

namespace llmir {

namespace xnnpack {
class Part;
class Library;
} // namespace xnnpack

/// Numbers differ from those of the reference by roundings of f32 alone, but
/// for slices of softmax that are minus infinity throughout (NaN here) and NaN
/// in clip and relu. Not for several threads at once.
class XNNPACKTarget : public ::mllm::ir::ExportTarget {
public:
  /// Prepares the library for this processor; `reader` is called by emit().
  /// Fails with Unsupported where the library does not know the processor.
  static Expected<std::unique_ptr<XNNPACKTarget>> create(ParameterReader reader,
                                                         int threads = 1);
  ~XNNPACKTarget() override;

  std::string name() const override { return "xnnpack"; }
  Status supported(const ::mllm::ir::GraphOp &op) const override;
  /// Builds the part; the graph must outlive this target.
  Status emit(const ::mllm::ir::Graph &graph,
              const ::mllm::ir::GraphPart &part) override;

  size_t numParts() const { return parts.size(); }
  /// XNNPACK's subgraphs that a part consists of: 1, and 1 more for each time a
  /// tensor is needed in another order of dimensions than it is held in.
  size_t numSubgraphs(size_t part) const;
  /// Runs the part that emit() built as the `part`-th. `inputs` are those of
  /// GraphPart::inputs, row-major; so are the results those of outputs. Fails
  /// when an input has another number of values.
  Expected<std::vector<std::vector<float>>>
  run(size_t part, const std::vector<std::vector<float>> &inputs);

private:
  explicit XNNPACKTarget(ParameterReader reader);

  std::unique_ptr<xnnpack::Library> library; ///< Ends after the parts.
  ParameterReader reader;
  std::vector<std::unique_ptr<xnnpack::Part>> parts;
};

} // namespace llmir

#endif // LLMIR_EXPORT_XNNPACK_H
