//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An ONNX graph under construction. Numbers of fields and types are those of
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
/// nullopt for types that are not exported.
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

/// A parameter whose numbers stand in the file.
struct Weight {
  const mllm::ir::GraphParameter *parameter;
  ElementType type;

  uint64_t bytes() const {
    return static_cast<uint64_t>(parameter->numValues()) *
           (type == Float ? 4 : 2);
  }
};

/// A model but for the numbers of its weights.
struct Model {
  std::string graph; ///< The fields of GraphProto except for the weights.
  std::vector<Weight> weights;
};

/// Bytes that go into a file, piece by piece.
using Sink = std::function<Status(std::string_view)>;
/// Where weights go that do not stand in the model's file.
struct ExternalData {
  std::string location; ///< The file's name in the model's folder.
  AtomicFile *file;
};
/// Writes the model, the numbers of its weights being read meanwhile. Without
/// `external`, fails with Unsupported, nothing written, from 2 GiB on.
Status writeModel(const Model &model, const ParameterReader &reader,
                  const Sink &sink, const ExternalData *external = nullptr);
/// Whether the file of the model with all its weights stays below 2 GiB.
bool fitsOneFile(const Model &model);

class Builder {
public:
  Builder(const mllm::ir::Graph &graph, const mllm::ir::GraphPart &part,
          const ONNXOptions &options);

  Expected<Model> build();

  //===--------------------------------------------------------------------===//
  // For the ops
  //===--------------------------------------------------------------------===//

  Name value(const mllm::ir::GraphValue *value) { return value->name; }
  /// A name that nothing else has.
  Name newName(const char *prefix = "t");
  /// A node with one result, which gets a new name.
  Name node(const char *type, const std::vector<Name> &inputs,
            const std::vector<Attribute> &attributes = {});
  /// A node whose results have names already.
  void node(const char *type, const std::vector<Name> &inputs,
            const std::vector<Name> &outputs,
            const std::vector<Attribute> &attributes);
  /// The value is this one.
  void define(const mllm::ir::GraphValue *value, const Name &name);

  Name ints(const Sizes &values);                         ///< [count] of i64.
  Name integer(int64_t value);                            ///< A scalar of i64.
  Name integers(const Sizes &values, const Sizes &shape); ///< Of i64.
  Name real(double value);                                ///< A scalar of f32.
  Name real64(double value);                              ///< A scalar of f64.
  /// The ends of the range of i32 or i64.
  Name least(ElementType type);
  Name greatest(ElementType type);
  Name reals(const std::vector<double> &values, const Sizes &shape);
  /// A scalar of the value's element type.
  Name number(double value, const mllm::ir::GraphValue *like);
  Name parameter(const mllm::ir::GraphParameter *parameter);

  /// A scalar of i64: the size of a dimension.
  Name sizeOf(const Name &value, int64_t dim);
  /// In another shape; -1 for a size that is left.
  Name reshape(const Name &value, const Sizes &shape);
  /// How many tokens earlier runs have seen: the length of the first cache.
  Name pastTokens();
  /// A cache's input of this shape but for so many tokens, and its output.
  Name addCacheInput(const std::string &name, const mllm::ir::GraphValue *like,
                     int64_t tokenDim, const shapes::DimExpr &tokens);
  void addCacheOutput(const std::string &name, const Name &value,
                      const mllm::ir::GraphValue *like, int64_t tokenDim,
                      const shapes::DimExpr &tokens);
  /// What is made once and used by several ops, by a key.
  std::map<std::string, Name> shared;

private:
  /// What has a name already keeps it; fails where two things have the same.
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
  std::set<Name> taken; ///< Of values, parameters and caches.
  /// Of the first cache, whose length counts the tokens.
  std::optional<std::pair<Name, int64_t>> firstCache;
  int64_t nextName = 0;
};

/// The inputs and outputs of a kv_cache: "past_key_3" and "present_key_3".
Name cacheName(const char *when, bool isValue, const mllm::ir::GraphOp &op);
/// Adds the nodes of an op; which ops there are: supported().
Status lowerOp(Builder &builder, const mllm::ir::GraphOp &op);
/// Success where lowerOp() will do.
Status canLower(const mllm::ir::GraphOp &op);

} // namespace llmir::onnx

#endif // LLMIR_LIB_EXPORT_ONNXBUILDER_H
