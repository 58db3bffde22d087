//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Modules: a model is a tree of named modules.
//
//   class LlamaMLP : public nn::Module {
//   public:
//     explicit LlamaMLP(const DecoderConfig &config)
//         : gateProj(reg<nn::Linear>("gate_proj", …)), … {}
//     Tensor forward(const Tensor &x) override {
//       Tensor gate = silu(gateProj(x));
//       Tensor up = upProj(x);
//       return downProj(gate * up);
//     }
//   };
//
// A module or layer is named when its parent registers it; its path consists of
// the names of its ancestors and its own, joined by dots:
// "model.layers.3.mlp.up_proj". Called in a trace, a module becomes a subgraph;
// called outside one, it computes eagerly with the parameters of load().
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_MODULE_H
#define MLLM_NN_MODULE_H

#include "mllm/Parameters.h"
#include "mllm/Tensor.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mllm::nn {

/// A named node of the tree. Copies are handles of the same node.
class Component {
public:
  /// The path; for the root, its own name, which may be empty.
  std::string path() const { return pathOf(*node); }

  /// State of the whole tree, held by the root.
  struct Root {
    std::shared_ptr<mllm::detail::ParametersImpl> parameters;
    llmir::Status loaded; ///< Result of loading.
    llmir::Status made;   ///< Result of construction.
    /// The caches of an eager conversation, created on first use.
    std::shared_ptr<void> conversation;
    int64_t depth = 0; ///< Depth of eager calls.
  };
  Root &root() const;

protected:
  explicit Component(std::string name = {}) : node(std::make_shared<Node>()) {
    node->name = std::move(name);
  }
  ~Component() = default;
  Component(const Component &) = default;
  Component(Component &&) = default;
  Component &operator=(const Component &) = default;
  Component &operator=(Component &&) = default;

private:
  friend class Module;
  friend class Parameter;

  struct Node {
    std::string name;
    std::shared_ptr<Node> parent; ///< Null for the root.
    bool isAbsolute = false;      ///< The name is the whole path.
    size_t results = 1;           ///< Number of results of the last call.
    Root root;                    ///< Used by the root only.
  };
  static std::string pathOf(const Node &node);

  std::shared_ptr<Node> node;
};

/// The rows of a parameter in a stored tensor that others share, which is named
/// after the owner's parent.
struct StoredPlace {
  int64_t first = 0;
  int64_t rows = 0; ///< Of the stored tensor; 0 if it is not shared.
  /// `groupRows` consecutive rows of every `groupStride`; 0: consecutive rows.
  int64_t groupRows = 0, groupStride = 0;
  /// Of a stack that is stored transposed: the place is that of the columns,
  /// the rows of the stored matrices.
  bool isOfColumns = false;
};

/// Storage of a parameter in checkpoints, if it differs from the model.
struct Storage {
  /// Number of heads if the rows are heads with rotary embedding: checkpoints
  /// for the rotation of adjacent pairs store such rows in a different order.
  int64_t rotatedHeads = 0;
  /// Folders: a matrix, or each one of a stack, is stored as [in, out], such as
  /// those of Hugging Face's Conv1D; stacks in blocks (MXFP4) are not.
  bool isTransposed = false;
  /// The factors of a convolution of each channel, [taps, channels], stored as
  /// [channels, taps] or [channels, 1, taps].
  bool isConvolution = false;
  StoredPlace place = {};
  /// The place in GGUF files, if it differs.
  std::optional<StoredPlace> placeInGGUF = {};
  /// Folders: each matrix of a stack [count, rows, columns] is a tensor of its
  /// own, whose number is the parent of the owner's name: "experts.3.up_proj".
  bool isNumbered = false;

  const StoredPlace &placeIn(bool isGGUF) const {
    return isGGUF && placeInGGUF ? *placeInGGUF : place;
  }
};

/// A tensor owned by a layer. Copies are handles of the same parameter, so that
/// layers can share it.
class Parameter {
public:
  /// The parameter `name` of `owner` (if empty, with the name of the owner), of
  /// shape [rows, columns], [columns] or
  /// [matrices, rows, columns].
  Parameter(const Component &owner, std::string name,
            std::vector<int64_t> shape, Storage storage = {})
      : owner(owner.node), name(std::move(name)), sizes(std::move(shape)),
        stored(storage) {}

  /// "model.layers.3.mlp.up_proj.weight".
  std::string path() const;
  /// The path in checkpoints; for a shared tensor, that of the tensor. In the
  /// place of the number of a matrix, there is a `*` (see matrixSource).
  std::string storedPath(bool isGGUF = false) const;
  const std::vector<int64_t> &shape() const { return sizes; }
  const Storage &storage() const { return stored; }
  /// The root of the owner's tree.
  Component::Root &root() const;

private:
  std::shared_ptr<Component::Node> owner;
  std::string name;
  std::vector<int64_t> sizes;
  Storage stored;
};

/// A part of a model that becomes a subgraph. Subclasses register their
/// children in the constructor and implement forward(), or forwardAll() for
/// several inputs or results.
class Module : public Component {
public:
  virtual ~Module() = default;

  /// The computation of a module with one input and one result.
  virtual Tensor forward(const Tensor &x);
  /// The computation of any module.
  virtual std::vector<Tensor> forwardAll(const std::vector<Tensor> &inputs);

  /// Calls the module. In a trace, forwardAll() is traced into a subgraph, or
  /// the subgraph of an identical earlier call is reused, and a call is added
  /// to the caller's subgraph. After a failure, returns as many null tensors as
  /// the last call had results, or one.
  std::vector<Tensor> call(const std::vector<Tensor> &inputs);
  Tensor operator()(const Tensor &x);
  template <typename... Rest>
  std::vector<Tensor> operator()(const Tensor &first, const Tensor &second,
                                 const Rest &...rest) {
    return call({first, second, rest...});
  }

  /// Sets the parameters of the whole tree, which are read on first use.
  /// Returns false, and tracing reports the reason, if there are none.
  bool load(const Parameters &parameters);
  /// Clears the caches of eager calls.
  void reset();

protected:
  /// `name`: of the root of a model, "model".
  explicit Module(std::string name = {}) : Component(std::move(name)) {}
  /// Marks the model as invalid because of its config: traces and calls fail
  /// with this status.
  void refuse(llmir::Status why) { root().made = std::move(why); }

  Module(const Module &) = default;
  Module(Module &&) = default;

  /// Creates the child `name`, a module or a layer.
  template <typename T, typename... Args>
  T reg(std::string name, Args &&...args) {
    T child(std::forward<Args>(args)...);
    adopt(child, std::move(name));
    return child;
  }
  /// Creates a child whose whole path is `path`, such as a projection outside
  /// the model ("lm_head").
  template <typename T, typename... Args>
  T regAbsolute(std::string path, Args &&...args) {
    T child = reg<T>(std::move(path), std::forward<Args>(args)...);
    makeAbsolute(child);
    return child;
  }

  /// Creates the children "name.0", "name.1", …; `make(i)` returns child i.
  template <typename T, typename Make>
  std::vector<T> regList(const std::string &name, int64_t count, Make make) {
    std::vector<T> children;
    children.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      children.push_back(make(i));
      adopt(children.back(), name + "." + std::to_string(i));
    }
    return children;
  }

private:
  std::vector<Tensor> callWith(const std::vector<Tensor> &inputs);
  void adopt(Component &child, std::string name);
  static void makeAbsolute(Component &child);
};

/// A leaf of the tree, which becomes one op of its module's subgraph.
class Layer : public Component {};

} // namespace mllm::nn

#endif // MLLM_NN_MODULE_H
