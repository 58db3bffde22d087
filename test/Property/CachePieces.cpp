//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces that write to a cache, and the order of all.
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

static CacheGeometry randomGeometry(Program &p, const std::string &element) {
  CacheGeometry geometry;
  geometry.kind = element == "f32"    ? ElementKind::F32
                  : element == "bf16" ? ElementKind::BF16
                                      : ElementKind::F16;
  geometry.layers = p.number(1, 2);
  geometry.heads = p.number(1, 2);
  geometry.headDim = 4;
  geometry.valueDim = p.chance(20) ? 2 : 4;
  geometry.blockSize = p.among<int64_t>({2, 4, 8});
  geometry.maxSeqLen = 16;
  return geometry;
}

Chain::Chain(Program &p, bool isOwn)
    : p(p), geometry(randomGeometry(p, p.element)), simulation(geometry),
      element(p.element) {
  if (isOwn) // Of a type that no other cache has.
    geometry.maxSeqLen = 64;
  type = "!llm.paged_kv_cache<" + element + ", " +
         std::to_string(geometry.layers) + ", " +
         std::to_string(geometry.heads) + ", 4, " +
         std::to_string(geometry.blockSize) + ", " +
         std::to_string(geometry.maxSeqLen) +
         (geometry.valueDim == 4 ? ">" : ", valueDim = 2>");
  heads = geometry.heads * p.number(1, 2);
  ids = p.chance(50) ? std::vector<int64_t>{7, 3} : std::vector<int64_t>{1};
  if (geometry.layers > 1) {
    wantedLayer = p.number(0, 1);
    layer = p.indexConstant(wantedLayer);
  }
  if (isOwn)
    cache = p.emitMany(1, "llm.create_paged_cache : " + type)[0];
  else if (p.chance(20))
    appendToNone();
  else if (p.chance(50))
    cache = p.emitMany(1, "llm.create_paged_cache : " + type)[0];
  else
    cache = p.argumentOfType(type);
}

//===----------------------------------------------------------------------===//
// Common parts of the generators
//===----------------------------------------------------------------------===//

std::string Chain::types(const std::vector<property::Value> &values) const {
  std::string text;
  for (const property::Value &value : values)
    text += (text.empty() ? "" : ", ") +
            (value.element.empty() ? type : typeOf(value));
  return text;
}

Tensor Chain::idTensor() const {
  Tensor result(ElementKind::I32, {int64_t(ids.size())});
  for (size_t i = 0; i < ids.size(); ++i)
    result[int64_t(i)] = double(ids[i]);
  return result;
}

void Chain::simulateAppend(int64_t tokens) {
  (void)simulation.reserve(layerNumber(), idTensor(), tokens, 1);
  lengths += tokens;
}

/// A constant that names the sequences: the last blocks of their tables, as
/// many as there are, fewer or more.
property::Value Chain::rows() {
  const int64_t columns = p.chance(50) ? blocks() : p.number(1, blocks() + 2);
  std::vector<std::vector<int64_t>> rows;
  for (int64_t id : ids) {
    rows.emplace_back(size_t(columns));
    const std::vector<int32_t> table = simulation.blockTable(id);
    mlir::llm::runtime::fillRow<int64_t>(table, columns, rows.back().data());
  }
  if (columns > 1 || p.chance(50))
    return p.integerTable(rows);
  std::vector<int64_t> entries;
  for (const std::vector<int64_t> &row : rows)
    entries.push_back(row.front());
  return p.integers(entries);
}

/// The type of an append's block indices, in any form.
property::Value Chain::rowsOfAppend(int64_t tokens) {
  property::Value indices{"", {int64_t(ids.size())}, "i32"};
  if (!p.chance(20))
    indices.shape.push_back(p.chance(50) ? tokens : p.number(1, 5));
  return indices;
}

std::vector<int64_t> Chain::offsets(int64_t tokens) const {
  std::vector<int64_t> result = {0};
  for (size_t s = 0; s < ids.size(); ++s)
    result.push_back(result.back() + tokens);
  return result;
}

property::Value Chain::newKeys(int64_t tokens, bool isRagged) {
  const auto batch = int64_t(ids.size());
  if (isRagged)
    return p.argument({batch * tokens, geometry.heads, 4},
                      p.chance(30) ? "f32" : element);
  if (tokens == 1 && p.chance(40))
    return p.argument({batch, geometry.heads, 4}, element);
  return p.argument({batch, tokens, geometry.heads, 4}, element);
}

property::Value Chain::newValues(const property::Value &keys) {
  Shape shape = keys.shape;
  shape.back() = geometry.valueDim;
  return p.argument(shape, keys.element);
}

property::Value Chain::query(int64_t tokens, bool isRagged) {
  const auto batch = int64_t(ids.size());
  if (isRagged)
    return p.argument({batch * tokens, heads, 4}, element);
  if (tokens == 1 && p.chance(40))
    return p.argument({batch, heads, 4}, element);
  return p.argument({batch, tokens, heads, 4}, element);
}

property::Value Chain::outputOf(const property::Value &query) const {
  property::Value result{"", query.shape, query.element};
  result.shape.back() = geometry.valueDim;
  return result;
}

/// " {…}" or nothing.
std::string Chain::attributes() {
  std::string text;
  auto add = [&](const std::string &attribute) {
    text += (text.empty() ? "" : ", ") + attribute;
  };
  if (p.chance(30))
    add("causal = false");
  if (p.chance(30))
    add("window = " + std::to_string(p.chance(30) ? 64 : p.number(1, 4)));
  if (p.chance(20))
    add("soft_cap = 2.0 : f64");
  if (p.chance(30))
    add("scale = " + p.among<std::string>({"0.5", "0.25", "0.0"}) + " : f64");
  if (p.chance(15)) { // Slopes that say nothing.
    std::string slopes = "alibi_slopes = array<f64: 0.0";
    for (int64_t h = 1; h < heads; ++h)
      slopes += ", 0.0";
    add(slopes + ">");
  }
  if (p.chance(20))
    add("num_heads = " + std::to_string(heads));
  return text.empty() ? "" : " {" + text + "}";
}

/// A mask that hides nothing.
property::Value Chain::emptyMask() {
  property::Value mask{"", {1, 1, 1, 16}, p.chance(50) ? "i1" : "f32"};
  return p.emit("arith.constant dense<" +
                    std::string(mask.element == "i1" ? "true" : "0.0") +
                    "> : " + typeOf(mask),
                mask.shape, mask.element);
}

static property::Value named(const std::string &name, Shape shape,
                             const std::string &element) {
  return {name, std::move(shape), element};
}

//===----------------------------------------------------------------------===//
// Appending
//===----------------------------------------------------------------------===//

/// An append that makes the cache, with the operands in parentheses.
void Chain::appendToNone() {
  const int64_t tokens = p.number(1, 3);
  property::Value k = newKeys(tokens, false), v = newValues(k);
  property::Value list = p.integers(ids);
  property::Value indices{"", {int64_t(ids.size()), tokens}, "i32"};
  std::vector<std::string> names = p.emitMany(
      2, "llm.append_kv(" + k.name + ", " + v.name + ", " + list.name + ")" +
             layerText() + " : (" + types({k, v, list}) + ") -> (" + type +
             ", " + typeOf(indices) + ")");
  cache = names[0];
  simulateAppend(tokens);
}

void Chain::appendBatched() {
  const int64_t tokens = p.number(1, 3);
  if (!hasRoom(tokens))
    return;
  property::Value k = newKeys(tokens, false), v = newValues(k);
  property::Value list = p.integers(ids);
  property::Value indices = rowsOfAppend(tokens);
  const std::string attribute =
      p.chance(20)
          ? " {block_size = " + std::to_string(geometry.blockSize) + " : i32}"
          : "";
  std::vector<std::string> names =
      p.emitMany(2, "llm.append_kv " + cache + ", " + k.name + ", " + v.name +
                        ", " + list.name + layerText() + attribute + " : (" +
                        type + ", " + types({k, v, list}) + ") -> (" + type +
                        ", " + typeOf(indices) + ")");
  cache = names[0];
  simulateAppend(tokens);
  if (p.chance(50))
    p.addResult(names[1], typeOf(indices));
}

/// Room for the tokens; the values are slots, tables, lengths.
static std::vector<property::Value>
reserve(Program &p, std::string &cache, const std::string &type,
        const std::string &layerText, const std::vector<int64_t> &ids,
        int64_t tokens, const CacheGeometry &geometry) {
  const auto batch = int64_t(ids.size());
  property::Value list = p.integers(ids);
  property::Value slots{"", {batch * tokens}, "i32"};
  property::Value indices{"", {batch, tokens}, "i32"};
  property::Value tables{"", {batch, geometry.blocksPerSequence()}, "i32"};
  property::Value lens{"", {batch}, "i32"};
  std::vector<std::string> names =
      p.emitMany(5, "llm.reserve_kv " + cache + ", " + list.name + layerText +
                        " {tokens = " + std::to_string(tokens) + "} : (" +
                        type + ", " + typeOf(list) + ") -> (" + type + ", " +
                        typeOf(slots) + ", " + typeOf(indices) + ", " +
                        typeOf(tables) + ", " + typeOf(lens) + ")");
  cache = names[0];
  return {named(names[1], slots.shape, "i32"),
          named(names[3], tables.shape, "i32"),
          named(names[4], lens.shape, "i32")};
}

void Chain::appendRagged(bool attends) {
  const int64_t tokens = p.number(1, 3);
  if (!hasRoom(tokens))
    return;
  auto room = reserve(p, cache, type, layerText(), ids, tokens, geometry);
  simulateAppend(tokens);
  property::Value k = newKeys(tokens, true), v = newValues(k);
  cache = p.emitMany(1, "llm.append_kv " + cache + ", " + k.name + ", " +
                            v.name + " slots(" + room[0].name + ")" +
                            layerText() + " : (" + type + ", " +
                            types({k, v, room[0]}) + ") -> " + type)[0];
  if (!attends)
    return;
  property::Value q = query(tokens, true), o = outputOf(q);
  property::Value offs = p.integers(offsets(tokens));
  p.addResult(p.emit("llm.paged_attention " + q.name + ", " + cache + ", " +
                         room[1].name + ", " + room[2].name + " offsets(" +
                         offs.name + ")" + layerText() + attributes() + " : (" +
                         typeOf(q) + ", " + type + ", " +
                         types({room[1], room[2], offs}) + ") -> " + typeOf(o),
                     o.shape, o.element));
}

/// The same append twice, to one cache value: they are one.
void Chain::appendTwice() {
  const int64_t tokens = p.number(1, 2);
  if (!hasRoom(tokens))
    return;
  property::Value k = newKeys(tokens, false), v = newValues(k);
  property::Value list = p.integers(ids);
  property::Value indices{"", {int64_t(ids.size()), tokens}, "i32"};
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i)
    names = p.emitMany(2, "llm.append_kv " + cache + ", " + k.name + ", " +
                              v.name + ", " + list.name + layerText() + " : (" +
                              type + ", " + types({k, v, list}) + ") -> (" +
                              type + ", " + typeOf(indices) + ")");
  cache = names[0];
  simulateAppend(tokens);
  p.addResult(names[1], typeOf(indices));
}

/// A step without tokens.
void Chain::appendNothing() {
  property::Value k = p.argument({0, geometry.heads, 4}, element);
  property::Value v = newValues(k),
                  slots =
                      p.argument({0}, "i32", "check.range = array<i64: 0, 1>");
  cache =
      p.emitMany(1, "llm.append_kv " + cache + ", " + k.name + ", " + v.name +
                        " slots(" + slots.name + ")" + layerText() + " : (" +
                        type + ", " + types({k, v, slots}) + ") -> " + type)[0];
}

/// Zeros: there is no sequence, and no token is requested.
void Chain::lookupInNewCache() {
  const std::string fresh =
      p.emitMany(1, "llm.create_paged_cache : " + type)[0];
  property::Value table = p.integerTable({{0}}), lens = p.integers({0});
  property::Value k{"", {1, 2, geometry.heads, 4}, element};
  property::Value v = k;
  v.shape.back() = geometry.valueDim;
  std::vector<std::string> names =
      p.emitMany(2, "llm.lookup_kv " + fresh + ", " + table.name + ", " +
                        lens.name + layerText() + " : (" + type + ", " +
                        types({table, lens}) + ") -> (" + types({k, v}) + ")");
  p.addResult(names[0], typeOf(k));
}

/// A batched append and the attention of the new tokens, with the results of
/// the append or with constants.
void Chain::appendThenAttend() {
  const int64_t tokens = p.number(1, 2);
  if (!hasRoom(tokens))
    return;
  property::Value k = newKeys(tokens, false), v = newValues(k);
  property::Value list = p.integers(ids);
  simulateAppend(tokens);
  property::Value indices = rowsOfAppend(tokens), table = rows();
  property::Value lens = p.integers(std::vector<int64_t>(ids.size(), length()));
  std::vector<std::string> names =
      p.emitMany(2, "llm.append_kv " + cache + ", " + k.name + ", " + v.name +
                        ", " + list.name + layerText() + " : (" + type + ", " +
                        types({k, v, list}) + ") -> (" + type + ", " +
                        typeOf(indices) + ")");
  cache = names[0];
  if (p.chance(50))
    table = named(names[1], indices.shape, "i32");
  property::Value q = query(tokens, false), o = outputOf(q);
  p.addResult(p.emit("llm.paged_attention " + q.name + ", " + cache + ", " +
                         table.name + ", " + lens.name + layerText() +
                         attributes() + " : (" + typeOf(q) + ", " + type +
                         ", " + types({table, lens}) + ") -> " + typeOf(o),
                     o.shape, o.element));
}

void Chain::fused() {
  const int64_t tokens = p.number(1, 2);
  if (!hasRoom(tokens))
    return;
  const bool isRagged = p.chance(50);
  property::Value q{"", {}, ""}, k, v, o;
  std::vector<std::string> names;
  if (isRagged) {
    auto room = reserve(p, cache, type, layerText(), ids, tokens, geometry);
    k = newKeys(tokens, true), v = newValues(k);
    q = query(tokens, true), o = outputOf(q);
    property::Value offs = p.integers(offsets(tokens));
    names = p.emitMany(
        2, "llm.fused_attention " + q.name + ", " + k.name + ", " + v.name +
               ", " + cache + ", " + room[1].name + ", " + room[2].name +
               " slots(" + room[0].name + ") offsets(" + offs.name + ")" +
               layerText() + attributes() + " : (" + types({q, k, v}) + ", " +
               type + ", " + types({room[1], room[2], room[0], offs}) +
               ") -> (" + typeOf(o) + ", " + type + ")");
    simulateAppend(tokens);
  } else {
    simulateAppend(tokens);
    const auto batch = int64_t(ids.size());
    k = p.argument({batch, tokens, geometry.heads, 4}, element);
    v = newValues(k);
    q = p.argument({batch, tokens, heads, 4}, element), o = outputOf(q);
    property::Value list = p.integers(ids);
    property::Value table = rows();
    property::Value lens =
        p.integers(std::vector<int64_t>(ids.size(), length()));
    property::Value indices = rowsOfAppend(tokens);
    std::string mask, maskType;
    if (p.chance(40)) {
      property::Value m = emptyMask();
      mask = " mask(" + m.name + ")";
      maskType = ", " + typeOf(m);
    }
    names = p.emitMany(
        3, "llm.fused_attention " + q.name + ", " + k.name + ", " + v.name +
               ", " + cache + ", " + list.name + ", " + table.name + ", " +
               lens.name + layerText() + mask + attributes() + " : (" +
               types({q, k, v}) + ", " + type + ", " +
               types({list, table, lens}) + maskType + ") -> (" + typeOf(o) +
               ", " + type + ", " + typeOf(indices) + ")");
  }
  p.addResult(names[0], typeOf(o));
  cache = names[1];
}

/// Rotated keys, as one op or as two.
void Chain::ropeAppend() {
  const int64_t tokens = p.number(1, 2);
  if (!hasRoom(tokens))
    return;
  auto room = reserve(p, cache, type, layerText(), ids, tokens, geometry);
  simulateAppend(tokens);
  property::Value k = newKeys(tokens, true), v = newValues(k);
  property::Value positions =
      p.argument({k.shape[0]}, "i32", "check.range = array<i64: 0, 30>");
  const std::string rotation =
      " {frequencies = array<f64: 1.0, 0.1>" +
      std::string(p.chance(50) ? ", interleaved}" : "}");
  if (p.chance(40)) {
    const std::string layerType = layer.empty() ? "" : ", index";
    cache =
        p.emitMany(1, "llm.rope_append_kv " + cache + ", " + k.name + ", " +
                          v.name + " positions(" + positions.name + ") slots(" +
                          room[0].name + ")" + layerText() + rotation + " : (" +
                          type + ", " + types({k, v, positions, room[0]}) +
                          layerType + ") -> " + type)[0];
    return;
  }
  property::Value r = p.emit("llm.rope " + k.name + ", " + positions.name +
                                 rotation + " : " + types({k, positions}),
                             k.shape, k.element);
  cache = p.emitMany(1, "llm.append_kv " + cache + ", " + r.name + ", " +
                            v.name + " slots(" + room[0].name + ")" +
                            layerText() + " : (" + type + ", " +
                            types({r, v, room[0]}) + ") -> " + type)[0];
}

void Chain::ownStep() { appendRagged(/*attends=*/true); }

void Chain::step() {
  if (p.chance(20))
    return appendRagged(p.chance(40));
  using Member = void (Chain::*)();
  const Member member = p.among<Member>(
      {&Chain::appendBatched, &Chain::appendBatched, &Chain::appendTwice,
       &Chain::appendThenAttend, &Chain::appendThenAttend, &Chain::fused,
       &Chain::ropeAppend, &Chain::attend, &Chain::attend, &Chain::lookup,
       &Chain::lookup, &Chain::fused, &Chain::appendNothing,
       &Chain::lookupInNewCache, &Chain::lookupThenAttend, &Chain::fork,
       &Chain::free});
  (this->*member)();
}

void Chain::finish() {
  if (p.chance(70))
    p.addResult(cache, type);
}

void llmir::property::addOwnCache(Program &p) {
  Chain(p, /*isOwn=*/true).ownStep();
}

void llmir::property::addCacheChain(Program &p) {
  Chain chain(p);
  for (int64_t i = p.number(3, 8); i > 0; --i)
    chain.step();
  chain.finish();
}
