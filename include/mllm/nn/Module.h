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
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_MODULE_H
#define MLLM_NN_MODULE_H

#include "mllm/Tensor.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mllm::nn {

/// What has a name in the tree. Copies are handles of one place in it.
class Component {
public:
  /// Empty for the root.
  std::string path() const { return pathOf(*node); }

protected:
  Component() : node(std::make_shared<Node>()) {}
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
  };
  static std::string pathOf(const Node &node);

  std::shared_ptr<Node> node;
};

/// How checkpoints store a parameter, where it is not simply as it is used.
struct Storage {
  /// When the rows are the heads that a rotary embedding rotates, their number:
  /// checkpoints for a rotation of adjacent pairs store such rows in another
  /// order.
  int64_t rotatedHeads = 0;
  /// Rows of a tensor that several layers share: the first of them, and how
  /// many that tensor has; 0 where it is not shared. It is named like the layer
  /// without the last part: "attn.c_attn.weight" for "attn.c_attn.q".
  int64_t firstRow = 0, sharedRows = 0;
  /// Hugging Face has the matrix as [in, out] (Conv1D of GPT-2).
  bool isConv1D = false;
};

/// A tensor that a layer owns. Copies are handles of one parameter, so that two
/// layers can share it.
class Parameter {
public:
  /// The parameter `name` of `owner`, with sizes [rows, columns] or [columns].
  Parameter(const Component &owner, std::string name,
            std::vector<int64_t> shape, const Storage &storage = {})
      : owner(owner.node), name(std::move(name)), sizes(std::move(shape)),
        stored(storage) {}

  /// "model.layers.3.mlp.up_proj.weight".
  std::string path() const;
  /// That of the tensor of which it is a part, or its own.
  std::string storedPath() const;
  const std::vector<int64_t> &shape() const { return sizes; }
  const Storage &storage() const { return stored; }

private:
  std::shared_ptr<Component::Node> owner;
  std::string name;
  std::vector<int64_t> sizes;
  Storage stored;
};

/// A part of a model that becomes a subgraph of its own. A subclass registers
/// its children in its constructor and computes in forward().
class Module : public Component {
public:
  virtual ~Module() = default;

  /// What the module computes; called while tracing.
  virtual Tensor forward(const Tensor &x) = 0;

  /// Calls the module: forward() is traced into the module's subgraph when it
  /// is first called, and the call is added to the caller's.
  Tensor operator()(const Tensor &x);

protected:
  Module() = default;
  Module(const Module &) = default;
  Module(Module &&) = default;

  /// Makes the child `name`, a module or a layer.
  template <typename T, typename... Args>
  T reg(std::string name, Args &&...args) {
    T child(std::forward<Args>(args)...);
    adopt(child, std::move(name));
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
  void adopt(Component &child, std::string name);
};

/// A leaf of the tree: becomes one op of its module's subgraph.
class Layer : public Component {};

} // namespace mllm::nn

#endif // MLLM_NN_MODULE_H
