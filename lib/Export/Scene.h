//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a picture shows before anything has a place: boxes in boxes, their
// texts, and the edges between the boxes of one module.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_SCENE_H
#define LLMIR_LIB_EXPORT_SCENE_H

#include "llmir/Export/Picture.h"

#include <string>
#include <vector>

namespace llmir::picture {

/// What an op does, for its colour.
enum class Category {
  Product,    ///< Products with weights and of activations, convolutions.
  Attention,  ///< Scores and what belongs to them.
  Norm,       ///< Norms and softmax.
  Arithmetic, ///< One value at a time.
  Table,      ///< Rows of tables.
  State,      ///< What stays from step to step.
  Move,       ///< Views, permutations, joins.
  Control,    ///< if, while, for, and what is none of the others.
};
const char *categoryName(Category category);
constexpr int numCategories = static_cast<int>(Category::Control) + 1;

struct Point {
  double x = 0, y = 0;
};

/// From a result of one box to another box of the same module.
struct Edge {
  size_t from = 0, to = 0; ///< Indices among the module's children.
  size_t fromResult = 0;   ///< Which of the results.
  /// Set by the layout: where the edge passes, in pairs that a straight line
  /// joins; between pairs it swings from the one to the other.
  std::vector<Point> points;
};

struct Box {
  enum Kind { Input, Output, Op, Module } kind = Op;
  Category category = Category::Control;
  std::string title;              ///< "q_proj", "self_attn"
  std::string kindName;           ///< "linear"; empty when the title says it.
  std::string note;               ///< At the right: costs.
  std::vector<std::string> lines; ///< Below: path, shapes, parameters.
  std::string tooltip;
  size_t numResults = 1;
  int64_t count = 1; ///< Modules that the box stands for.
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
constexpr double stackOffset = 5; ///< Of the cards behind a folded module.

/// Gives the box, with all that is in it, its size, and then its place.
void layOut(Box &root, double x, double y);

//===----------------------------------------------------------------------===//
// TextWidth.cpp
//===----------------------------------------------------------------------===//

/// The width of valid UTF-8 in DejaVu Sans, a wide font, in pixels; for
/// characters that it does not hold as much as the widest.
double textWidth(const std::string &text, double size, bool bold);
/// Valid UTF-8 with only what XML may hold; other bytes become U+FFFD. Cut to
/// `maxChars` characters, the last of which is then an ellipsis.
std::string cleanText(const std::string &bytes, size_t maxChars);

} // namespace llmir::picture

#endif // LLMIR_LIB_EXPORT_SCENE_H
