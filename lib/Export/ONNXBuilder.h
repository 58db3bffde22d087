//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ONNX graph under construction. Field and type numbers are those of
// onnx.proto (https://github.com/onnx/onnx, IR version 8).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_ONNXBUILDER_H
#define LLMIR_LIB_EXPORT_ONNXBUILDER_H

#include "Protobuf.h"

#include "llmir/Export/ONNX.h"
#include "llmir/Support/FileWriter.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace llmir::onnx {

/// TensorProto.DataType.
enum ElementType : int64_t {
  Float = 1,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  BFloat16 = 16,
};
/// Returns nullopt for unsupported types.
std::optional<ElementType> elementTypeOf(mllm::DataTypes type);

/// An attribute of a node: an integer, a float, a word, or integers.
struct Attribute {
  Attribute(std::string name, int64_t value);
  Attribute(std::string name, double value);
  Attribute(std::string name, const char *word);
  Attribute(std::string name, const std::vector<int64_t> &values);
  protobuf::Message message;
};

/// A name in the file.
using Name = std::string;
using Sizes = std::vector<int64_t>;

/// A parameter stored in the file.
struct Weight {
  const mllm::ir::GraphParameter *parameter;
  ElementType type;

  uint64_t bytes() const {
    return static_cast<uint64_t>(parameter->numValues()) *
           (type == Float ? 4 : 2);
  }
};

/// A model without weight data.
struct Model {
  std::string graph; ///< The fields of GraphProto except for the weights.
  std::vector<Weight> weights;
};

/// Receives the bytes of a file in chunks.
using Sink = std::function<Status(std::string_view)>;
/// The separate file of weights.
struct ExternalData {
  std::string location; ///< Name of the file in the model's directory.
  AtomicFile *file;
};
/// Writes the model, reading weights on the fly. Without `external`, fails with
/// Unsupported before writing if the size reaches 2 GiB.
Status writeModel(const Model &model, const ParameterReader &reader,
                  const Sink &sink, const ExternalData *external = nullptr);
/// Whether the model with all weights is smaller than 2 GiB.
bool fitsOneFile(const Model &model);

class Builder {
public:
  Builder(const mllm::ir::Graph &graph, const mllm::ir::GraphPart &part,
          const ONNXOptions &options);

  Expected<Model> build();

  //===--------------------------------------------------------------------===//
  // Interface of op lowerings
  //===--------------------------------------------------------------------===//

  Name value(const mllm::ir::GraphValue *value) { return value->name; }
  /// Returns a unique name.
  Name newName(const char *prefix = "t");
  /// Adds a node with one result with a new name.
  Name node(const char *type, const std::vector<Name> &inputs,
            const std::vector<Attribute> &attributes = {});
  /// Adds a node with named results.
  void node(const char *type, const std::vector<Name> &inputs,
            const std::vector<Name> &outputs,
            const std::vector<Attribute> &attributes);
  /// Binds a value to a name.
  void define(const mllm::ir::GraphValue *value, const Name &name);

  Name ints(const Sizes &values);                         ///< [count] of i64.
  Name integer(int64_t value);                            ///< An i64 scalar.
  Name integers(const Sizes &values, const Sizes &shape); ///< An i64 tensor.
  Name real(double value);                                ///< An f32 scalar.
  Name real64(double value);                              ///< An f64 scalar.
  /// The limits of i32 or i64.
  Name least(ElementType type);
  Name greatest(ElementType type);
  Name reals(const std::vector<double> &values, const Sizes &shape);
  /// A scalar of the element type of `like`.
  Name number(double value, const mllm::ir::GraphValue *like);
  Name parameter(const mllm::ir::GraphParameter *parameter);

  /// The size of a dimension as an i64 scalar.
  Name sizeOf(const Name &value, int64_t dim);
  /// Reshapes a value; -1 for an inferred size.
  Name reshape(const Name &value, const Sizes &shape);
  /// The number of past tokens: the length of the first cache.
  Name pastTokens();
  /// Adds the input of a cache, with the given number of tokens, and its
  /// output.
  Name addCacheInput(const std::string &name, const mllm::ir::GraphValue *like,
                     int64_t tokenDim, const shapes::DimExpr &tokens);
  void addCacheOutput(const std::string &name, const Name &value,
                      const mllm::ir::GraphValue *like, int64_t tokenDim,
                      const shapes::DimExpr &tokens);
  /// Nodes shared by several ops, by key.
  std::map<std::string, Name> shared;

private:
  /// Reserves existing names; fails on duplicates.
  Status takeNames();
  void addValueInfo(int field, const Name &name,
                    const mllm::ir::GraphValue &value);
  Name initializer(int64_t type, const Sizes &shape, const std::string &bytes);

  const mllm::ir::Graph &graph;
  const mllm::ir::GraphPart &part;
  const ONNXOptions &options;
  protobuf::Message nodes, infos, initializers;
  std::vector<Weight> weights;
  std::map<const mllm::ir::GraphParameter *, Name> parameters;
  std::map<std::string, Name> constants;
  std::set<Name> taken; ///< Names of values, parameters and caches.
  /// The first cache, whose length is the number of tokens.
  std::optional<std::pair<Name, int64_t>> firstCache;
  int64_t nextName = 0;
};

/// The inputs and outputs of a kv_cache: "past_key_3" and "present_key_3".
Name cacheName(const char *when, bool isValue, const mllm::ir::GraphOp &op);
/// Adds the nodes of an op that canLower() accepts.
Status lowerOp(Builder &builder, const mllm::ir::GraphOp &op);
/// Success if lowerOp() supports the op.
Status canLower(const mllm::ir::GraphOp &op);

} // namespace llmir::onnx

#endif // LLMIR_LIB_EXPORT_ONNXBUILDER_H
