//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What layers keep of each sequence besides keys and values: the inputs that a
// convolution still needs, the matrices of a recurrence.
//
// A sequence has one slot, with a record of fixed size for each layer that
// keeps a state. The pool is `[layer][slot][record]`; generated code defines
// what is in a record, which is zero for a new sequence.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_STATEPOOL_H
#define MLIR_DIALECT_LLM_RUNTIME_STATEPOOL_H

#include "llmir/Support/Status.h"

#include <cstdint>
#include <vector>

namespace mlir::llm::runtime {

/// The sizes of a pool.
struct StateGeometry {
  int64_t layers = 0;      ///< Layers with a state; 0: there is no pool.
  int64_t recordBytes = 0; ///< Of one layer and sequence, a multiple of 64.
  int64_t slots = 0;       ///< The greatest number of sequences.
};

class StatePool {
public:
  StatePool() = default;
  ~StatePool();
  StatePool(const StatePool &) = delete;
  StatePool &operator=(const StatePool &) = delete;

  /// Maps the pool, whose pages the system commits when they are first touched.
  /// `guardPages`: surrounds it with unreadable pages. Fails with
  /// InvalidArgument or ResourceExhausted. Without layers, there is no pool.
  ::llmir::Status allocate(const StateGeometry &geometry, bool guardPages);

  bool isEmpty() const { return sizes.layers == 0; }
  const StateGeometry &geometry() const { return sizes; }
  int64_t numFree() const { return static_cast<int64_t>(free.size()); }
  /// Fails with ResourceExhausted unless `count` more sequences have room.
  ::llmir::Status checkRoom(int64_t count) const;

  /// A slot of zeros, which must exist (checkRoom()); -1 if there is no pool.
  int32_t take();
  /// Takes back a slot; -1 is ignored.
  void release(int32_t slot);
  /// Sets all records of a slot to zero, or to those of another slot.
  void clear(int32_t slot);
  void copy(int32_t from, int32_t to);

  /// Base of the pool, null if there is none, and bytes from one layer, and
  /// from one slot, to the next: `state_pool`, `state_layer_stride` and
  /// `state_slot_stride` of the step context.
  uint8_t *data() const { return base; }
  int64_t layerStride() const { return sizes.slots * sizes.recordBytes; }
  int64_t slotStride() const { return sizes.recordBytes; }
  /// Bytes of the pool, used or not.
  int64_t bytes() const { return sizes.layers * layerStride(); }

private:
  uint8_t *record(int64_t layer, int32_t slot) const {
    return base + layer * layerStride() + slot * slotStride();
  }

  StateGeometry sizes;
  uint8_t *base = nullptr;
  void *mapping = nullptr;
  uint64_t mappingBytes = 0;
  std::vector<int32_t> free;    ///< The next one is the last.
  std::vector<uint8_t> touched; ///< [slot] was used since the pool was mapped.
};

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_STATEPOOL_H
