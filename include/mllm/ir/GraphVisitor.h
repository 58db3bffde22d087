//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A traced model as a static graph, for exporters: calls are inlined, sizes are
// bound, costs are counted. Includes neither MLIR nor LLVM.
//
//   class OpCounter : public GraphVisitor {
//     Status visitOp(const GraphOp &op) override {
//       ++counts[op.kind];
//       return Status::ok();
//     }
//   };
//
// Ops come in an order in which each value is made before it is used. See
// docs/AddingAnExporter.md.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_GRAPHVISITOR_H
#define MLLM_IR_GRAPHVISITOR_H

#include "llmir/Dialect/MLLM/DimExpr.h"
#include "llmir/Support/Status.h"
#include "mllm/Types.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mllm::ir {

class IRContext;

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// A tensor that an op makes or that the model is given.
struct GraphValue {
  std::string name;           ///< "v0", "v1", … in the order of the graph.
  llmir::shapes::Shape shape; ///< Numbers where sizes were bound.
  DataTypes dtype = kFp32;
  DeviceTypes device = kCPU;
  bool isInput = false; ///< No op makes it.
};

/// A tensor that the checkpoint holds.
struct GraphParameter {
  std::string name;   ///< "model.layers.0.mlp.up_proj.weight".
  std::string source; ///< The tensor's name in the checkpoint.
  std::vector<int64_t> shape;
  std::string format;           ///< How it is stored: "bf16", "q8_0", …
  std::optional<int64_t> bytes; ///< As stored.
  /// Heads whose rows are stored for a rotation of adjacent pairs; 0 = none.
  int64_t unpermuteHeads = 0;
  /// The parameter is the rows from `firstRow` on of a stored tensor of
  /// `storedRows` rows; 0 = it is the stored tensor.
  int64_t firstRow = 0, storedRows = 0;
  bool isTransposed = false; ///< Stored as [columns, rows].

  int64_t numValues() const {
    int64_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }
};

/// The value of an attribute; std::monostate where it is of another kind.
using GraphAttribute =
    std::variant<std::monostate, bool, int64_t, double, std::string,
                 std::vector<int64_t>, std::vector<double>>;

struct GraphModule;

/// One op. `kind` is its name without the dialect's and, for ops of level
/// linalg, without the level's: "rms_norm", "tensor.constant".
struct GraphOp {
  std::string kind;
  /// The layer's: "model.layers.0.mlp.up_proj"; empty where the IR lost it.
  std::string path;
  std::vector<const GraphValue *> operands, results;
  /// By the name of the attribute that says it: "weight", "bias".
  std::map<std::string, const GraphParameter *> parameters;
  /// All other attributes, defaults filled in.
  std::map<std::string, GraphAttribute> attributes;
  /// Of a branch or loop what its regions hold, in order: the operands of each
  /// are its arguments, then what it sees from outside; the results are what it
  /// yields. Visitors do not enter them.
  std::vector<std::unique_ptr<GraphModule>> bodies;
  /// For Graph::costTokens tokens; nullopt where a size is not known then.
  std::optional<int64_t> flops, bytes;
  /// The mlir::Operation from which it was made, for who includes MLIR: see
  /// operationOf() in llmir/Export/BuildGraph.h. Of an op in a module that is
  /// called several times there is one.
  const void *origin = nullptr;

  /// The attribute, or the fallback where it is absent or of another kind.
  int64_t integer(const std::string &name, int64_t fallback = 0) const {
    return get<int64_t>(name, fallback);
  }
  double real(const std::string &name, double fallback = 0) const {
    return get<double>(name, fallback);
  }
  std::string text(const std::string &name, std::string fallback = {}) const {
    return get<std::string>(name, std::move(fallback));
  }
  std::vector<int64_t> integers(const std::string &name) const {
    return get<std::vector<int64_t>>(name, {});
  }
  std::vector<double> reals(const std::string &name) const {
    return get<std::vector<double>>(name, {});
  }
  /// A flag that is there, or a bool that is true.
  bool flag(const std::string &name) const { return get<bool>(name, false); }
  /// Null where the op has none under this name.
  const GraphParameter *parameter(const std::string &name) const {
    auto found = parameters.find(name);
    return found == parameters.end() ? nullptr : found->second;
  }

private:
  template <typename T> T get(const std::string &name, T fallback) const {
    auto found = attributes.find(name);
    if (found == attributes.end())
      return fallback;
    const T *value = std::get_if<T>(&found->second);
    return value ? *value : fallback;
  }
};

/// What a module holds: an op or a module; the other one is null.
struct GraphItem {
  std::unique_ptr<GraphOp> op;
  std::unique_ptr<GraphModule> module;
};

/// One call of a module. Its operands and results are the caller's values.
struct GraphModule {
  std::string path; ///< The subgraph's symbol: "model.layers.0.mlp".
  std::vector<const GraphValue *> operands, results;
  std::vector<GraphItem> items; ///< In order.
};

/// A model. Owns what the items point at.
struct Graph {
  std::string name; ///< The entry's symbol.
  /// "llama"; empty where the module does not say it.
  std::string architecture;
  /// Dynamic sizes without a name are this many for costs:
  /// GraphOptions::tokens, else 1.
  int64_t costTokens = 1;
  bool hasDynamicSizes = false; ///< Some shape is not all numbers.
  std::unique_ptr<GraphModule> root;
  std::deque<GraphValue> values;
  std::deque<GraphParameter> parameters; ///< Those that are used, once each.

  const std::vector<const GraphValue *> &inputs() const {
    return root->operands;
  }
  const std::vector<const GraphValue *> &outputs() const {
    return root->results;
  }
};

struct GraphOptions {
  /// For dynamic sizes of the model's inputs that have no name; 0 leaves them
  /// open.
  int64_t tokens = 0;
  /// For sizes with a name, such as {"seq", 128}; others stay open.
  std::map<std::string, int64_t> sizes;
  /// Whether the shapes behind the caches leave open how many tokens these hold
  /// before, unless `sizes` says "past": for a file that serves every step.
  /// Otherwise a new sequence begins. Costs are counted for that in any case.
  bool isPastOpen = false;
};

/// The graph of the context's model: its entry, or the one subgraph that the
/// module calls. Fails (InvalidArgument) when there is none or a size of the
/// options is less than 1, with Unsupported when a type has no name in
/// DataTypes or the inlined model has more than a million ops.
llmir::Expected<Graph> buildGraph(IRContext &context,
                                  const GraphOptions &options = {});

//===----------------------------------------------------------------------===//
// The visitor
//===----------------------------------------------------------------------===//

/// Overrides what it cares for. A failure ends the visit.
class GraphVisitor {
public:
  virtual ~GraphVisitor();

  virtual llmir::Status beginGraph(const Graph &graph);
  virtual llmir::Status enterModule(const GraphModule &module);
  virtual llmir::Status visitOp(const GraphOp &op) = 0;
  virtual llmir::Status leaveModule(const GraphModule &module);
  virtual llmir::Status endGraph(const Graph &graph);
};

/// Visits the whole graph in order.
llmir::Status visitGraph(const Graph &graph, GraphVisitor &visitor);

/// All ops in order, modules inlined.
std::vector<const GraphOp *> opsOf(const Graph &graph);

//===----------------------------------------------------------------------===//
// Targets of an export
//===----------------------------------------------------------------------===//

/// Ops that follow each other and that a target can all, or cannot, run.
struct GraphPart {
  bool supported = false;
  std::vector<const GraphOp *> ops;
  /// Values that come from outside, and those that are used outside or are the
  /// model's results; in the order of first use.
  std::vector<const GraphValue *> inputs, outputs;
};

/// An engine to which graphs are exported.
class ExportTarget {
public:
  virtual ~ExportTarget();

  virtual std::string name() const = 0;
  /// Success where the engine can run the op; else what it lacks.
  virtual llmir::Status supported(const GraphOp &op) const = 0;
  /// Called once for each part that is supported, in order.
  virtual llmir::Status emit(const Graph &graph, const GraphPart &part) = 0;
};

/// The graph cut where a target's ability begins and ends.
std::vector<GraphPart> partition(const Graph &graph,
                                 const ExportTarget &target);

/// How much of a model a target runs.
struct ExportCoverage {
  int64_t ops = 0, supportedOps = 0;
  /// Floating-point operations; ops of unknown cost are left out of both.
  int64_t flops = 0, supportedFlops = 0;
  /// Why not, with the number of ops: "rope: no such op" → 56.
  std::map<std::string, int64_t> reasons;
};

/// Emits the supported parts; the rest stays for another engine.
llmir::Expected<ExportCoverage> exportGraph(const Graph &graph,
                                            ExportTarget &target);

} // namespace mllm::ir

#endif // MLLM_IR_GRAPHVISITOR_H
