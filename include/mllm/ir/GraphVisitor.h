//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A traced model as a static graph, for exporters: calls are inlined, sizes are
// bound, costs are computed. Does not include MLIR or LLVM.
//
//   class OpCounter : public GraphVisitor {
//     Status visitOp(const GraphOp &op) override {
//       ++counts[op.kind];
//       return Status::ok();
//     }
//   };
//
// Ops are in an order in which each value is defined before it is used. See
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

/// A result of an op or an input of the model.
struct GraphValue {
  std::string name;           ///< "v0", "v1", … in graph order.
  llmir::shapes::Shape shape; ///< Bound sizes are integers.
  DataTypes dtype = kFp32;
  DeviceTypes device = kCPU;
  bool isInput = false; ///< Not defined by an op.
};

/// A tensor of the checkpoint.
struct GraphParameter {
  std::string name;   ///< "model.layers.0.mlp.up_proj.weight".
  std::string source; ///< Name of the tensor in the checkpoint.
  std::vector<int64_t> shape;
  std::string format;           ///< Storage format: "bf16", "q8_0", …
  std::optional<int64_t> bytes; ///< Storage size.
  /// Number of heads whose rows are stored for the rotation of adjacent pairs;
  /// 0: none.
  int64_t unpermuteHeads = 0;
  /// The parameter consists of the rows from `firstRow` on of a stored tensor
  /// with `storedRows` rows; 0: it is the stored tensor.
  int64_t firstRow = 0, storedRows = 0;
  /// The rows are `groupRows` of every `groupStride`; 0: they are consecutive.
  int64_t groupRows = 0, groupStride = 0;
  bool isTransposed = false; ///< Stored as [columns, rows].
  /// Of a transposed stack: the slice is that of the columns, the rows of the
  /// stored matrices.
  bool slicesColumns = false;

  int64_t numValues() const {
    int64_t product = 1;
    for (int64_t size : shape)
      product *= size;
    return product;
  }
};

/// The value of an attribute; std::monostate for other kinds.
using GraphAttribute =
    std::variant<std::monostate, bool, int64_t, double, std::string,
                 std::vector<int64_t>, std::vector<double>>;

struct GraphModule;

/// One op. `kind` is its name without the dialect prefix and, for the linalg
/// level, without the level: "rms_norm", "tensor.constant".
struct GraphOp {
  std::string kind;
  /// The path of the layer, "model.layers.0.mlp.up_proj"; empty if the IR does
  /// not have it.
  std::string path;
  std::vector<const GraphValue *> operands, results;
  /// Parameters by attribute name: "weight", "bias".
  std::map<std::string, const GraphParameter *> parameters;
  /// All other attributes, including defaults.
  std::map<std::string, GraphAttribute> attributes;
  /// The regions of a branch or loop, in order: the operands of each are its
  /// arguments, then its captured values; the results are the yielded values.
  /// Visitors do not enter them.
  std::vector<std::unique_ptr<GraphModule>> bodies;
  /// Costs for Graph::costTokens tokens; nullopt if a size is still unknown.
  std::optional<int64_t> flops, bytes;
  /// The mlir::Operation of the op, for clients that include MLIR: see
  /// operationOf() in llmir/Export/BuildGraph.h. All calls of a module share
  /// its operations.
  const void *origin = nullptr;

  /// The attribute, or the fallback if it is absent or of a different kind.
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
  /// True if a unit attribute is present or a bool attribute is true.
  bool flag(const std::string &name) const { return get<bool>(name, false); }
  /// The parameter with this name, or null.
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

/// An item of a module: an op or a module; the other one is null.
struct GraphItem {
  std::unique_ptr<GraphOp> op;
  std::unique_ptr<GraphModule> module;
};

/// A call of a module. Its operands and results are values of the caller.
struct GraphModule {
  std::string path; ///< The subgraph's symbol: "model.layers.0.mlp".
  std::vector<const GraphValue *> operands, results;
  std::vector<GraphItem> items; ///< In order.
};

/// A model. Owns the objects that the items point to.
struct Graph {
  std::string name; ///< Symbol of the entry.
  /// "llama"; empty if the module does not state it.
  std::string architecture;
  /// The value of unnamed dynamic sizes for costs: GraphOptions::tokens,
  /// otherwise 1.
  int64_t costTokens = 1;
  bool hasDynamicSizes = false; ///< Whether some shape is not static.
  std::unique_ptr<GraphModule> root;
  std::deque<GraphValue> values;
  std::deque<GraphParameter> parameters; ///< Used parameters, once each.

  const std::vector<const GraphValue *> &inputs() const {
    return root->operands;
  }
  const std::vector<const GraphValue *> &outputs() const {
    return root->results;
  }
};

struct GraphOptions {
  /// The value of unnamed dynamic sizes of model inputs; 0 leaves them dynamic.
  int64_t tokens = 0;
  /// Values of named sizes, such as {"seq", 128}; others stay dynamic.
  std::map<std::string, int64_t> sizes;
  /// Whether the number of tokens already in the caches stays dynamic, unless
  /// `sizes` has "past": for a file that serves every step. Otherwise, the
  /// graph starts a new sequence. Costs always assume a new sequence.
  bool isPastOpen = false;
};

/// Builds the graph of the context's model: its entry, or the only subgraph
/// called at module level. Fails with InvalidArgument if there is none or a
/// size of the options is less than 1, and with Unsupported if a type is not
/// one of DataTypes or the inlined model has more than a million ops.
llmir::Expected<Graph> buildGraph(IRContext &context,
                                  const GraphOptions &options = {});

//===----------------------------------------------------------------------===//
// The visitor
//===----------------------------------------------------------------------===//

/// Subclasses override the methods they need. A failure ends the visit.
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
// Export targets
//===----------------------------------------------------------------------===//

/// Consecutive ops that a target either all supports or all does not support.
struct GraphPart {
  bool supported = false;
  std::vector<const GraphOp *> ops;
  /// Values defined outside, and values used outside or returned by the model,
  /// in order of first use.
  std::vector<const GraphValue *> inputs, outputs;
};

/// An engine that graphs are exported to.
class ExportTarget {
public:
  virtual ~ExportTarget();

  virtual std::string name() const = 0;
  /// Success if the engine supports the op; otherwise the reason.
  virtual llmir::Status supported(const GraphOp &op) const = 0;
  /// Called once per supported part, in order.
  virtual llmir::Status emit(const Graph &graph, const GraphPart &part) = 0;
};

/// Partitions the graph into supported and unsupported parts.
std::vector<GraphPart> partition(const Graph &graph,
                                 const ExportTarget &target);

/// Statistics on the supported part of a model.
struct ExportCoverage {
  int64_t ops = 0, supportedOps = 0;
  /// Floating-point operations; ops of unknown cost are not counted.
  int64_t flops = 0, supportedFlops = 0;
  /// Reasons for unsupported ops, with the number of ops: "rope: no such op" →
  /// 56.
  std::map<std::string, int64_t> reasons;
};

/// Emits the supported parts; the rest is left to another engine.
llmir::Expected<ExportCoverage> exportGraph(const Graph &graph,
                                            ExportTarget &target);

} // namespace mllm::ir

#endif // MLLM_IR_GRAPHVISITOR_H
