//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pictures of model graphs: modules as nested boxes, ops with shapes, types,
// bytes and floating-point operations; consecutive identical layers are drawn
// once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_PICTURE_H
#define LLMIR_EXPORT_PICTURE_H

#include "mllm/ir/GraphVisitor.h"

#include <string>

namespace llmir {

struct PictureOptions {
  /// Draw consecutive identical modules once, with their count.
  bool fold = true;
};

/// Returns a self-contained SVG 1.1 page, for fonts not wider than DejaVu Sans.
/// The output is deterministic. Fails with Unsupported if the graph is too
/// large.
Expected<std::string> pictureAsSVG(const ::mllm::ir::Graph &graph,
                                   const PictureOptions &options = {});

/// The same for Graphviz, as clusters to be laid out by `dot`.
Expected<std::string> pictureAsDOT(const ::mllm::ir::Graph &graph,
                                   const PictureOptions &options = {});

} // namespace llmir

#endif // LLMIR_EXPORT_PICTURE_H
