//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces around rows: calls of functions, loops, branches, shards.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace llmir;
using namespace llmir::property;

/// Two equal layers as functions, called one after the other.
static void layers(Program &p) {
  property::Value x = p.rows();
  const std::string type = typeOf(x);
  property::Value g = p.argument({x.shape.back()}, x.element);
  const std::string id = g.name.substr(1);
  const std::string attribute = p.chance(50) ? " attributes {llm.layer}" : "";
  for (int i = 0; i < 2; ++i)
    p.addFunction("func.func private @layer" + id + "." + std::to_string(i) +
                  "(%x: " + type + ", %g: " + typeOf(g) + ") -> " + type +
                  attribute + " {\n  %n = llm.rms_norm %x, %g" + eps + type +
                  ", " + typeOf(g) + "\n  %s = llm.silu %n : " + type +
                  "\n  %y = llm.add %x, %s : " + type +
                  "\n  return %y : " + type + "\n}\n");
  property::Value y = x;
  for (int i = 0; i < 2; ++i)
    y = p.emit("call @layer" + id + "." + std::to_string(i) + "(" + y.name +
                   ", " + g.name + ") : (" + type + ", " + typeOf(g) + ") -> " +
                   type,
               x.shape, x.element);
  p.addRows(y);
}

static void loop(Program &p) {
  property::Value x = p.rows();
  const std::string type = typeOf(x);
  const std::string zero = p.indexConstant(0), one = p.indexConstant(1);
  const std::string end = p.indexConstant(p.number(0, 3));
  p.addRows(p.emit("scf.for %i = " + zero + " to " + end + " step " + one +
                       " iter_args(%l = " + x.name + ") -> (" + type +
                       ") {\n    %s = llm.silu %l : " + type +
                       "\n    %t = llm.add %s, " + x.name + " : " + type +
                       "\n    scf.yield %t : " + type + "\n  }",
                   x.shape, x.element));
}

static void branch(Program &p) {
  property::Value x = p.rows();
  const std::string type = typeOf(x);
  const std::string condition = p.argumentOfType("i1");
  p.addRows(p.emit(
      "scf.if " + condition + " -> (" + type + ") {\n    %s = llm.gelu " +
          x.name + " : " + type + "\n    scf.yield %s : " + type +
          "\n  } else {\n    scf.yield " + x.name + " : " + type + "\n  }",
      x.shape, x.element));
}

/// Slices that are put together again.
static void shards(Program &p) {
  property::Value x = p.rows();
  property::Value half{"", {x.shape[0], x.shape[1] / 2}, x.element};
  std::vector<property::Value> parts;
  for (int64_t i = 0; i < 2; ++i)
    parts.push_back(p.emit(
        "llm.shard " + x.name + " {dim = 1, num_shards = 2, shard_index = " +
            std::to_string(i) + "} : (" + typeOf(x) + ") -> " + typeOf(half),
        half.shape, x.element));
  if (p.chance(25)) { // A slice of a slice.
    property::Value quarter{"", {x.shape[0], x.shape[1] / 4}, x.element};
    return p.addResult(
        p.emit("llm.shard " + parts[1].name +
                   " {dim = 1, num_shards = 2, shard_index = 1} : (" +
                   typeOf(half) + ") -> " + typeOf(quarter),
               quarter.shape, x.element));
  }
  if (p.chance(50)) { // One rank's share, by `sharded_linear`.
    property::Value w = p.argument({x.shape[1] / 2, 4}, x.element);
    property::Value y{"", {x.shape[0], 4}, x.element};
    return p.addResult(p.emit(
        "llm.sharded_linear " + parts[1].name + ", " + w.name +
            " {num_shards = 2, shard_dim = 0, shard_id = 1, weight_is_shard, "
            "x_is_shard} : (" +
            typeOf(parts[1]) + ", " + typeOf(w) + ") -> " + typeOf(y),
        y.shape, x.element));
  }
  p.addRows(p.emit("tensor.concat dim(1) " + parts[0].name + ", " +
                       parts[1].name + " : (" + typeOf(half) + ", " +
                       typeOf(half) + ") -> " + typeOf(x),
                   x.shape, x.element));
}

void llmir::property::addControlPiece(Program &p) {
  choose(p, {layers, layers, loop, branch, shards, shards});
}
