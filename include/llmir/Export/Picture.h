//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model's graph as a picture: modules as nested boxes, their ops with shapes,
// types, bytes and floating-point operations, equal layers in a row drawn once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_PICTURE_H
#define LLMIR_EXPORT_PICTURE_H

#include "mllm/ir/GraphVisitor.h"

#include <string>

namespace llmir {

struct PictureOptions {
  /// Draw equal modules that follow each other once, with their number.
  bool fold = true;
};

/// A page of SVG 1.1 that needs nothing else: the layout is LLMIR's, texts fit
/// where the fonts are as wide as DejaVu Sans or narrower. The same graph gives
/// the same bytes. Fails with Unsupported when there is too much to draw.
Expected<std::string> pictureAsSVG(const ::mllm::ir::Graph &graph,
                                   const PictureOptions &options = {});

/// The same for Graphviz: clusters, to be laid out by `dot`.
Expected<std::string> pictureAsDOT(const ::mllm::ir::Graph &graph,
                                   const PictureOptions &options = {});

} // namespace llmir

#endif // LLMIR_EXPORT_PICTURE_H
