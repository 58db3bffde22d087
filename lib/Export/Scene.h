//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contents of a picture before layout: nested boxes, their texts, and the
// edges between the boxes of one module.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_SCENE_H
#define LLMIR_LIB_EXPORT_SCENE_H

#include "llmir/Export/Picture.h"

#include <string>
#include <vector>

namespace llmir::picture {

/// The category of an op, which determines its color.
enum class Category {
  Product,    ///< Products with weights and of activations, convolutions.
  Attention,  ///< Attention, rotary embeddings, masks.
  Norm,       ///< Norms and softmax.
  Arithmetic, ///< Element-wise ops.
  Table,      ///< Embedding lookups.
  State,      ///< State kept between steps.
  Move,       ///< Views, permutations, concatenations.
  Control,    ///< if, while, for, and all other ops.
};
const char *categoryName(Category category);
constexpr int numCategories = static_cast<int>(Category::Control) + 1;

struct Point {
  double x = 0, y = 0;
};

/// From a result of one box to another box of the same module.
struct Edge {
  size_t from = 0, to = 0; ///< Indices of children of the module.
  size_t fromResult = 0;   ///< Result number.
  /// Set by the layout: pairs of points connected by straight lines, with
  /// curves between the pairs.
  std::vector<Point> points;
};

struct Box {
  enum Kind { Input, Output, Op, Module } kind = Op;
  Category category = Category::Control;
  std::string title;              ///< "q_proj", "self_attn"
  std::string kindName;           ///< "linear"; empty if it is the title.
  std::string note;               ///< Right-aligned: costs.
  std::vector<std::string> lines; ///< Below: path, shapes, parameters.
  std::string tooltip;
  size_t numResults = 1;
  int64_t count = 1; ///< Number of modules that the box represents.
  std::vector<Box> children;
  std::vector<Edge> edges;

  // Set by the layout; absolute, in pixels.
  double x = 0, y = 0, width = 0, height = 0;
};

struct Scene {
  std::string title, subtitle;
  Box root;
  bool used[numCategories] = {};
  bool hasUnnamedSizes = false; ///< Shown as `n`.
  bool hasFolds = false;
};

Expected<Scene> makeScene(const ::mllm::ir::Graph &graph,
                          const PictureOptions &options);

/// "12.6 M", "988", "1.2 G": three digits.
std::string withUnit(double amount);

//===----------------------------------------------------------------------===//
// Layout.cpp
//===----------------------------------------------------------------------===//

/// Sizes of the texts, in pixels.
constexpr double titleSize = 12.5, noteSize = 10.5, lineSize = 10.5;
/// From the top of a box to its first baseline, and between baselines.
constexpr double firstBaseline = 18, lineHeight = 14.5;
constexpr double textMargin = 11; ///< Left and right of texts.
constexpr double stackOffset = 5; ///< Cards drawn behind a collapsed module.

/// Computes the size and then the position of a box and its contents.
void layOut(Box &root, double x, double y);

//===----------------------------------------------------------------------===//
// TextWidth.cpp
//===----------------------------------------------------------------------===//

/// The width of valid UTF-8 in DejaVu Sans, a wide font, in pixels; unsupported
/// characters have the maximum width.
double textWidth(const std::string &text, double size, bool bold);
/// Converts bytes to valid UTF-8 for XML, replacing invalid bytes by U+FFFD,
/// and truncates to `maxChars` characters, the last of which is then an
/// ellipsis.
std::string cleanText(const std::string &bytes, size_t maxChars);

} // namespace llmir::picture

#endif // LLMIR_LIB_EXPORT_SCENE_H
