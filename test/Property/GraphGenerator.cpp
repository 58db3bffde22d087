//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphGenerator.h"

#include <random>
#include <vector>

namespace {

/// A tensor of the subgraph that is being written.
struct GraphValue {
  std::string name;
  int64_t columns;
};

/// A subgraph that is there already.
struct KnownGraph {
  std::string name;
  std::vector<int64_t> arguments, results; ///< Columns.
};

class GraphWriter {
public:
  explicit GraphWriter(uint64_t seed) : random(seed) {
    rows = pick(2) ? "?" : std::to_string(1 + pick(4));
  }

  std::string write() {
    const uint64_t subgraphs = pick(5);
    for (uint64_t i = 0; i < subgraphs; ++i)
      writeSubGraph("part." + std::to_string(i), pick(3) == 0);
    if (!known.empty() && pick(2)) { // The same body under another name.
      KnownGraph twin = known.back();
      twin.name = "twin";
      text += "mllm.graph.subgraph @twin" + lastBody;
      known.push_back(twin);
    }
    writeSubGraph("model", /*isPrivate=*/false, /*isEntry=*/true);
    return parameters + text;
  }

private:
  uint64_t pick(uint64_t count) { return random() % count; }
  template <typename T> const T &pickFrom(const std::vector<T> &list) {
    return list[pick(list.size())];
  }
  int64_t pickColumns() { return int64_t(4) << pick(3); }
  std::string type(int64_t columns) const {
    return "tensor<" + rows + "x" + std::to_string(columns) + "xf32>";
  }
  std::string list(const std::vector<int64_t> &columns) const {
    std::string types;
    for (int64_t each : columns)
      types += (types.empty() ? "" : ", ") + type(each);
    return columns.size() == 1 ? types : "(" + types + ")";
  }

  /// A parameter of the shape: an old one now and then.
  std::string parameter(const std::string &shape) {
    std::string name = "w" + shape + "_" + std::to_string(pick(3));
    const std::string line = "mllm.tensor.register @" + name + " : tensor<" +
                             shape + "xf32> {source = \"" + name + "\"}\n";
    if (parameters.find(line) == std::string::npos)
      parameters += line;
    return "@" + name;
  }

  GraphValue add(int64_t columns, const std::string &op) {
    GraphValue value{"%" + std::to_string(values.size()), columns};
    body += "  " + value.name + " = " + op + "\n";
    values.push_back(value);
    return value;
  }

  void writeOp() {
    const GraphValue x = pick(3) ? values.back() : pickFrom(values);
    const std::string of = " : " + type(x.columns);
    switch (pick(10)) {
    case 0:
    case 1:
      add(x.columns, "mllm.linalg.silu " + x.name + of);
      return;
    case 2:
    case 3: {
      std::vector<GraphValue> alike;
      for (const GraphValue &value : values)
        if (value.columns == x.columns)
          alike.push_back(value);
      const char *ops[] = {"add", "sub", "mul"};
      add(x.columns, std::string("mllm.linalg.") + ops[pick(3)] + " " + x.name +
                         ", " + pickFrom(alike).name + of);
      return;
    }
    case 4:
      add(x.columns, "mllm.linalg.rms_norm " + x.name + ", " +
                         parameter(std::to_string(x.columns)) +
                         " {eps = 1.0e-5 : f64}" + of);
      return;
    case 5: {
      int64_t columns = pickColumns();
      add(columns, "mllm.linalg.linear " + x.name + ", " +
                       parameter(std::to_string(columns) + "x" +
                                 std::to_string(x.columns)) +
                       of + " -> " + type(columns));
      return;
    }
    case 6: { // Heads and back.
      const std::string heads =
          "tensor<" + rows + "x2x" + std::to_string(x.columns / 2) + "xf32>";
      std::string split = "%h" + std::to_string(values.size());
      body += "  " + split + " = mllm.linalg.view " + x.name + of + " -> " +
              heads + "\n";
      add(x.columns, "mllm.linalg.view " + split + " : " + heads + " -> " +
                         type(x.columns));
      return;
    }
    case 7: { // Numbers that are known.
      if (rows == "?")
        return;
      std::string constant = "%c" + std::to_string(values.size());
      body += "  " + constant +
              " = mllm.tensor.constant dense<0.5> : " + type(x.columns) + "\n";
      std::string twice = "%d" + std::to_string(values.size());
      body += "  " + twice + " = mllm.linalg.add " + constant + ", " +
              constant + of + "\n";
      add(x.columns, "mllm.linalg.mul " + twice + ", " + x.name + of);
      return;
    }
    case 8:
      writeCall();
      return;
    default:
      body += "  mllm.dbg.comment \"here\"\n";
    }
  }

  void writeCall() {
    if (known.empty())
      return;
    const KnownGraph callee = pickFrom(known);
    std::string operands;
    for (int64_t columns : callee.arguments) {
      std::vector<GraphValue> alike;
      for (const GraphValue &value : values)
        if (value.columns == columns)
          alike.push_back(value);
      if (alike.empty())
        return;
      operands += (operands.empty() ? "" : ", ") + pickFrom(alike).name;
    }
    std::string types;
    for (int64_t columns : callee.arguments)
      types += (types.empty() ? "" : ", ") + type(columns);
    const std::string call = "%r" + std::to_string(values.size());
    body += "  " + call +
            (callee.results.size() == 1
                 ? ""
                 : ":" + std::to_string(callee.results.size())) +
            " = mllm.graph.call_graph @" + callee.name + "(" + operands +
            ") : (" + types + ") -> " + list(callee.results) + "\n";
    for (size_t i = 0; i < callee.results.size(); ++i)
      values.push_back(
          {callee.results.size() == 1 ? call : call + "#" + std::to_string(i),
           callee.results[i]});
  }

  void writeSubGraph(const std::string &name, bool isPrivate,
                     bool isEntry = false) {
    KnownGraph graph{name, {}, {}};
    values.clear();
    body.clear();
    std::string arguments;
    const uint64_t numArguments = 1 + pick(3);
    for (uint64_t i = 0; i < numArguments; ++i) {
      graph.arguments.push_back(pickColumns());
      values.push_back({"%x" + std::to_string(i), graph.arguments.back()});
      arguments += (i ? ", " : "") + values.back().name + ": " +
                   type(values.back().columns);
    }
    const uint64_t numOps = 1 + pick(isEntry ? 16 : 8);
    for (uint64_t i = 0; i < numOps; ++i)
      writeOp();
    // A run of ops that stands twice, now and then.
    if (pick(3) == 0)
      for (int i = 0; i < 2; ++i) {
        const GraphValue x = values.back();
        const std::string of = " : " + type(x.columns);
        GraphValue a = add(x.columns, "mllm.linalg.silu " + x.name + of);
        GraphValue b =
            add(x.columns, "mllm.linalg.mul " + a.name + ", " + x.name + of);
        add(x.columns, "mllm.linalg.add " + b.name + ", " + a.name + of);
      }
    std::string results, types;
    const uint64_t numResults = 1 + pick(2);
    for (uint64_t i = 0; i < numResults; ++i) {
      const GraphValue &value = i == 0 ? values.back() : pickFrom(values);
      graph.results.push_back(value.columns);
      results += (i ? ", " : "") + value.name;
      types += (i ? ", " : "") + type(value.columns);
    }
    lastBody = "(" + arguments + ") -> " + list(graph.results) +
               (isEntry ? " attributes {entry}" : "") + " {\n" + body +
               "  mllm.cf.return " + results + " : " + types + "\n}\n";
    text += std::string("mllm.graph.subgraph ") +
            (isPrivate ? "private " : "") + "@" + name + lastBody;
    known.push_back(graph);
  }

  std::mt19937_64 random;
  std::string rows, parameters, text, body, lastBody;
  std::vector<GraphValue> values;
  std::vector<KnownGraph> known;
};

} // namespace

std::string llmir::property::generateGraph(uint64_t seed) {
  return GraphWriter(seed).write();
}
