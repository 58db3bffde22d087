//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RTTI of nodes: `isa<T>(node)`, `cast<T>(node)`, and macros for node classes.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_UTILS_RTTIHELPER_HPP
#define MLLM_UTILS_RTTIHELPER_HPP

#include "mllm/Utils/Common.hpp"

#include <memory>

/// The names of a class's handle: `self_ptr_t` in the original API, `ptr_t` in
/// current mllm.
#define DEFINE_SPECIFIC_IR_CLASS(_Type)                                        \
  using self_ptr_t = std::shared_ptr<_Type>;                                   \
  using ptr_t = std::shared_ptr<_Type>

// Bodies of `classof(const Node *node)`. Kinds nest: those of all ops are
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
/// A single kind.
#define RTTI_RK_KIND_IMPL(node, kind) return (node)->getKind() == (kind)
/// A group of kinds, from `kind` to `kind##_Last`.
#define RTTI_RK_GROUP_IMPL(node, kind)                                         \
  return (node)->getKind() >= ::mllm::ir::kind &&                              \
         (node)->getKind() <= ::mllm::ir::kind##_Last

namespace mllm {

/// True if the node is a T. False for null and for dead nodes.
template <typename T, typename From>
bool isa(const std::shared_ptr<From> &node) {
  return node && T::classof(node.get());
}

/// Casts the node to a T. Returns null for null; reports an error and returns
/// null if the node is not a T.
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
