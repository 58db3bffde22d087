//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scene.h"

#include <algorithm>
#include <cstdio>

using namespace llmir;
using namespace llmir::picture;

static constexpr double pageMargin = 28;
static constexpr double headHeight = 96; ///< Title, totals and legend.

namespace {

/// Fill, border and bar of a category.
struct Colors {
  const char *fill, *border, *bar;
};

class Writer {
public:
  explicit Writer(const Scene &scene) : scene(scene) {}
  std::string write();

private:
  void head(double width, double height);
  void legend(double y);
  void module(const Box &box, int depth);
  void op(const Box &box);
  void port(const Box &box);
  void edge(const Edge &edge);
  void rect(double x, double y, double width, double height, double radius,
            const std::string &attributes);
  void text(double x, double y, const char *style, const std::string &content,
            bool atEnd = false);
  void tooltip(const Box &box);

  const Scene &scene;
  std::string out;
};

} // namespace

static Colors colorsOf(Category category) {
  switch (category) {
  case Category::Product:
    return {"#eaf2fe", "#bcd4f7", "#3b82f6"};
  case Category::Attention:
    return {"#f2edfd", "#d5c5f6", "#8b5cf6"};
  case Category::Norm:
    return {"#e8f7ef", "#b5e0c8", "#10a862"};
  case Category::Arithmetic:
    return {"#fef5e1", "#f3d999", "#e6a117"};
  case Category::Table:
    return {"#fdecf3", "#f5c3d8", "#e0568f"};
  case Category::State:
    return {"#e4f6f8", "#a9dde4", "#0e97a7"};
  case Category::Move:
    return {"#f4f5f7", "#d9dde3", "#9aa4b2"};
  case Category::Control:
    break;
  }
  return {"#f0f0f0", "#cfcfcf", "#606060"};
}

static const char *const style =
    "text{font-family:Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu "
    "Sans',sans-serif;fill:#1e293b}"
    ".h1{font-size:22px;font-weight:bold}"
    ".h2{font-size:12.5px;fill:#64748b}"
    ".title{font-size:12.5px;font-weight:bold}"
    ".note,.line,.kind{font-size:10.5px;fill:#64748b}"
    ".kind{fill:#475569}"
    ".count{font-size:10.5px;font-weight:bold;fill:#ffffff}"
    ".edge{fill:none;stroke:#94a3b8;stroke-width:1.4}";

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string result = text;
  while (result.back() == '0')
    result.pop_back();
  if (result.back() == '.')
    result.pop_back();
  return result == "-0" ? "0" : result;
}

void Writer::rect(double x, double y, double width, double height,
                  double radius, const std::string &attributes) {
  out += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
         number(width) + "\" height=\"" + number(height) + "\" rx=\"" +
         number(radius) + "\" " + attributes + "/>\n";
}

void Writer::text(double x, double y, const char *styleName,
                  const std::string &content, bool atEnd) {
  out += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" class=\"" +
         styleName + "\"" + (atEnd ? " text-anchor=\"end\"" : "") + ">" +
         escaped(content) + "</text>\n";
}

void Writer::tooltip(const Box &box) {
  if (box.tooltip.empty())
    return;
  std::string lines;
  for (size_t start = 0; start <= box.tooltip.size();) {
    size_t end = std::min(box.tooltip.find('\n', start), box.tooltip.size());
    lines += (lines.empty() ? "" : "\n") +
             escaped(cleanText(box.tooltip.substr(start, end - start), 400));
    start = end + 1;
  }
  out += "<title>" + lines + "</title>\n";
}

void Writer::edge(const Edge &edge) {
  const std::vector<Point> &points = edge.points;
  if (points.size() < 2)
    return;
  out += "<path class=\"edge\" marker-end=\"url(#arrow)\" d=\"M" +
         number(points[0].x) + " " + number(points[0].y);
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &a = points[i - 1], &b = points[i];
    if (i % 2 == 1 || a.x == b.x) {
      if (a.y != b.y || a.x != b.x)
        out += " L" + number(b.x) + " " + number(b.y);
      continue;
    }
    const double middle = (a.y + b.y) / 2;
    out += " C" + number(a.x) + " " + number(middle) + " " + number(b.x) + " " +
           number(middle) + " " + number(b.x) + " " + number(b.y);
  }
  out += "\"/>\n";
}

void Writer::port(const Box &box) {
  out += "<g class=\"node\">\n";
  rect(box.x, box.y, box.width, box.height, box.height / 2,
       "class=\"box\" fill=\"#ffffff\" stroke=\"#cbd5e1\"");
  text(box.x + textMargin, box.y + 14, "kind", box.title);
  out += "</g>\n";
}

void Writer::op(const Box &box) {
  const Colors colors = colorsOf(box.category);
  out += "<g class=\"node\">\n";
  tooltip(box);
  rect(box.x, box.y, box.width, box.height, 5,
       std::string("class=\"box\" fill=\"") + colors.fill + "\" stroke=\"" +
           colors.border + "\"");
  rect(box.x, box.y + 4, 3.5, box.height - 8, 1.75,
       std::string("fill=\"") + colors.bar + "\"");
  const double left = box.x + textMargin,
               right = box.x + box.width - textMargin;
  double y = box.y + firstBaseline;
  text(left, y, "title", box.title);
  if (!box.kindName.empty())
    text(left + textWidth(box.title, titleSize, true) + 7, y, "kind",
         box.kindName);
  if (!box.note.empty())
    text(right, y, "note", box.note, /*atEnd=*/true);
  for (const std::string &line : box.lines)
    text(left, y += lineHeight, "line", line);
  out += "</g>\n";
}

void Writer::module(const Box &box, int depth) {
  const double cards = box.count > 1 ? 2 * stackOffset : 0;
  const double width = box.width - cards, height = box.height - cards;
  const std::string fill = depth % 2 ? "#f8fafc" : "#ffffff";
  const std::string look = "fill=\"" + fill + "\" stroke=\"#c3ccd9\"";
  out += "<g class=\"node module\">\n";
  tooltip(box);
  for (double offset = cards; offset > 0; offset -= stackOffset)
    rect(box.x + offset, box.y + offset, width, height, 9, look);
  rect(box.x, box.y, width, height, 9, "class=\"box\" " + look);
  const double y = box.y + firstBaseline + 1;
  text(box.x + textMargin, y, "title", box.title);
  if (box.count > 1) {
    const std::string count = "\u00d7 " + std::to_string(box.count);
    const double left =
        box.x + textMargin + textWidth(box.title, titleSize, true) + 10;
    rect(left, y - 11.5, textWidth(count, noteSize, true) + 14, 16, 8,
         "fill=\"#334155\"");
    text(left + 7, y - 0.5, "count", count);
  }
  if (!box.note.empty())
    text(box.x + width - textMargin, y, "note", box.note, /*atEnd=*/true);
  for (const Edge &line : box.edges)
    edge(line);
  for (const Box &child : box.children) {
    if (child.kind == Box::Module)
      module(child, depth + 1);
    else if (child.kind == Box::Op)
      op(child);
    else
      port(child);
  }
  out += "</g>\n";
}

/// The legend of colors and symbols, on one line.
void Writer::legend(double y) {
  double x = pageMargin;
  out += "<g class=\"legend\">\n";
  for (int i = 0; i < numCategories; ++i) {
    if (!scene.used[i])
      continue;
    const auto category = static_cast<Category>(i);
    const Colors colors = colorsOf(category);
    rect(x, y - 10, 12, 12, 3,
         std::string("fill=\"") + colors.fill + "\" stroke=\"" + colors.bar +
             "\"");
    text(x + 18, y, "kind", categoryName(category));
    x += 18 + textWidth(categoryName(category), noteSize, false) + 16;
  }
  out += "</g>\n";
}

/// Explanations of the symbols of a picture.
static std::string signs(const Scene &scene) {
  std::string text;
  if (scene.hasUnnamedSizes)
    text = "n: a dynamic size (tokens); costs are for n = 1";
  if (scene.hasFolds)
    text += std::string(text.empty() ? "" : " \u00b7 ") +
            "\u00d7 k: k equal modules in a row";
  return text;
}

void Writer::head(double width, double height) {
  out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
         number(width) + "\" height=\"" + number(height) + "\" viewBox=\"0 0 " +
         number(width) + " " + number(height) + "\">\n" + "<title>" +
         escaped(scene.title) + "</title>\n<style>" + style +
         "</style>\n"
         "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" "
         "refY=\"4\" markerWidth=\"5.5\" markerHeight=\"5.5\" "
         "orient=\"auto\"><path d=\"M0 0.8 L8 4 L0 7.2 z\" "
         "fill=\"#94a3b8\"/></marker></defs>\n"
         "<rect width=\"" +
         number(width) + "\" height=\"" + number(height) +
         "\" fill=\"#ffffff\"/>\n";
  text(pageMargin, 42, "h1", scene.title);
  text(pageMargin, 63, "h2", scene.subtitle);
  legend(84);
}

std::string Writer::write() {
  const std::string last = signs(scene);
  double least = std::max(textWidth(scene.title, 22, true),
                          textWidth(scene.subtitle, 12.5, false));
  least = std::max(least, textWidth(last, noteSize, false));
  double legendWidth = 0;
  for (int i = 0; i < numCategories; ++i)
    if (scene.used[i])
      legendWidth += 34 + textWidth(categoryName(static_cast<Category>(i)),
                                    noteSize, false);
  least = std::max(least, legendWidth);
  const double foot = last.empty() ? 0 : 20;
  const double width = std::max(scene.root.width, least) + 2 * pageMargin;
  const double height = headHeight + scene.root.height + foot + pageMargin;
  head(width, height);
  module(scene.root, 0);
  if (!last.empty())
    text(pageMargin, height - pageMargin + 4, "kind", last);
  out += "</svg>\n";
  return std::move(out);
}

Expected<std::string> llmir::pictureAsSVG(const mllm::ir::Graph &graph,
                                          const PictureOptions &options) {
  Expected<Scene> scene = makeScene(graph, options);
  if (!scene)
    return scene.takeStatus();
  layOut(scene->root, pageMargin, headHeight);
  return Writer(*scene).write();
}
