//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Heap.h"

namespace llmir::chat {

/// Maximum nesting of evaluation and of values that are compared or printed.
constexpr int kMaxDepth = 800;

void raise(ErrorKind kind, std::string message) {
  throw TemplateError{kind, std::move(message)};
}

Heap::~Heap() {
  // What is left are cycles; nothing is deleted while references are dropped.
  for (Object *object = first; object; object = object->next)
    ++object->references;
  for (Object *object = first; object; object = object->next)
    object->clear();
  while (first) {
    Object *object = first;
    first = object->next;
    delete object;
  }
}

void Heap::reserve(size_t more) const {
  if (more > limits.memoryBytes || live > limits.memoryBytes - more)
    raise(ErrorKind::Limit, "the template needs more than " +
                                std::to_string(limits.memoryBytes >> 20) +
                                " MiB for its values");
}

void Heap::tooManySteps() {
  raise(ErrorKind::Limit, "the template takes too many steps");
}

void Heap::adopt(Object &object, size_t bytes) {
  object.heap = this;
  object.bytes = bytes;
  live += bytes;
  object.next = first;
  if (first)
    first->previous = &object;
  first = &object;
}

/// Deletes iteratively: a list may contain lists of any depth.
void Heap::free(Object &object) {
  if (object.previous)
    object.previous->next = object.next;
  else
    first = object.next;
  if (object.next)
    object.next->previous = object.previous;
  object.next = dead;
  dead = &object;
  if (isFreeing)
    return;
  isFreeing = true;
  while (dead) {
    Object *last = dead;
    dead = last->next;
    live -= last->bytes;
    delete last;
  }
  isFreeing = false;
}

DepthGuard::DepthGuard(Heap &heap) : heap(heap) {
  if (heap.depth >= kMaxDepth)
    raise(ErrorKind::Limit, "the nesting is deeper than " +
                                std::to_string(kMaxDepth) + " levels");
  ++heap.depth;
}

} // namespace llmir::chat
