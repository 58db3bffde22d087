//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scene.h"

using namespace llmir;
using namespace llmir::picture;

namespace {

class Writer {
public:
  std::string write(const Scene &scene);

private:
  void module(const Box &box, const std::string &id, int depth);
  void node(const Box &box, const std::string &id);
  void line(int depth, const std::string &text) {
    out += std::string(2 * static_cast<size_t>(depth), ' ') + text + "\n";
  }

  std::string out;
};

} // namespace

/// A string of DOT: quotes and backslashes escaped, line breaks as \l.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

/// The lines of a label, left-aligned.
static std::string label(const Box &box) {
  std::string title = box.title;
  if (!box.kindName.empty())
    title += "  " + box.kindName;
  if (box.count > 1)
    title += "  \u00d7 " + std::to_string(box.count);
  if (!box.note.empty())
    title += "   " + box.note;
  std::string text = quoted(title);
  text.pop_back();
  for (const std::string &line : box.lines) {
    std::string next = quoted(line);
    text += "\\l" + next.substr(1, next.size() - 2);
  }
  return text + (box.lines.empty() ? "\"" : "\\l\"");
}

static const char *colorOf(Category category) {
  switch (category) {
  case Category::Product:
    return "#eaf2fe";
  case Category::Attention:
    return "#f2edfd";
  case Category::Norm:
    return "#e8f7ef";
  case Category::Arithmetic:
    return "#fef5e1";
  case Category::Table:
    return "#fdecf3";
  case Category::State:
    return "#e4f6f8";
  case Category::Move:
    return "#f4f5f7";
  case Category::Control:
    break;
  }
  return "#f0f0f0";
}

/// The source of edges from a box; for a module, that of its first result.
static std::string lastNode(const Box &box, const std::string &id,
                            size_t result) {
  if (box.kind != Box::Module)
    return id;
  size_t seen = 0;
  for (size_t i = 0; i < box.children.size(); ++i)
    if (box.children[i].kind == Box::Output && seen++ == result)
      return id + "_" + std::to_string(i);
  return id + "_0";
}

/// The destinations of edges to a box; for a module, its inputs in order.
static std::string firstNode(const Box &box, const std::string &id,
                             size_t operand) {
  if (box.kind != Box::Module)
    return id;
  std::string found = id + "_0";
  size_t seen = 0;
  for (size_t i = 0; i < box.children.size(); ++i)
    if (box.children[i].kind == Box::Input && seen++ <= operand)
      found = id + "_" + std::to_string(i);
  return found;
}

void Writer::node(const Box &box, const std::string &id) {
  const bool isPort = box.kind != Box::Op;
  out += id + " [label=" + label(box) + ", fillcolor=\"" +
         (isPort ? "#ffffff" : colorOf(box.category)) + "\"" +
         (isPort ? ", style=\"rounded,filled\"" : "") + "];\n";
}

void Writer::module(const Box &box, const std::string &id, int depth) {
  line(depth, "subgraph cluster_" + id + " {");
  line(depth + 1, "label=" + label(box) + "; labeljust=l; color=\"#c3ccd9\";");
  for (size_t i = 0; i < box.children.size(); ++i) {
    const Box &child = box.children[i];
    const std::string childId = id + "_" + std::to_string(i);
    if (child.kind == Box::Module) {
      module(child, childId, depth + 1);
      continue;
    }
    out += std::string(2 * static_cast<size_t>(depth + 1), ' ');
    node(child, childId);
  }
  std::vector<size_t> arrived(box.children.size());
  for (const Edge &edge : box.edges) {
    const std::string from = id + "_" + std::to_string(edge.from),
                      to = id + "_" + std::to_string(edge.to);
    line(depth + 1,
         lastNode(box.children[edge.from], from, edge.fromResult) + " -> " +
             firstNode(box.children[edge.to], to, arrived[edge.to]++) + ";");
  }
  line(depth, "}");
}

std::string Writer::write(const Scene &scene) {
  out = "digraph model {\n"
        "  graph [fontname=\"Helvetica\", fontsize=12, labelloc=t, label=" +
        quoted(scene.title + "   " + scene.subtitle) +
        "];\n"
        "  node [shape=box, style=filled, fontname=\"Helvetica\", "
        "fontsize=10, color=\"#c3ccd9\"];\n"
        "  edge [color=\"#94a3b8\", arrowsize=0.6];\n";
  module(scene.root, "m", 1);
  out += "}\n";
  return std::move(out);
}

Expected<std::string> llmir::pictureAsDOT(const mllm::ir::Graph &graph,
                                          const PictureOptions &options) {
  Expected<Scene> scene = makeScene(graph, options);
  if (!scene)
    return scene.takeStatus();
  return Writer().write(*scene);
}
