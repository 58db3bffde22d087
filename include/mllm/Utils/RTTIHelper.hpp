//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kinds of nodes: `isa<T>(node)`, `cast<T>(node)`, and the macros with which a
// class of nodes says what it is.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_UTILS_RTTIHELPER_HPP
#define MLLM_UTILS_RTTIHELPER_HPP

#include "mllm/Utils/Common.hpp"

#include <memory>

/// The names of a class's handle: `self_ptr_t` in MLLM's documentation,
/// `ptr_t` in the present mllm.
#define DEFINE_SPECIFIC_IR_CLASS(_Type)                                        \
  using self_ptr_t = std::shared_ptr<_Type>;                                   \
  using ptr_t = std::shared_ptr<_Type>

// Bodies of `classof(const Node *node)`. Kinds nest: those of all ops stand
// between RK_Op and RK_Op_Last.
#define RTTI_RK_NODE_IMPL(node) return (node)->getKind() != ::mllm::ir::RK_None
#define RTTI_RK_OP_IMPL(node)                                                  \
  return (node)->getKind() >= ::mllm::ir::RK_Op &&                             \
         (node)->getKind() <= ::mllm::ir::RK_Op_Last
#define RTTI_RK_VAL_IMPL(node)                                                 \
  return (node)->getKind() >= ::mllm::ir::RK_Val &&                            \
         (node)->getKind() <= ::mllm::ir::RK_Val_Last
#define RTTI_RK_ATTR_IMPL(node)                                                \
  return (node)->getKind() >= ::mllm::ir::RK_Attr &&                           \
         (node)->getKind() <= ::mllm::ir::RK_Attr_Last
/// One kind alone.
#define RTTI_RK_KIND_IMPL(node, kind) return (node)->getKind() == (kind)
/// A group of kinds, from `kind` to `kind##_Last`.
#define RTTI_RK_GROUP_IMPL(node, kind)                                         \
  return (node)->getKind() >= ::mllm::ir::kind &&                              \
         (node)->getKind() <= ::mllm::ir::kind##_Last

namespace mllm {

/// True when the node is a T. False for null, and for a node that is gone.
template <typename T, typename From>
bool isa(const std::shared_ptr<From> &node) {
  return node && T::classof(node.get());
}

/// The node as a T. Null for null; reports an error and gives null when the
/// node is something else.
template <typename T, typename From>
std::shared_ptr<T> cast(const std::shared_ptr<From> &node) {
  if (!node)
    return nullptr;
  if (!T::classof(node.get())) {
    reportError(node->describe() +
                " is not what it is cast to; ask isa_ first");
    return nullptr;
  }
  return std::static_pointer_cast<T>(node);
}

} // namespace mllm

#endif // MLLM_UTILS_RTTIHELPER_HPP
