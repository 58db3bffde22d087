//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generators of ops that read a cache, or change its sequences.
//
//===----------------------------------------------------------------------===//

#include "CacheChain.h"

using namespace llmir;
using namespace llmir::property;
using reference::CacheGeometry;
using reference::ElementKind;
using reference::PagedCache;
using reference::Shape;
using reference::Tensor;

void Chain::attend() {
  if (length() == 0)
    return;
  property::Value q = query(1, false), o = outputOf(q);
  property::Value table = rows();
  property::Value lens = p.integers(std::vector<int64_t>(ids.size(), length()));
  std::string extra, extraTypes;
  if (p.chance(30)) {
    property::Value m =
        p.chance(40) ? emptyMask()
                     : p.argument({int64_t(ids.size()), 1, 1, length()}, "i1");
    extra += " mask(" + m.name + ")";
    extraTypes += ", " + typeOf(m);
  }
  if (p.chance(20)) {
    property::Value s = p.argument({heads}, "f32");
    extra += " sinks(" + s.name + ")";
    extraTypes += ", " + typeOf(s);
  }
  p.addResult(p.emit("llm.paged_attention " + q.name + ", " + cache + ", " +
                         table.name + ", " + lens.name + layerText() + extra +
                         attributes() + " : (" + typeOf(q) + ", " + type +
                         ", " + types({table, lens}) + extraTypes + ") -> " +
                         typeOf(o),
                     o.shape, o.element));
}

/// The first tokens, of which a few may be past a sequence's end; they must not
/// be read.
void Chain::lookup() {
  if (length() == 0)
    return;
  const auto batch = int64_t(ids.size());
  property::Value table = rows();
  property::Value lens =
      p.integers(std::vector<int64_t>(ids.size(), p.number(0, length())));
  property::Value k{"", {batch, length(), geometry.heads, 4}, element};
  property::Value v = k;
  v.shape.back() = geometry.valueDim;
  const std::string repeated =
      p.chance(60) ? " {num_heads = " + std::to_string(geometry.heads) + "}"
                   : "";
  std::vector<std::string> names = p.emitMany(
      2, "llm.lookup_kv " + cache + ", " + table.name + ", " + lens.name +
             layerText() + repeated + " : (" + type + ", " +
             types({table, lens}) + ") -> (" + types({k, v}) + ")");
  if (p.chance(60))
    p.addResult(names[0], typeOf(k));
  if (p.chance(30))
    p.addResult(names[1], typeOf(v));
}

/// Attention over the results of a lookup.
void Chain::lookupThenAttend() {
  if (length() == 0)
    return;
  const auto batch = int64_t(ids.size());
  property::Value table = rows();
  property::Value lens = p.integers(std::vector<int64_t>(ids.size(), length()));
  property::Value k{"", {batch, length(), geometry.heads, 4}, element};
  property::Value v = k;
  v.shape.back() = geometry.valueDim;
  std::vector<std::string> names =
      p.emitMany(2, "llm.lookup_kv " + cache + ", " + table.name + ", " +
                        lens.name + layerText() + " : (" + type + ", " +
                        types({table, lens}) + ") -> (" + types({k, v}) + ")");
  property::Value q = p.argument({batch, 1, heads, 4}, element);
  property::Value o = outputOf(q);
  p.addResult(p.emit("llm.attention " + q.name + ", " + names[0] + ", " +
                         names[1] + attributes() + " : (" + types({q, k, v}) +
                         ") -> " + typeOf(o),
                     o.shape, o.element));
}

/// The forks are extended; the originals are not.
void Chain::fork() {
  if (length() == 0)
    return;
  std::vector<int64_t> copies;
  for (size_t i = 0; i < ids.size(); ++i)
    copies.push_back(nextId++);
  property::Value from = p.integers(ids), to = p.integers(copies);
  cache = p.emitMany(1, "llm.fork_kv " + cache + ", " + from.name + ", " +
                            to.name + " : (" + type + ", " + types({from, to}) +
                            ") -> " + type)[0];
  const Tensor source = idTensor();
  ids = copies;
  (void)simulation.fork(source, idTensor());
}

/// The sequences end; new ones start.
void Chain::free() {
  if (length() == 0)
    return;
  property::Value list = p.integers(ids);
  cache = p.emitMany(1, "llm.free_kv " + cache + ", " + list.name + " : (" +
                            type + ", " + typeOf(list) + ") -> " + type)[0];
  (void)simulation.free(idTensor());
  for (int64_t &id : ids)
    id = nextId++;
  lengths = 0;
}
