//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout of boxes. Each module is laid out separately, in rows: a box is below
// all boxes that feed it (Sugiyama, Tagawa and Toda, 1981). Edges across
// several rows pass each of them in a reserved gap, so that no edge crosses a
// box.
//
//===----------------------------------------------------------------------===//

#include "Scene.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace llmir;
using namespace llmir::picture;

static constexpr double boxGap = 26;    ///< Between boxes of a row.
static constexpr double passWidth = 16; ///< Reserved for an edge.
static constexpr double padding = 18;   ///< Between a module and its boxes.
static constexpr double leastRowGap = 26, greatestRowGap = 54;
static constexpr double straightWithin = 7;
static constexpr int orderSweeps = 8, placeSweeps = 60;

//===----------------------------------------------------------------------===//
// Sizes of boxes
//===----------------------------------------------------------------------===//

static bool isPort(const Box &box) {
  return box.kind == Box::Input || box.kind == Box::Output;
}

static double headerWidth(const Box &box) {
  if (isPort(box))
    return textWidth(box.title, lineSize, false) + 2 * textMargin;
  double title = textWidth(box.title, titleSize, true);
  if (!box.kindName.empty())
    title += 7 + textWidth(box.kindName, noteSize, false);
  if (box.count > 1)
    title += 12 +
             textWidth("\u00d7 " + std::to_string(box.count), noteSize, true) +
             14;
  double width = title;
  if (!box.note.empty())
    width += 22 + textWidth(box.note, noteSize, false);
  for (const std::string &line : box.lines)
    width = std::max(width, textWidth(line, lineSize, false));
  return width + 2 * textMargin;
}

static double headerHeight(const Box &box) {
  if (isPort(box))
    return 20;
  const double lines = static_cast<double>(box.lines.size());
  return firstBaseline + lines * lineHeight + (box.kind == Box::Op ? 8 : 4);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

/// A box in a row, or the gap of an edge.
struct Node {
  double width = passWidth;
  double center = 0;
  int row = 0;
  size_t order = 0; ///< Position in the row.
  bool isPass = false;
  std::vector<size_t> above, below;
};

class RowLayout {
public:
  explicit RowLayout(Box &box) : box(box) {}
  /// Positions the children relative to the module's corner and computes its
  /// size.
  void run();

private:
  void assignRows();
  void addPasses();
  void orderRows();
  void sortRow(size_t row, bool byAbove);
  void placeNodes();
  void placeRow(size_t row, bool useAbove, bool useBelow);
  void straighten(const std::vector<size_t> &path);
  void finish();
  void routeEdges(const std::vector<double> &tops,
                  const std::vector<double> &bottoms);
  double endOf(const Edge &edge, size_t index) const;

  Box &box;
  std::vector<Node> nodes; ///< The children first.
  std::vector<std::vector<size_t>> rows;
  std::vector<std::vector<size_t>> paths; ///< Nodes of each edge, in order.
};

} // namespace

void RowLayout::assignRows() {
  std::vector<Box> &children = box.children;
  nodes.resize(children.size());
  for (size_t i = 0; i < children.size(); ++i)
    nodes[i].width = children[i].width;
  // Children are in topological order.
  for (const Edge &edge : box.edges)
    nodes[edge.to].row = std::max(nodes[edge.to].row, nodes[edge.from].row + 1);
  int last = 0;
  const bool hasInputs = !children.empty() && children[0].kind == Box::Input;
  std::vector<bool> isFed(children.size());
  for (const Edge &edge : box.edges)
    isFed[edge.to] = true;
  for (size_t i = 0; i < children.size(); ++i) {
    if (children[i].kind != Box::Input && !isFed[i] && hasInputs)
      nodes[i].row = std::max(nodes[i].row, 1);
    last = std::max(last, nodes[i].row);
  }
  // A second pass, since boxes without inputs may have moved down; they are
  // placed above their first user.
  for (const Edge &edge : box.edges)
    nodes[edge.to].row = std::max(nodes[edge.to].row, nodes[edge.from].row + 1);
  std::vector<int> firstUser(children.size(), -1);
  for (const Edge &edge : box.edges)
    if (firstUser[edge.from] < 0 || nodes[edge.to].row < firstUser[edge.from])
      firstUser[edge.from] = nodes[edge.to].row;
  for (size_t i = 0; i < children.size(); ++i) {
    if (!isFed[i] && children[i].kind == Box::Op && firstUser[i] > 0)
      nodes[i].row = firstUser[i] - 1;
    last = std::max(last, nodes[i].row);
  }
  for (size_t i = 0; i < children.size(); ++i)
    if (children[i].kind == Box::Output)
      nodes[i].row = last;
  rows.resize(static_cast<size_t>(last) + 1);
}

void RowLayout::addPasses() {
  for (const Edge &edge : box.edges) {
    std::vector<size_t> path = {edge.from};
    for (int row = nodes[edge.from].row + 1; row < nodes[edge.to].row; ++row) {
      Node pass;
      pass.row = row;
      pass.isPass = true;
      path.push_back(nodes.size());
      nodes.push_back(pass);
    }
    path.push_back(edge.to);
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      nodes[path[i]].below.push_back(path[i + 1]);
      nodes[path[i + 1]].above.push_back(path[i]);
    }
    paths.push_back(std::move(path));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto &row = rows[static_cast<size_t>(nodes[i].row)];
    nodes[i].order = row.size();
    row.push_back(i);
  }
}

/// Sorts a row by the mean position of the adjacent nodes above or below.
void RowLayout::sortRow(size_t row, bool byAbove) {
  std::vector<std::pair<double, size_t>> keys;
  for (size_t index : rows[row]) {
    const Node &node = nodes[index];
    const std::vector<size_t> &near = byAbove ? node.above : node.below;
    double sum = 0;
    for (size_t neighbor : near) {
      const auto &other = rows[static_cast<size_t>(nodes[neighbor].row)];
      sum += (static_cast<double>(nodes[neighbor].order) + 0.5) /
             static_cast<double>(other.size());
    }
    double key = (static_cast<double>(node.order) + 0.5) /
                 static_cast<double>(rows[row].size());
    if (!near.empty())
      key = sum / static_cast<double>(near.size());
    keys.emplace_back(key, index);
  }
  std::sort(keys.begin(), keys.end(), [&](const auto &a, const auto &b) {
    return std::tie(a.first, nodes[a.second].order) <
           std::tie(b.first, nodes[b.second].order);
  });
  for (size_t i = 0; i < keys.size(); ++i) {
    rows[row][i] = keys[i].second;
    nodes[keys[i].second].order = i;
  }
}

void RowLayout::orderRows() {
  for (int sweep = 0; sweep < orderSweeps; ++sweep) {
    for (size_t row = 1; row < rows.size(); ++row)
      sortRow(row, true);
    for (size_t row = rows.size(); row-- > 1;)
      sortRow(row - 1, false);
  }
  for (size_t row = 1; row < rows.size(); ++row)
    sortRow(row, true);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// The straightness weight of an edge: greatest for edges across several rows,
/// then for single edges between boxes.
static double straightness(const Node &a, const Node &b) {
  if (a.isPass || b.isPass)
    return a.isPass && b.isPass ? 8 : 0.1;
  const Node &upper = a.row < b.row ? a : b, &lower = a.row < b.row ? b : a;
  return upper.below.size() == 1 && lower.above.size() == 1 ? 8 : 2;
}

/// The space between adjacent nodes of a row.
static double gapBetween(const Node &a, const Node &b) {
  if (a.isPass && b.isPass)
    return 2;
  return a.isPass || b.isPass ? boxGap / 2 : boxGap;
}

/// Moves the row's nodes as close to their connected nodes as order and widths
/// allow: least squares under order constraints, by pooling adjacent violators.
void RowLayout::placeRow(size_t row, bool useAbove, bool useBelow) {
  struct Block {
    double sum, weight;
    size_t count;
    double value() const { return sum / weight; }
  };
  std::vector<Block> blocks;
  std::vector<double> offsets;
  double offset = 0;
  for (size_t i = 0; i < rows[row].size(); ++i) {
    const Node &node = nodes[rows[row][i]];
    if (i) {
      const Node &before = nodes[rows[row][i - 1]];
      offset += (before.width + node.width) / 2 + gapBetween(before, node);
    }
    offsets.push_back(offset);
    double sum = 0, weight = 0;
    auto pull = [&](const std::vector<size_t> &near) {
      for (size_t neighbor : near) {
        const double w = straightness(node, nodes[neighbor]);
        sum += w * nodes[neighbor].center;
        weight += w;
      }
    };
    if (useAbove)
      pull(node.above);
    if (useBelow)
      pull(node.below);
    if (weight == 0) {
      weight = 0.01;
      sum = weight * node.center;
    }
    blocks.push_back({sum - weight * offset, weight, 1});
    while (blocks.size() > 1 &&
           blocks[blocks.size() - 2].value() > blocks.back().value()) {
      Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().weight += last.weight;
      blocks.back().count += last.count;
    }
  }
  size_t i = 0;
  for (const Block &block : blocks)
    for (size_t k = 0; k < block.count; ++k, ++i)
      nodes[rows[row][i]].center = block.value() + offsets[i];
}

void RowLayout::placeNodes() {
  for (size_t row = 0; row < rows.size(); ++row)
    placeRow(row, false, false);
  for (int sweep = 0; sweep < placeSweeps; ++sweep) {
    const bool both = sweep >= 2;
    for (size_t row = 1; row < rows.size(); ++row)
      placeRow(row, true, both);
    for (size_t row = rows.size(); row-- > 0;)
      placeRow(row, both, true);
  }
  for (const std::vector<size_t> &path : paths)
    straighten(path);
}

/// Aligns the gaps of an edge vertically if there is space.
void RowLayout::straighten(const std::vector<size_t> &path) {
  if (path.size() < 4)
    return;
  double low = -1e9, high = 1e9, sum = 0;
  for (size_t i = 1; i + 1 < path.size(); ++i) {
    const Node &pass = nodes[path[i]];
    const auto &row = rows[static_cast<size_t>(pass.row)];
    auto reach = [&](const Node &other) {
      return (pass.width + other.width) / 2 + gapBetween(pass, other);
    };
    if (pass.order > 0) {
      const Node &left = nodes[row[pass.order - 1]];
      low = std::max(low, left.center + reach(left));
    }
    if (pass.order + 1 < row.size()) {
      const Node &right = nodes[row[pass.order + 1]];
      high = std::min(high, right.center - reach(right));
    }
    sum += pass.center;
  }
  if (low > high)
    return;
  const double mean = sum / static_cast<double>(path.size() - 2);
  for (size_t i = 1; i + 1 < path.size(); ++i)
    nodes[path[i]].center = std::clamp(mean, low, high);
}

//===----------------------------------------------------------------------===//
// Positions and edges
//===----------------------------------------------------------------------===//

/// The end point of an edge at its box: end points are spread in order.
double RowLayout::endOf(const Edge &edge, size_t index) const {
  std::vector<std::pair<double, size_t>> arriving;
  for (size_t i = 0; i < box.edges.size(); ++i)
    if (box.edges[i].to == edge.to) {
      const std::vector<size_t> &path = paths[i];
      arriving.emplace_back(nodes[path[path.size() - 2]].center, i);
    }
  std::sort(arriving.begin(), arriving.end());
  const double count = static_cast<double>(arriving.size());
  const double step = std::min(22.0, nodes[edge.to].width * 0.6 / count);
  for (size_t i = 0; i < arriving.size(); ++i)
    if (arriving[i].second == index)
      return nodes[edge.to].center +
             (static_cast<double>(i) - (count - 1) / 2) * step;
  return nodes[edge.to].center;
}

void RowLayout::routeEdges(const std::vector<double> &tops,
                           const std::vector<double> &bottoms) {
  for (size_t i = 0; i < box.edges.size(); ++i) {
    Edge &edge = box.edges[i];
    const Box &from = box.children[edge.from];
    const double results = static_cast<double>(from.numResults);
    const double step =
        std::min(22.0, from.width * 0.5 / std::max(1.0, results));
    double x = nodes[edge.from].center;
    if (from.numResults > 1)
      x += (static_cast<double>(edge.fromResult) - (results - 1) / 2) * step;
    const auto fromRow = static_cast<size_t>(nodes[edge.from].row);
    edge.points = {{x, from.y + from.height}, {x, bottoms[fromRow]}};
    for (size_t k = 1; k + 1 < paths[i].size(); ++k) {
      const Node &pass = nodes[paths[i][k]];
      const auto row = static_cast<size_t>(pass.row);
      edge.points.push_back({pass.center, tops[row]});
      edge.points.push_back({pass.center, bottoms[row]});
    }
    double end = endOf(edge, i);
    if (std::abs(end - edge.points.back().x) < straightWithin)
      end = edge.points.back().x; // Avoid small horizontal steps.
    const double top = tops[static_cast<size_t>(nodes[edge.to].row)];
    edge.points.push_back({end, top});
    edge.points.push_back({end, top});
  }
}

void RowLayout::finish() {
  double left = nodes[0].center, right = left;
  for (const Node &node : nodes) {
    left = std::min(left, node.center - node.width / 2);
    right = std::max(right, node.center + node.width / 2);
  }
  const double header = headerHeight(box);
  const double least = headerWidth(box);
  const double width = std::max(right - left + 2 * padding, least);
  const double shift = (width - (right - left)) / 2 - left;
  for (Node &node : nodes)
    node.center = std::round((node.center + shift) * 2) / 2;

  std::vector<double> tops, bottoms;
  double y = header + 10;
  for (size_t row = 0; row < rows.size(); ++row) {
    double height = 0, swing = 0;
    for (size_t index : rows[row]) {
      if (!nodes[index].isPass)
        height = std::max(height, box.children[index].height);
      for (size_t next : nodes[index].below)
        swing =
            std::max(swing, std::abs(nodes[index].center - nodes[next].center));
    }
    for (size_t index : rows[row])
      if (!nodes[index].isPass) {
        box.children[index].x = nodes[index].center - nodes[index].width / 2;
        box.children[index].y = y;
      }
    tops.push_back(y);
    bottoms.push_back(y + height);
    y += height;
    if (row + 1 < rows.size())
      y += std::round(
          std::clamp(leastRowGap + swing * 0.08, leastRowGap, greatestRowGap));
  }
  box.width = width;
  box.height = y + padding - 4;
  routeEdges(tops, bottoms);
}

void RowLayout::run() {
  assignRows();
  addPasses();
  orderRows();
  placeNodes();
  finish();
}

//===----------------------------------------------------------------------===//
// Whole scene
//===----------------------------------------------------------------------===//

static void measure(Box &box) {
  for (Box &child : box.children)
    measure(child);
  if (box.kind == Box::Module && !box.children.empty()) {
    RowLayout(box).run();
  } else {
    box.width = std::ceil(headerWidth(box));
    box.height = std::ceil(headerHeight(box));
  }
  if (box.count > 1) { // The cards drawn behind the node.
    box.width += 2 * stackOffset;
    box.height += 2 * stackOffset;
  }
}

static void move(Box &box, double x, double y) {
  box.x += x;
  box.y += y;
  for (Edge &edge : box.edges)
    for (Point &point : edge.points) {
      point.x += box.x;
      point.y += box.y;
    }
  for (Box &child : box.children)
    move(child, box.x, box.y);
}

void picture::layOut(Box &root, double x, double y) {
  measure(root);
  move(root, x, y);
}
