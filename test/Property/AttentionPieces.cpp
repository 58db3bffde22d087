//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generators of attention on tensors, as one op and as explicit ops.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace llmir;
using namespace llmir::property;
using reference::Shape;

static void attentionOp(Program &p) {
  const int64_t batch = p.number(1, 2), queries = p.number(1, 3);
  const int64_t keys = p.number(queries, 5), kvHeads = p.number(1, 2);
  const int64_t heads = kvHeads * p.number(1, 3), size = 4;
  const int64_t valueSize = p.chance(30) ? 2 : size;
  property::Value q = p.argument({batch, queries, heads, size}, p.element);
  property::Value k = p.argument({batch, keys, kvHeads, size}, p.element);
  property::Value v = p.argument({batch, keys, kvHeads, valueSize}, p.element);
  property::Value o{"", {batch, queries, heads, valueSize}, p.element};
  std::string text = "llm.attention " + q.name + ", " + k.name + ", " + v.name;
  std::string types = typeOf(q) + ", " + typeOf(k) + ", " + typeOf(v);
  if (p.chance(40)) {
    property::Value m =
        p.chance(25) ? p.constant(0, {1, 1, 1, keys}, "f32")
        : p.chance(50)
            ? p.argument({batch, 1, queries, keys}, "i1")
            : p.argument({1, p.chance(50) ? 1 : heads, queries, keys}, "f32");
    text += " mask(" + m.name + ")";
    types += ", " + typeOf(m);
  }
  if (p.chance(20)) {
    property::Value s = p.argument({heads}, "f32");
    text += " sinks(" + s.name + ")";
    types += ", " + typeOf(s);
  }
  std::string attributes = p.chance(50) ? "causal = true" : "causal = false";
  if (p.chance(30))
    attributes += ", window = " + std::to_string(p.number(1, 4)) +
                  (p.chance(30) ? ", chunked" : "");
  if (p.chance(20))
    attributes += ", soft_cap = 2.0 : f64";
  if (p.chance(40)) // 0.5 is the default of heads of 4.
    attributes += p.among<std::string>(
        {", scale = 0.5 : f64", ", scale = 0.25 : f64", ", scale = 0.0 : f64"});
  if (p.chance(20))
    attributes += ", num_heads = " + std::to_string(heads);
  if (p.chance(15)) {
    const bool isFlat = p.chance(40); // No effect.
    attributes += isFlat ? ", alibi_slopes = array<f64: 0.0"
                         : ", alibi_slopes = array<f64: 0.5";
    for (int64_t h = 1; h < heads; ++h)
      attributes += isFlat ? ", 0.0" : ", 0.25";
    attributes += ">";
  }
  p.addResult(
      p.emit(text + " {" + attributes + "} : (" + types + ") -> " + typeOf(o),
             o.shape, p.element));
}

/// A mask that hides exactly the later keys, i1 or float.
static property::Value causalMask(Program &p, int64_t queries, int64_t keys,
                                  const std::string &element) {
  property::Value m{"", {1, queries, keys}, element};
  std::string text = "[[";
  for (int64_t i = 0; i < queries; ++i) {
    text += i == 0 ? "[" : ", [";
    for (int64_t j = 0; j < keys; ++j) {
      const bool sees = j <= keys - queries + i;
      const char *shown = sees ? "0.0" : "0xFF800000";
      if (element == "i1")
        shown = sees ? "true" : "false";
      text += (j == 0 ? "" : ", ") + std::string(shown);
    }
    text += "]";
  }
  return p.emit("arith.constant dense<" + text + "]]> : " + typeOf(m), m.shape,
                element);
}

/// Rank 3 with a constant causal mask.
static void causalAttention(Program &p) {
  const int64_t queries = p.number(2, 3), keys = queries + p.number(0, 2);
  property::Value q = p.argument({1, queries, 4}, p.element);
  property::Value k = p.argument({1, keys, 4}, p.element);
  property::Value v = p.argument({1, keys, 4}, p.element);
  property::Value m = causalMask(p, queries, keys, p.chance(50) ? "i1" : "f32");
  p.addResult(p.emit("llm.attention " + q.name + ", " + k.name + ", " + v.name +
                         " mask(" + m.name + ") : (" + typeOf(q) + ", " +
                         typeOf(k) + ", " + typeOf(v) + ", " + typeOf(m) +
                         ") -> " + typeOf(q),
                     q.shape, p.element));
}

/// linalg's batched product into zeros.
static property::Value product(Program &p, const property::Value &a,
                               const property::Value &b) {
  property::Value c{"", {a.shape[0], a.shape[1], b.shape[2]}, a.element};
  property::Value zeros = p.constant(0, c.shape, a.element);
  return p.emit("linalg.batch_matmul ins(" + a.name + ", " + b.name + " : " +
                    typeOf(a) + ", " + typeOf(b) + ") outs(" + zeros.name +
                    " : " + typeOf(zeros) + ") -> " + typeOf(c),
                c.shape, a.element);
}

/// An argument [B, T, D], or one of [B, H, T, D] as [B * H, T, D].
static property::Value headsArgument(Program &p, int64_t batch, int64_t heads,
                                     int64_t tokens, int64_t size) {
  if (heads == 0)
    return p.argument({batch, tokens, size}, "f32");
  property::Value x = p.argument({batch, heads, tokens, size}, "f32");
  property::Value joined{"", {batch * heads, tokens, size}, "f32"};
  return p.emit("tensor.collapse_shape " + x.name + " [[0, 1], [2], [3]] : " +
                    typeOf(x) + " into " + typeOf(joined),
                joined.shape, "f32");
}

/// Products, scale, mask and softmax, f32; with heads or without.
static void writtenOutAttention(Program &p) {
  const int64_t batch = p.number(1, 2), queries = p.number(1, 3), keys = 4;
  const int64_t heads = p.chance(50) ? p.number(1, 3) : 0;
  property::Value q = headsArgument(p, batch, heads, queries, 4);
  property::Value k = headsArgument(p, batch, heads, keys, 4);
  property::Value v = headsArgument(p, batch, heads, keys, 4);
  property::Value kt{"", {k.shape[0], 4, keys}, "f32"};
  property::Value empty =
      p.emit("tensor.empty() : " + typeOf(kt), kt.shape, "f32");
  // transpose names its result's type in `outs`.
  kt = p.emit("linalg.transpose ins(" + k.name + " : " + typeOf(k) + ") outs(" +
                  empty.name + " : " + typeOf(kt) + ") permutation = [0, 2, 1]",
              kt.shape, "f32");
  property::Value s = product(p, q, kt);
  const bool isLLM = p.chance(50);
  if (p.chance(70))
    s = binary(p, isLLM ? "llm.mul" : "arith.mulf", s,
               p.constant(0.5, s.shape, "f32"));
  if (p.chance(50))
    s = binary(p, isLLM ? "llm.add" : "arith.addf", s,
               p.argument(s.shape, "f32"));
  property::Value mixed = product(p, unary(p, "llm.softmax " + s.name, s), v);
  // Occasionally, the scores have another use.
  if (p.chance(10))
    p.addResult(s);
  p.addResult(mixed);
}

void llmir::property::addAttentionPiece(Program &p) {
  choose(p, {attentionOp, attentionOp, causalAttention, writtenOutAttention});
}
