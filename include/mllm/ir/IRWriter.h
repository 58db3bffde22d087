//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// IRWriter: walks and modifies a region.
//
// All functions keep handles valid: handles of removed objects become dead,
// handles of moved objects stay alive. A failing call has no side effects,
// returns null or false, and sets the context's status.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_IRWRITER_H
#define MLLM_IR_IRWRITER_H

#include "mllm/ir/IRContext.h"

#include <functional>

namespace mllm::ir {

class IRWriter {
public:
  DEFINE_SPECIFIC_IR_CLASS(IRWriter);

  enum WalkResult { WALK_CONTINUE, WALK_BREAK };
  enum Position { AFTER, BEFORE };

  /// Writes into `region`, or the region of the module if null.
  explicit IRWriter(const IRContext::ptr_t &context,
                    const region_ptr_t &region = nullptr);

  IRContext::ptr_t getContext() const { return context; }
  region_ptr_t getRegion() const { return region; }

  //===--------------------------------------------------------------------===//
  // Walks
  //===--------------------------------------------------------------------===//

  /// Calls `func` for every T among the region's immediate ops, in order.
  /// `func` may create, remove, move and replace ops: removed and newly created
  /// ops are not visited. Returns false if `func` ended the walk with
  /// WALK_BREAK.
  template <typename T>
  bool walk(const std::function<WalkResult(IRWriter &,
                                           const std::shared_ptr<T> &)> &func) {
    return walkOps(filtered<T>(func), /*recursive=*/false, /*calls=*/false);
  }

  /// Calls `func` for every T in the region and nested regions, in pre-order.
  /// With `followCalls`, a call is followed by the ops of the called subgraph,
  /// each subgraph once. `func` may modify the IR as in walk().
  template <typename T>
  bool walkRecursive(
      const std::function<WalkResult(IRWriter &, const std::shared_ptr<T> &)>
          &func,
      bool followCalls = false) {
    return walkOps(filtered<T>(func), /*recursive=*/true, followCalls);
  }

  //===--------------------------------------------------------------------===//
  // Creation
  //===--------------------------------------------------------------------===//

  /// Creates a T at the end of the region, before its terminator; see
  /// IRContext::create.
  template <typename T, typename... Args>
  std::shared_ptr<T> create(Args &&...args) {
    if (!checkRegion())
      return nullptr;
    IRWriterGuard guard(context, region);
    return context->create<T>(std::forward<Args>(args)...);
  }

  /// Creates a T right after or before `target`.
  template <typename T, typename... Args>
  std::shared_ptr<T> createAtPos(const op_ptr_t &target, Position position,
                                 Args &&...args) {
    PositionGuard guard(*context, target, position);
    return guard.isValid() ? context->create<T>(std::forward<Args>(args)...)
                           : nullptr;
  }

  /// Creates a T at the position of `old` and replaces `old` by it.
  template <typename T, typename... Args>
  std::shared_ptr<T> createAndReplaceOp(const op_ptr_t &old, Args &&...args) {
    std::shared_ptr<T> created =
        createAtPos<T>(old, BEFORE, std::forward<Args>(args)...);
    if (created && !replaceOp(old, created)) {
      removeOp(created);
      return nullptr;
    }
    return created;
  }

  //===--------------------------------------------------------------------===//
  // Moves
  //===--------------------------------------------------------------------===//

  /// Moves `op` right after or before `target`. Fails if a value would be used
  /// before its definition.
  bool insertOpAtPos(const op_ptr_t &target, Position position,
                     const op_ptr_t &op);
  /// Moves `op` to the end of the region, before its terminator, or to its
  /// beginning.
  bool insertOpAtLast(const op_ptr_t &op);
  bool insertOpAtFront(const op_ptr_t &op);

  //===--------------------------------------------------------------------===//
  // Removal and replacement
  //===--------------------------------------------------------------------===//

  /// Removes an op and its regions. Fails if a result or its symbol has uses.
  bool removeOp(const op_ptr_t &op);
  /// Replaces all uses of the results of `old` by those of `new_op`, and
  /// removes `old`. Fails if results differ in number or type, or if `new_op`
  /// uses `old` or comes after a user.
  bool replaceOp(const op_ptr_t &old, const op_ptr_t &new_op);
  /// Removes an unused value: an argument of a subgraph without calls, or the
  /// op whose only result it is.
  bool removeValue(const val_ptr_t &value);
  /// Replaces all uses of `old` by `value`.
  bool replaceValue(const val_ptr_t &old, const val_ptr_t &value);

private:
  using OpCallback = std::function<WalkResult(IRWriter &, const op_ptr_t &)>;

  template <typename T>
  static OpCallback filtered(
      const std::function<WalkResult(IRWriter &, const std::shared_ptr<T> &)>
          &func) {
    return [&func](IRWriter &writer, const op_ptr_t &op) {
      return isa<T>(op) ? func(writer, cast<T>(op)) : WALK_CONTINUE;
    };
  }
  /// Returns false, with a status, if the region is no longer in the IR.
  bool checkRegion() const;
  bool walkOps(const OpCallback &callback, bool recursive, bool followCalls);

  /// Sets the insertion point for the lifetime of the guard.
  class PositionGuard {
  public:
    PositionGuard(IRContext &context, const op_ptr_t &target,
                  Position position);
    ~PositionGuard();
    PositionGuard(const PositionGuard &) = delete;
    PositionGuard &operator=(const PositionGuard &) = delete;
    bool isValid() const { return valid; }

  private:
    IRContext &context;
    bool valid;
  };

  IRContext::ptr_t context;
  region_ptr_t region;
};

} // namespace mllm::ir

#endif // MLLM_IR_IRWRITER_H
