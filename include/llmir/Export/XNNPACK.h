//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds and runs parts of a graph as XNNPACK subgraphs. Does not include MLIR
// or XNNPACK.
//
// The release of February 2022 supports static f32 shapes, products with
// constant matrices, convolutions, softmax and arithmetic. Norms and
// activations are decomposed into these. Transposes are free: a tensor keeps
// the dimension order in which it was created (images stay channels-last
// between convolutions) and is reordered when it leaves the library.
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

/// Results differ from the reference by f32 rounding only, except for softmax
/// over slices of -∞ (NaN here) and NaN in clip and relu. Not thread-safe.
class XNNPACKTarget : public ::mllm::ir::ExportTarget {
public:
  /// Initializes the library for the host; emit() calls `reader`. Fails with
  /// Unsupported if the library does not support the processor.
  static Expected<std::unique_ptr<XNNPACKTarget>> create(ParameterReader reader,
                                                         int threads = 1);
  ~XNNPACKTarget() override;

  std::string name() const override { return "xnnpack"; }
  Status supported(const ::mllm::ir::GraphOp &op) const override;
  /// Builds the part; the graph must outlive this target.
  Status emit(const ::mllm::ir::Graph &graph,
              const ::mllm::ir::GraphPart &part) override;

  size_t numParts() const { return parts.size(); }
  /// Number of XNNPACK subgraphs of a part: 1, plus 1 for each tensor that is
  /// needed in a different dimension order.
  size_t numSubgraphs(size_t part) const;
  /// Runs part number `part` in the order of emit(). `inputs` correspond to
  /// GraphPart::inputs and the results to outputs, both row-major. Fails if an
  /// input has a wrong number of elements.
  Expected<std::vector<std::vector<float>>>
  run(size_t part, const std::vector<std::vector<float>> &inputs);

private:
  explicit XNNPACKTarget(ParameterReader reader);

  std::unique_ptr<xnnpack::Library> library; ///< Destroyed after the parts.
  ParameterReader reader;
  std::vector<std::unique_ptr<xnnpack::Part>> parts;
};

} // namespace llmir

#endif // LLMIR_EXPORT_XNNPACK_H
