//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes: handles of the ops, values, attributes and regions of an IRContext.
//
// The IR itself is MLIR; there is one handle per object. When the object is
// removed, its handle remains a valid pointer but is dead: isAlive() is false,
// its kind is RK_None, isa_ is false for every class, and queries return
// nothing and report an error that names the former object.
//
// Owner: the context; handles are shared pointers, which may outlive it (they
// are dead then). Threads: one at a time per context.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_NODE_H
#define MLLM_IR_NODE_H

#include "mllm/Types.h"
#include "mllm/Utils/RTTIHelper.hpp"
#include "mllm/ir/GeneratedRTTIKind.hpp"

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mllm {
class IRPrinter;
}

namespace mllm::ir {

class IRContext;
class IRContextImpl;
class Node;
class Op;
class Val;
class Attr;
class Region;

using node_ptr_t = std::shared_ptr<Node>;
using op_ptr_t = std::shared_ptr<Op>;
using val_ptr_t = std::shared_ptr<Val>;
using attr_ptr_t = std::shared_ptr<Attr>;
using region_ptr_t = std::shared_ptr<Region>;

/// The name of an op or value with global scope: `SymbolName("model.norm")`.
struct SymbolName {
  explicit SymbolName(std::string name) : name(std::move(name)) {}
  std::string name;
};

/// The C++ value of an attribute.
class AttrValue {
public:
  using Storage =
      std::variant<std::monostate, bool, int64_t, double, std::string,
                   SymbolName, std::vector<int64_t>, std::vector<double>,
                   std::vector<std::string>, TensorType, attr_ptr_t>;

  AttrValue() = default; ///< A unit attribute.
  AttrValue(bool value) : storage(value) {}
  AttrValue(int value) : storage(static_cast<int64_t>(value)) {}
  AttrValue(int64_t value) : storage(value) {}
  AttrValue(double value) : storage(value) {}
  AttrValue(const char *text) : storage(std::string(text)) {}
  AttrValue(std::string text) : storage(std::move(text)) {}
  AttrValue(SymbolName symbol) : storage(std::move(symbol)) {}
  AttrValue(std::vector<int64_t> numbers) : storage(std::move(numbers)) {}
  AttrValue(std::vector<double> numbers) : storage(std::move(numbers)) {}
  AttrValue(std::vector<std::string> texts) : storage(std::move(texts)) {}
  AttrValue(TensorType type) : storage(std::move(type)) {}
  AttrValue(attr_ptr_t attr) : storage(std::move(attr)) {}
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Attr, T>>>
  AttrValue(const std::shared_ptr<T> &attr)
      : storage(std::static_pointer_cast<Attr>(attr)) {}

  const Storage &get() const { return storage; }

private:
  Storage storage;
};

using NamedAttributes = std::vector<std::pair<std::string, AttrValue>>;

//===----------------------------------------------------------------------===//
// Node
//===----------------------------------------------------------------------===//

class Node : public std::enable_shared_from_this<Node> {
public:
  DEFINE_SPECIFIC_IR_CLASS(Node);
  explicit Node(NodeKind kind) : kind_(kind) {}
  virtual ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  static inline bool classof(const Node *node) { RTTI_RK_NODE_IMPL(node); }

  NodeKind getKind() const { return kind_; }

  template <typename T> bool isa_() { return isa<T>(shared_from_this()); }

  template <typename T> std::shared_ptr<T> cast_() {
    return cast<T>(shared_from_this());
  }

  /// False once the object has been removed from the IR, or its context
  /// destroyed.
  bool isAlive() const { return object_ != nullptr; }
  /// Describes the node for diagnostics: "linalg.LinearOp", "%4",
  /// "graph.SubGraphOp @model". For a dead node, describes the former object.
  std::string describe() const;

  /// The operands and results of an op, the defining op and the users (each
  /// once) of a value; empty for an attribute.
  std::list<node_ptr_t> inputs() const;
  std::list<node_ptr_t> outputs() const;

  /// The adjacent ops of an op in its region, null at the ends; null for other
  /// nodes.
  op_ptr_t prevOp() const;
  op_ptr_t nextOp() const;
  /// The parent op of an op, or of the region of a value; null for the module.
  op_ptr_t belongsTo() const;

  /// Attributes of ops and values. Setting replaces an existing attribute,
  /// verifies the op, and has no effect (false) if verification fails.
  /// Attributes of values are metadata without effect on computation.
  bool setAttr(const std::string &name, const AttrValue &value = {});
  attr_ptr_t getAttr(const std::string &name) const;
  bool removeAttr(const std::string &name);
  std::vector<std::string> attrNames() const;
  size_t attrNum() const { return attrNames().size(); }

  /// Prints the node in the MLLM text format.
  void dump(IRPrinter &printer) const;
  /// Prints the attributes: "[axis:1, eps:1e-06]"; nothing if there are none.
  void dumpAttributes(IRPrinter &printer) const;

  /// The context; null if the node is dead.
  IRContext *getContext() const;

protected:
  /// Reports an error and returns true if the node is dead.
  bool refuseDead(const char *what) const;

private:
  friend class IRContextImpl;
  NodeKind kind_;
  IRContextImpl *owner_ = nullptr;
  void *object_ = nullptr; ///< MLIR object; null if the node is dead.
  std::string formerName_; ///< describe() before it died.
};

//===----------------------------------------------------------------------===//
// Region
//===----------------------------------------------------------------------===//

/// The ops of a region as a list-like view. Iterators hold handles: removing
/// the current op of an iterator ends the iteration with an error; use
/// IRWriter::walk to modify ops while iterating.
class OpList {
public:
  class iterator {
  public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = op_ptr_t;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = op_ptr_t;

    op_ptr_t operator*() const { return op_; }
    iterator &operator++();
    iterator &operator--();
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    iterator operator--(int) {
      iterator old = *this;
      --*this;
      return old;
    }
    bool operator==(const iterator &other) const { return op_ == other.op_; }
    bool operator!=(const iterator &other) const { return op_ != other.op_; }

  private:
    friend class OpList;
    iterator(const Region *region, op_ptr_t op)
        : region_(region), op_(std::move(op)) {}
    const Region *region_;
    op_ptr_t op_; ///< Null at the end.
  };
  using const_iterator = iterator;
  using reverse_iterator = std::reverse_iterator<iterator>;

  iterator begin() const;
  iterator end() const { return iterator(region_, nullptr); }
  reverse_iterator rbegin() const { return reverse_iterator(end()); }
  reverse_iterator rend() const { return reverse_iterator(begin()); }
  op_ptr_t front() const; ///< Null if empty.
  op_ptr_t back() const;  ///< Null if empty.
  size_t size() const;
  bool empty() const { return front() == nullptr; }

private:
  friend class Region;
  explicit OpList(const Region *region) : region_(region) {}
  const Region *region_;
};

/// A region: the body of a module, subgraph, branch or loop.
class Region : public std::enable_shared_from_this<Region> {
public:
  DEFINE_SPECIFIC_IR_CLASS(Region);
  Region() : ops_(this) {}
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;

  bool isAlive() const { return object_ != nullptr; }
  /// The ops, in order.
  OpList &ops() { return ops_; }
  const OpList &ops() const { return ops_; }
  /// The arguments of the region; recomputed by each call.
  const std::list<val_ptr_t> &inputs();
  /// The operands of the terminator; empty for a module. Recomputed by each
  /// call.
  const std::list<val_ptr_t> &outputs();
  /// The parent op; null if the region has been removed.
  op_ptr_t belongsTo() const;
  /// Prints "(inputs) -> (outputs){ … }".
  void dump(IRPrinter &printer) const;

private:
  friend class IRContextImpl;
  IRContextImpl *owner_ = nullptr;
  void *object_ = nullptr;
  OpList ops_;
  std::list<val_ptr_t> inputs_;
  std::list<val_ptr_t> outputs_;
};

//===----------------------------------------------------------------------===//
// Op, Val, Attr
//===----------------------------------------------------------------------===//

class Op : public Node {
public:
  DEFINE_SPECIFIC_IR_CLASS(Op);
  explicit Op(NodeKind kind) : Node(kind) {}
  static inline bool classof(const Node *node) { RTTI_RK_OP_IMPL(node); }

  /// The MLIR name, for example "mllm.linalg.linear".
  std::string name() const;
  size_t numOperands() const;
  size_t numResults() const;
  val_ptr_t operand(size_t index) const; ///< Null if out of range.
  val_ptr_t result(size_t index = 0) const;

  std::list<region_ptr_t> regions() const;
  /// The first region, or null.
  region_ptr_t getTopRegion() const;
  /// The location of the op: the path of its layer or module, or file:line;
  /// empty if unknown.
  std::string location() const;
  /// The symbol name without '@'; empty if the op is not a symbol.
  std::string symbol() const;

  /// The device: the attribute of the op, otherwise the device of its first
  /// result or operand.
  DeviceTypes getDevice() const;
};

class Val : public Node {
public:
  DEFINE_SPECIFIC_IR_CLASS(Val);
  explicit Val(NodeKind kind) : Node(kind) {}
  static inline bool classof(const Node *node) { RTTI_RK_VAL_IMPL(node); }

  /// "%input_tensor" if the value has a name (IRContext::setValueName),
  /// otherwise its number in the printed module: "%4".
  std::string name() const;
  /// The defining op; null for a region argument.
  op_ptr_t producerOp() const;
  std::list<op_ptr_t> consumerOps() const;
  /// The symbol without '@'; empty if there is none.
  std::string symbol() const;
};

class Attr : public Node {
public:
  DEFINE_SPECIFIC_IR_CLASS(Attr);
  explicit Attr(NodeKind kind) : Node(kind) {}
  static inline bool classof(const Node *node) { RTTI_RK_ATTR_IMPL(node); }
  /// The attribute in MLIR's assembly format.
  std::string text() const;
};

namespace tensor {
/// A tensor: shape, data type and device.
class TensorValue : public Val {
public:
  DEFINE_SPECIFIC_IR_CLASS(TensorValue);
  explicit TensorValue(NodeKind kind) : Val(kind) {}
  static inline bool classof(const Node *node) {
    RTTI_RK_KIND_IMPL(node, ::mllm::ir::RK_Val_TensorIRVal_TensorVal);
  }
  /// Adds an argument to the current region, i.e. an input of its subgraph.
  /// Fails for regions without arguments, such as that of a module. With a
  /// symbol, which must be unused, lookupSymbol finds the value.
  static ptr_t build(IRContext *context, const TensorType &type,
                     const std::string &symbol = {});
  static ptr_t build(IRContext *context, const std::vector<int64_t> &shape,
                     DataTypes dtype, DeviceTypes device = kCPU) {
    return build(context, TensorType{shape, dtype, device});
  }
  TensorType type() const;
  std::vector<int64_t> shape() const { return type().shape; }
  DataTypes dtype() const { return type().dtype; }
  DeviceTypes getDevice() const { return type().device; }
};
using TensorVal = TensorValue;
} // namespace tensor

//===----------------------------------------------------------------------===//
// Attributes of the builtin dialect: immutable
//===----------------------------------------------------------------------===//

// Defines a class of attributes with a C++ value. Created by `build` or by
// IRContext::create<IntAttr>(5).
#define MLLM_IR_DEFINE_ATTR(Name, Data)                                        \
  class Name : public Attr {                                                   \
  public:                                                                      \
    DEFINE_SPECIFIC_IR_CLASS(Name);                                            \
    explicit Name(NodeKind kind) : Attr(kind) {}                               \
    static inline bool classof(const Node *node) {                             \
      RTTI_RK_KIND_IMPL(node, ::mllm::ir::RK_Attr_BuiltinIRAttr_##Name);       \
    }                                                                          \
    static ptr_t build(IRContext *context, const Data &data);                  \
    Data data() const;                                                         \
  }

MLLM_IR_DEFINE_ATTR(IntAttr, int64_t);
MLLM_IR_DEFINE_ATTR(FPAttr, double);
MLLM_IR_DEFINE_ATTR(BoolAttr, bool);
MLLM_IR_DEFINE_ATTR(StrAttr, std::string);
/// A symbol's name, without '@'.
MLLM_IR_DEFINE_ATTR(SymbolAttr, std::string);
MLLM_IR_DEFINE_ATTR(VectorInt64Attr, std::vector<int64_t>);
MLLM_IR_DEFINE_ATTR(VectorFP64Attr, std::vector<double>);
MLLM_IR_DEFINE_ATTR(VectorFP32Attr, std::vector<float>);
MLLM_IR_DEFINE_ATTR(VectorInt16Attr, std::vector<int16_t>);
MLLM_IR_DEFINE_ATTR(TypeAttr, TensorType);
#undef MLLM_IR_DEFINE_ATTR

} // namespace mllm::ir

#endif // MLLM_IR_NODE_H
