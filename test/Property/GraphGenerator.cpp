//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphGenerator.h"

#include "llvm/ADT/STLExtras.h"

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
    if (pick(2))
      writeChainParts();
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

  /// A name that the subgraph does not have yet.
  std::string newName(const char *start) {
    return "%" + std::string(start) + std::to_string(numNames++);
  }

  /// A line that names a value, which ops to come do not see.
  std::string define(const char *start, const std::string &op) {
    std::string name = newName(start);
    body += "  " + name + " = " + op + "\n";
    return name;
  }

  GraphValue add(int64_t columns, const std::string &op) {
    values.push_back({define("v", op), columns});
    return values.back();
  }

  GraphValue addLinear(const GraphValue &x, int64_t columns) {
    return add(columns, "mllm.linalg.linear " + x.name + ", " +
                            parameter(std::to_string(columns) + "x" +
                                      std::to_string(x.columns)) +
                            " : " + type(x.columns) + " -> " + type(columns));
  }

  /// A value that has these columns, from all that are seen here.
  GraphValue pickAlike(int64_t columns) {
    std::vector<GraphValue> alike;
    for (const GraphValue &value : values)
      if (value.columns == columns)
        alike.push_back(value);
    return pickFrom(alike);
  }

  void writeOp() {
    const GraphValue x = pick(3) ? values.back() : pickFrom(values);
    const std::string of = " : " + type(x.columns);
    switch (pick(13)) {
    case 0:
    case 1:
      add(x.columns, "mllm.linalg.silu " + x.name + of);
      return;
    case 2:
    case 3: {
      const char *ops[] = {"add", "sub", "mul"};
      add(x.columns, std::string("mllm.linalg.") + ops[pick(3)] + " " + x.name +
                         ", " + pickAlike(x.columns).name + of);
      return;
    }
    case 4:
      add(x.columns, "mllm.linalg.rms_norm " + x.name + ", " +
                         parameter(std::to_string(x.columns)) +
                         " {eps = 1.0e-5 : f64}" + of);
      return;
    case 5:
      addLinear(x, pickColumns());
      return;
    case 6: { // Heads and back.
      const std::string split = writeHeads(x);
      add(x.columns, "mllm.linalg.view " + split + " : " +
                         headsType(rows, x.columns) + " -> " + type(x.columns));
      return;
    }
    case 7: { // Numbers that are known.
      if (rows == "?")
        return;
      const std::string constant =
          define("c", "mllm.tensor.constant dense<0.5> : " + type(x.columns));
      const std::string twice =
          define("d", "mllm.linalg.add " + constant + ", " + constant + of);
      add(x.columns, "mllm.linalg.mul " + twice + ", " + x.name + of);
      return;
    }
    case 8:
      writeCall();
      return;
    case 9:
      writeAttention(x);
      return;
    case 10:
      if (depth < 2)
        writeIf(x);
      return;
    case 11:
      if (depth < 2)
        pick(2) ? writeFor(x) : writeWhile(x);
      return;
    default:
      body += "  mllm.dbg.comment \"here\"\n";
    }
  }

  static std::string headsType(const std::string &tokens, int64_t columns) {
    return "tensor<" + tokens + "x2x" + std::to_string(columns / 2) + "xf32>";
  }

  std::string writeHeads(const GraphValue &x) {
    return define("h", "mllm.linalg.view " + x.name + " : " + type(x.columns) +
                           " -> " + headsType(rows, x.columns));
  }

  /// Attention of a new layer, half of the time over its cache.
  void writeAttention(const GraphValue &x) {
    const std::string of = headsType(rows, x.columns);
    std::string all = of, queries = writeHeads(x);
    std::string keys = writeHeads(pickAlike(x.columns)), mixed = keys;
    if (pick(2)) {
      all = headsType("?", x.columns);
      const std::string both = newName("k");
      body += "  " + both + ":2 = mllm.linalg.kv_cache " + keys + ", " +
              queries + " {layer = " + std::to_string(numLayers++) +
              " : i64} : (" + of + ", " + of + ") -> (" + all + ", " + all +
              ")\n";
      keys = both + "#0";
      mixed = both + "#1";
    }
    const std::string result = define(
        "a", "mllm.linalg.flash_attention2 " + queries + ", " + keys + ", " +
                 mixed + " {causal = true, scale = 0.5 : f64} : (" + of + ", " +
                 all + ", " + all + ") -> " + of);
    add(x.columns,
        "mllm.linalg.view " + result + " : " + of + " -> " + type(x.columns));
  }

  /// Some ops in a region; returns a value with the columns of `x`. Values of
  /// the region are not visible after it.
  GraphValue writeRegion(GraphValue x) {
    const std::vector<GraphValue> outside = values;
    ++depth;
    for (uint64_t i = pick(4); i > 0; --i)
      writeOp();
    --depth;
    const GraphValue result = pick(4) ? pickNewest(x.columns) : x;
    values = outside;
    return result;
  }

  GraphValue pickNewest(int64_t columns) {
    for (size_t i = values.size(); i-- > 0;)
      if (values[i].columns == columns)
        return values[i];
    return values.front();
  }

  std::string writeNumber(const std::string &number, const std::string &of) {
    return define("n", "mllm.tensor.constant dense<" + number + "> : " + of);
  }

  /// The selected branch depends on the elements of `x`.
  void writeIf(const GraphValue &x) {
    const std::string sum =
        define("s", "mllm.linalg.reduce_sum " + x.name + " : " +
                        type(x.columns) + " -> tensor<f32>");
    const std::string zero = writeNumber("0.0", "tensor<f32>");
    const std::string condition =
        define("b", "mllm.linalg.compare less " + sum + ", " + zero +
                        " : (tensor<f32>, tensor<f32>) -> tensor<i1>");
    const std::string name = newName("i");
    body += "  " + name + " = mllm.cf.if " + condition + " : tensor<i1> -> " +
            type(x.columns) + " {\n";
    const std::string yield = " : " + type(x.columns) + "\n";
    body += "  mllm.cf.yield " + writeRegion(x).name + yield + "  } else {\n";
    body += "  mllm.cf.yield " + writeRegion(x).name + yield + "  }\n";
    values.push_back({name, x.columns});
  }

  /// Two values that may change places in each turn.
  void writeFor(const GraphValue &x) {
    const std::string count =
        writeNumber(std::to_string(pick(4)), "tensor<i64>");
    const std::string name = newName("f"), first = newName("p"),
                      second = newName("q"), turn = newName("t");
    const std::string of = type(x.columns);
    body += "  " + name + ":2 = mllm.cf.for " + count + " (" + x.name + ", " +
            pickAlike(x.columns).name + ") : (tensor<i64>, " + of + ", " + of +
            ") -> (" + of + ", " + of + ") {\n  ^bb0(" + turn +
            ": tensor<i64>, " + first + ": " + of + ", " + second + ": " + of +
            "):\n";
    const std::vector<GraphValue> outside = values;
    values.push_back({second, x.columns});
    values.push_back({first, x.columns});
    const GraphValue next = writeRegion(values.back());
    values = outside;
    body += "  mllm.cf.yield " + (pick(2) ? second : next.name) + ", " +
            (pick(2) ? first : next.name) + " : " + of + ", " + of + "\n  }\n";
    values.push_back({name + "#0", x.columns});
    values.push_back({name + "#1", x.columns});
  }

  /// Turns until a counter has reached its end.
  void writeWhile(const GraphValue &x) {
    const std::string number = "tensor<i64>", of = type(x.columns);
    const std::string zero = writeNumber("0", number);
    const std::string one = writeNumber("1", number);
    const std::string end = writeNumber(std::to_string(pick(4)), number);
    const std::string name = newName("w"), counter = newName("t"),
                      carried = newName("p");
    const std::string both = number + ", " + of;
    const std::string head = "  ^bb0(" + counter + ": " + number + ", " +
                             carried + ": " + of + "):\n";
    body += "  " + name + ":2 = mllm.cf.while (" + zero + ", " + x.name +
            ") : (" + both + ") -> (" + both + ") {\n" + head;
    const std::string more =
        define("b", "mllm.linalg.compare less " + counter + ", " + end +
                        " : (" + number + ", " + number + ") -> tensor<i1>");
    body += "  mllm.cf.yield " + more + ", " + counter + ", " + carried +
            " : tensor<i1>, " + both + "\n  } do {\n" + head;
    const std::vector<GraphValue> outside = values;
    values.push_back({carried, x.columns});
    const GraphValue next = writeRegion(values.back());
    values = outside;
    const std::string counted =
        define("n", "mllm.linalg.add " + counter + ", " + one + " : " + number);
    body += "  mllm.cf.yield " + counted + ", " + next.name + " : " + both +
            "\n  }\n";
    values.push_back({name + "#1", x.columns});
  }

  bool hasAlike(int64_t columns) const {
    return llvm::any_of(values, [&](const GraphValue &value) {
      return value.columns == columns;
    });
  }

  /// The results, which ops to come do not see.
  std::vector<GraphValue> define(const KnownGraph &callee,
                                 const std::vector<GraphValue> &operands) {
    std::string names, types;
    for (const GraphValue &operand : operands) {
      names += (names.empty() ? "" : ", ") + operand.name;
      types += (types.empty() ? "" : ", ") + type(operand.columns);
    }
    const size_t count = callee.results.size();
    const std::string call = newName("r");
    body += "  " + call + (count == 1 ? "" : ":" + std::to_string(count)) +
            " = mllm.graph.call_graph @" + callee.name + "(" + names + ") : (" +
            types + ") -> " + list(callee.results) + "\n";
    std::vector<GraphValue> results;
    for (size_t i = 0; i < count; ++i)
      results.push_back({count == 1 ? call : call + "#" + std::to_string(i),
                         callee.results[i]});
    return results;
  }

  void writeCall() {
    if (known.empty())
      return;
    const KnownGraph callee = pickFrom(known);
    std::vector<GraphValue> operands;
    for (int64_t columns : callee.arguments) {
      if (!hasAlike(columns))
        return;
      operands.push_back(pickAlike(columns));
    }
    for (const GraphValue &result : define(callee, operands))
      values.push_back(result);
  }

  /// Two subgraphs of which the second takes the result of the first.
  void writeChainParts() {
    writeSubGraph("first", pick(2));
    std::vector<int64_t> columns = known.back().results;
    if (pick(2))
      columns.push_back(pickColumns());
    writeSubGraph("second", pick(2), /*isEntry=*/false, columns);
    chain.assign(known.end() - 2, known.end());
    known.resize(known.size() - 2); // Nobody else calls them.
  }

  /// Calls the second with the result of the first, which has no other use.
  void writeChain() {
    std::vector<GraphValue> operands;
    for (int64_t columns : chain[0].arguments)
      operands.push_back(valueOf(columns));
    std::vector<GraphValue> between = define(chain[0], operands);
    if (pick(2))
      writeOp();
    for (size_t i = between.size(); i < chain[1].arguments.size(); ++i)
      between.push_back(valueOf(chain[1].arguments[i]));
    for (const GraphValue &result : define(chain[1], between))
      values.push_back(result);
  }

  /// A value with these columns; a new one if there is none.
  GraphValue valueOf(int64_t columns) {
    return hasAlike(columns) ? pickAlike(columns)
                             : addLinear(values.back(), columns);
  }

  void writeSubGraph(const std::string &name, bool isPrivate,
                     bool isEntry = false, std::vector<int64_t> columns = {}) {
    if (columns.empty())
      for (uint64_t i = 1 + pick(3); i > 0; --i)
        columns.push_back(pickColumns());
    KnownGraph graph{name, columns, {}};
    values.clear();
    body.clear();
    std::string arguments;
    for (size_t i = 0; i < columns.size(); ++i) {
      values.push_back({"%x" + std::to_string(i), columns[i]});
      arguments += (i ? ", " : "") + values.back().name + ": " +
                   type(values.back().columns);
    }
    const uint64_t numOps = 1 + pick(isEntry ? 16 : 8);
    for (uint64_t i = 0; i < numOps; ++i)
      writeOp();
    if (isEntry && !chain.empty())
      writeChain();
    // Occasionally a repeated sequence of ops.
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
  std::vector<KnownGraph> chain; ///< Two, or none.
  uint64_t numNames = 0, numLayers = 0;
  int depth = 0; ///< Of regions around the op that is written.
};

} // namespace

std::string llmir::property::generateGraph(uint64_t seed) {
  return GraphWriter(seed).write();
}
