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

#include <map>
#include <set>
#include <string>
#include <vector>

namespace llmir::onnx {

/// TensorProto.DataType.
enum ElementType : int64_t { Float = 1, Int32 = 6, Int64 = 7, Bool = 9 };
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

class Builder {
public:
  Builder(const mllm::ir::Graph &graph, const mllm::ir::GraphPart &part,
          const ONNXOptions &options);

  /// The file's bytes.
  Expected<std::string> build();

  //===--------------------------------------------------------------------===//
  // For the ops
  //===--------------------------------------------------------------------===//

  Name value(const mllm::ir::GraphValue *value) { return value->name; }
  /// A node with one result, which gets a new name.
  Name node(const char *type, const std::vector<Name> &inputs,
            const std::vector<Attribute> &attributes = {});
  /// A node whose results have names already.
  void node(const char *type, const std::vector<Name> &inputs,
            const std::vector<Name> &outputs,
            const std::vector<Attribute> &attributes);
  /// The value is this one.
  void define(const mllm::ir::GraphValue *value, const Name &name);

  Name ints(const Sizes &values); ///< [count] of i64.
  Name integer(int64_t value);    ///< A scalar of i64.
  Name real(double value);        ///< A scalar of f32.
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
  /// A cache's input of this shape, whose tokens are open, and its output.
  Name addCacheInput(const std::string &name, const mllm::ir::GraphValue *like,
                     int64_t tokenDim);
  void addCacheOutput(const std::string &name, const Name &value,
                      const mllm::ir::GraphValue *like, int64_t tokenDim);
  /// What is made once and used by several ops, by a key.
  std::map<std::string, Name> shared;

private:
  void addValueInfo(int field, const Name &name,
                    const mllm::ir::GraphValue &value,
                    std::optional<int64_t> openDim,
                    const std::string &openName);
  Name initializer(int64_t type, const Sizes &shape, const std::string &bytes,
                   Name name = {});

  const mllm::ir::Graph &graph;
  const mllm::ir::GraphPart &part;
  const ONNXOptions &options;
  protobuf::Message nodes, infos, initializers;
  std::map<const mllm::ir::GraphParameter *, Name> parameters;
  std::map<std::string, Name> constants;
  /// Of the first cache, whose length counts the tokens.
  std::optional<std::pair<Name, int64_t>> firstCache;
  int64_t nextName = 0;
  Status failure;
};

/// Adds the nodes of an op; which ops there are: supported().
Status lowerOp(Builder &builder, const mllm::ir::GraphOp &op);
/// Success where lowerOp() will do.
Status canLower(const mllm::ir::GraphOp &op);

} // namespace llmir::onnx

#endif // LLMIR_LIB_EXPORT_ONNXBUILDER_H
