//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules: the named tree in which a model is written.
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
// A module or layer gets its name when its parent registers it; its path is its
// parents' names and its own, joined by dots: "model.layers.3.mlp.up_proj".
// Called in a trace, a module becomes a subgraph; called outside one, it
// computes at once, with the parameters that load() gave its root.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_MODULE_H
#define MLLM_NN_MODULE_H

#include "mllm/Parameters.h"
#include "mllm/Tensor.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mllm::nn {

/// What has a name in the tree. Copies are handles of one place in it.
class Component {
public:
  /// The module's own name, empty unless given, for the root.
  std::string path() const { return pathOf(*node); }

  /// What the root of a tree holds for all of it.
  struct Root {
    std::shared_ptr<mllm::detail::ParametersImpl> parameters;
    llmir::Status loaded; ///< Why loading failed.
    llmir::Status made;   ///< Why there is no such model.
    /// The caches of an eager conversation, made when they are first used.
    std::shared_ptr<void> conversation;
    int64_t depth = 0; ///< Of calls, outside a trace.
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
    size_t results = 1;           ///< Of a module's last call.
    Root root;                    ///< Used at the root only.
  };
  static std::string pathOf(const Node &node);

  std::shared_ptr<Node> node;
};

/// How a parameter lies in checkpoints, where that is not as the model has it.
struct Storage {
  /// When its rows are the heads that a rotary embedding rotates, their number:
  /// checkpoints for a rotation of adjacent pairs store such rows in another
  /// order.
  int64_t rotatedHeads = 0;
  /// A matrix of Hugging Face's Conv1D: stored as [in, out].
  bool isConv1D = false;
  /// The parameter's rows are those from `firstRow` on of a stored tensor of
  /// `sharedRows` rows, which has the name of the owner's parent; 0 where the
  /// tensor is not shared.
  int64_t firstRow = 0;
  int64_t sharedRows = 0;
};

/// A tensor that a layer owns. Copies are handles of one parameter, so that two
/// layers can share it.
class Parameter {
public:
  /// The parameter `name` of `owner`, with sizes [rows, columns] or [columns].
  Parameter(const Component &owner, std::string name,
            std::vector<int64_t> shape, Storage storage = {})
      : owner(owner.node), name(std::move(name)), sizes(std::move(shape)),
        stored(storage) {}

  /// "model.layers.3.mlp.up_proj.weight".
  std::string path() const;
  /// The path in checkpoints: of what shares a tensor, the tensor's.
  std::string storedPath() const;
  const std::vector<int64_t> &shape() const { return sizes; }
  const Storage &storage() const { return stored; }
  /// Of the tree that the owner stands in.
  Component::Root &root() const;

private:
  std::shared_ptr<Component::Node> owner;
  std::string name;
  std::vector<int64_t> sizes;
  Storage stored;
};

/// A part of a model that becomes a subgraph of its own. A subclass registers
/// its children in its constructor and computes in forward(), or, with several
/// inputs or results, in forwardAll().
class Module : public Component {
public:
  virtual ~Module() = default;

  /// What a module of one input and one result computes.
  virtual Tensor forward(const Tensor &x);
  /// What any module computes.
  virtual std::vector<Tensor> forwardAll(const std::vector<Tensor> &inputs);

  /// Calls the module. In a trace forwardAll() is traced into a subgraph, and
  /// the call is added to the caller's; a trace that is that of an earlier call
  /// is taken from there. After a failure there are as many null tensors as the
  /// last call of the module gave, or one.
  std::vector<Tensor> call(const std::vector<Tensor> &inputs);
  Tensor operator()(const Tensor &x);
  template <typename... Rest>
  std::vector<Tensor> operator()(const Tensor &first, const Tensor &second,
                                 const Rest &...rest) {
    return call({first, second, rest...});
  }

  /// Gives the whole tree its parameters; they are read when they are used.
  /// False, and tracing says why, when there are none.
  bool load(const Parameters &parameters);
  /// Forgets what the caches of eager calls hold.
  void reset();

protected:
  /// `name`: of the root of a model, "model".
  explicit Module(std::string name = {}) : Component(std::move(name)) {}
  /// Of a model that nobody can make, because of its config: neither traces nor
  /// calls of its tree compute anything, and both say why.
  void refuse(llmir::Status why) { root().made = std::move(why); }

  Module(const Module &) = default;
  Module(Module &&) = default;

  /// Makes the child `name`, a module or a layer.
  template <typename T, typename... Args>
  T reg(std::string name, Args &&...args) {
    T child(std::forward<Args>(args)...);
    adopt(child, std::move(name));
    return child;
  }
  /// Makes a child whose path is `path` alone, as checkpoints name a
  /// projection that lies beside the model ("lm_head").
  template <typename T, typename... Args>
  T regAbsolute(std::string path, Args &&...args) {
    T child = reg<T>(std::move(path), std::forward<Args>(args)...);
    makeAbsolute(child);
    return child;
  }

  /// Makes the children "name.0", "name.1", …: `make(i)` gives the i-th.
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

/// A leaf of the tree: becomes one op of its module's subgraph.
class Layer : public Component {};

} // namespace mllm::nn

#endif // MLLM_NN_MODULE_H
