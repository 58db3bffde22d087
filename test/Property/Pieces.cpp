//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces on rows: norms, projections, activations, experts, quantization,
// ranks.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

using namespace llmir;
using namespace llmir::property;
using reference::Shape;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// rms_norm with or without weight, ones among them, or layer_norm.
static property::Value norm(Program &p, const property::Value &x) {
  const std::string type = typeOf(x);
  if (p.chance(15))
    return p.emit("llm.rms_norm " + x.name + eps + type, x.shape, x.element);
  property::Value w = p.chance(20) ? p.constant(1, {x.shape.back()}, x.element)
                                   : p.argument({x.shape.back()}, x.element);
  const std::string op = p.chance(25) ? "llm.layer_norm " : "llm.rms_norm ";
  return p.emit(op + x.name + ", " + w.name + eps + type + ", " + typeOf(w),
                x.shape, x.element);
}

/// A projection to `outputs` elements, of a plain or a stored weight.
static property::Value linear(Program &p, const property::Value &x,
                              int64_t outputs) {
  const int64_t inputs = x.shape.back();
  std::string weight, weightType;
  if (inputs % 32 == 0 && p.chance(25)) {
    const bool isWide = p.chance(50);
    weightType = "!llm.quantized_tensor<" + std::string(isWide ? "i8" : "i4") +
                 ", [" + std::to_string(outputs) + ", " +
                 std::to_string(inputs) + "], true, false, -1, 32, " +
                 (isWide ? "8, format = q8_0>" : "4, format = q4_0>");
    weight = p.argumentOfType(weightType, "llm.constant");
  } else {
    property::Value w =
        p.argument({outputs, inputs}, p.chance(20) ? "bf16" : x.element,
                   p.chance(50) ? "llm.constant" : "");
    weight = w.name;
    weightType = typeOf(w);
  }
  Shape shape = x.shape;
  shape.back() = outputs;
  property::Value y{"", shape, x.element};
  std::string text = "llm.linear " + x.name + ", " + weight, types = weightType;
  if (p.chance(20)) {
    property::Value b = p.argument({outputs}, x.element);
    text += " bias " + b.name;
    types += ", " + typeOf(b);
  }
  return p.emit(text + " : " + typeOf(x) + ", " + types + " -> " + typeOf(y),
                shape, x.element);
}

static void normPiece(Program &p) { p.addRows(norm(p, p.rows())); }

static void linearPiece(Program &p) {
  property::Value x = p.rows();
  p.addRows(linear(p, p.chance(40) ? norm(p, x) : x, p.columns));
}

/// Several projections of the same rows, possibly after a norm.
static void projectionsPiece(Program &p) {
  property::Value x = p.rows();
  if (p.chance(70))
    x = norm(p, x);
  for (int64_t i = p.number(2, 3); i > 0; --i)
    p.addRows(linear(p, x, p.columns));
}

/// down(silu(gate(x)) · up(x)), or with swiglu.
static void gatedPiece(Program &p) {
  property::Value x = p.rows();
  property::Value n = p.chance(60) ? norm(p, x) : x;
  property::Value gate = linear(p, n, 12), up = linear(p, n, 12), h;
  if (p.chance(40)) {
    h = binary(p, "llm.swiglu", gate, up);
  } else {
    property::Value s = unary(p, "llm.silu " + gate.name, gate);
    h = p.chance(50) ? binary(p, "llm.mul", s, up)
                     : binary(p, "llm.mul", up, s);
  }
  property::Value y = linear(p, h, x.shape.back());
  p.addRows(p.chance(70) ? binary(p, "llm.add", x, y) : y);
}

/// A residual connection and its norm; the sum may have other uses.
static void residualPiece(Program &p) {
  property::Value x = p.rows();
  property::Value sum = binary(p, "llm.add", x, p.another(x));
  p.addRows(norm(p, sum));
  if (p.chance(60))
    p.addRows(sum);
}

static void activationPiece(Program &p) {
  property::Value x = p.rows();
  switch (p.number(0, 6)) {
  case 0:
    return p.addRows(unary(p, "llm.silu " + x.name, x));
  case 1:
    return p.addRows(unary(p,
                           "llm.gelu " + x.name + " {approximate = \"" +
                               p.among<std::string>({"none", "tanh", "quick"}) +
                               "\"}",
                           x));
  case 2:
    return p.addRows(unary(p, "llm.softmax " + x.name, x));
  case 3: // Folds away.
    return p.addRows(
        binary(p, "llm.mul", x, p.constant(1, x.shape, x.element)));
  case 4: {
    property::Value zero =
        p.constant(p.chance(50) ? 0.0 : -0.0, x.shape, x.element);
    return p.addRows(p.chance(50) ? binary(p, "llm.add", zero, x)
                                  : binary(p, "llm.add", x, zero));
  }
  case 5: // Both constant.
    return p.addRows(binary(p, p.among<std::string>({"llm.add", "llm.mul"}),
                            p.constant(0.3, x.shape, x.element),
                            p.constant(1.7, x.shape, x.element)));
  default:
    return p.addRows(
        binary(p, p.among<std::string>({"llm.add", "llm.mul", "llm.swiglu"}), x,
               p.another(x)));
  }
}

static property::Value selectRows(Program &p, const property::Value &x,
                                  std::vector<int64_t> rows) {
  property::Value list = p.integers(rows);
  property::Value y{"", x.shape, x.element};
  y.shape[0] = int64_t(rows.size());
  return p.emit("llm.select_rows " + x.name + ", " + list.name + " : " +
                    typeOf(x) + ", " + typeOf(list) + " -> " + typeOf(y),
                y.shape, y.element);
}

/// A few rows of a value; selected again, or all of them in order.
static void selectPiece(Program &p) {
  property::Value x = p.rows();
  const int64_t tokens = x.shape[0];
  std::vector<int64_t> rows;
  if (p.chance(25))
    for (int64_t t = 0; t < tokens; ++t)
      rows.push_back(t);
  for (int64_t i = rows.empty() ? p.number(1, 3) : 0; i > 0; --i)
    rows.push_back(p.number(0, tokens - 1));
  property::Value y;
  switch (p.number(0, 6)) {
  case 0:
    y = selectRows(p, norm(p, x), rows);
    break;
  case 1:
    y = selectRows(p, linear(p, x, 8), rows);
    break;
  case 2:
    y = selectRows(p, unary(p, "llm.silu " + x.name, x), rows);
    break;
  case 3:
    y = selectRows(p, unary(p, "llm.gelu " + x.name, x), rows);
    break;
  case 4:
    y = selectRows(
        p,
        binary(p, p.among<std::string>({"llm.add", "llm.mul", "llm.swiglu"}), x,
               p.another(x)),
        rows);
    break;
  case 5:
    y = selectRows(p, unary(p, "llm.softmax " + x.name, x), rows);
    break;
  default:
    y = selectRows(p, x, rows);
  }
  if (p.chance(30))
    y = selectRows(p, y, {p.number(0, y.shape[0] - 1)});
  p.addResult(y);
}

/// [T, K] as heads, rotated.
static void ropePiece(Program &p) {
  property::Value x = p.rows();
  const int64_t heads = 2, size = x.shape[1] / heads;
  property::Value split{"", {x.shape[0], heads, size}, x.element};
  split = p.emit(
      "tensor.expand_shape " + x.name + " [[0], [1, 2]] output_shape [" +
          std::to_string(x.shape[0]) + ", " + std::to_string(heads) + ", " +
          std::to_string(size) + "] : " + typeOf(x) + " into " + typeOf(split),
      split.shape, x.element);
  property::Value positions =
      p.argument({x.shape[0]}, "i32", "check.range = array<i64: 0, 50>");
  property::Value y =
      p.emit("llm.rope " + split.name + ", " + positions.name +
                 " {frequencies = array<f64: 1.0, 0.1>" +
                 (p.chance(50) ? ", interleaved" : "") +
                 "} : " + typeOf(split) + ", " + typeOf(positions),
             split.shape, x.element);
  p.addRows(p.emit("tensor.collapse_shape " + y.name +
                       " [[0], [1, 2]] : " + typeOf(y) + " into " + typeOf(x),
                   x.shape, x.element));
}

static void embeddingPiece(Program &p) {
  property::Value table = p.argument({10, p.columns}, p.element);
  property::Value ids =
      p.argument({p.tokens}, "i32", "check.range = array<i64: 0, 10>");
  property::Value y{"", {p.tokens, p.columns}, "f32"};
  y = p.emit("llm.embedding " + ids.name + ", " + table.name + " : " +
                 typeOf(ids) + ", " + typeOf(table) + " -> " + typeOf(y),
             y.shape, "f32");
  if (p.element == "f32")
    p.addRows(y);
  else
    p.addResult(y);
}

/// The ops that passes create, written directly.
static void fusedPiece(Program &p) {
  property::Value x = p.rows();
  const std::string type = typeOf(x);
  property::Value g = p.argument({x.shape.back()}, x.element);
  if (p.chance(50)) {
    std::vector<std::string> both =
        p.emitMany(2, "llm.add_rms_norm " + x.name + ", " + p.another(x).name +
                          ", " + g.name + eps + type + ", " + typeOf(g));
    p.addRows({both[0], x.shape, x.element});
    if (p.chance(60))
      p.addRows({both[1], x.shape, x.element});
    return;
  }
  property::Value w = p.argument({4, x.shape.back()}, x.element);
  property::Value b = p.argument({4}, x.element);
  property::Value y{"", {x.shape[0], 4}, x.element};
  const bool hasNorm = p.chance(50), hasBias = p.chance(50);
  std::string text = "llm.fused_linear " + x.name, types = type;
  if (hasNorm) {
    text += " norm(" + g.name + ")";
    types += ", " + typeOf(g);
  }
  text += " weights(" + w.name + ", " + w.name + ")";
  types += ", " + typeOf(w) + ", " + typeOf(w);
  if (hasBias) {
    text += " biases(" + b.name + ", " + b.name + ")";
    types += ", " + typeOf(b) + ", " + typeOf(b);
  }
  if (hasNorm)
    text += " {norm_eps = 1.0e-3 : f64}";
  std::vector<std::string> outs = p.emitMany(
      2, text + " : (" + types + ") -> (" + typeOf(y) + ", " + typeOf(y) + ")");
  p.addResult(outs[0], typeOf(y));
  if (p.chance(50))
    p.addResult(outs[1], typeOf(y));
}

void llmir::property::addRowPiece(Program &p) {
  choose(p, {normPiece, linearPiece, projectionsPiece, gatedPiece,
             residualPiece, activationPiece, activationPiece, selectPiece,
             selectPiece, selectPiece, ropePiece, embeddingPiece, fusedPiece});
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// A weight quantized in the program, and its uses.
void llmir::property::addQuantPiece(Program &p) {
  property::Value x = p.rows();
  const int64_t inputs = x.shape.back(), outputs = 4;
  const bool isTransposed = p.chance(60), symmetric = p.chance(60);
  const int64_t bits = p.among<int64_t>({4, 8, 8, 16});
  const int64_t axis = p.among<int64_t>({-1, 0, 1});
  const int64_t group = p.chance(50) ? 4 : -1;
  property::Value w = isTransposed ? p.argument({outputs, inputs}, "f32")
                                   : p.argument({inputs, outputs}, "f32");
  const int64_t groupedDim = axis == 1 ? 0 : 1;
  Shape grid = {1};
  if (group > 0 && group < w.shape[size_t(groupedDim)]) {
    grid = w.shape;
    grid[size_t(groupedDim)] /= group;
  } else if (axis >= 0) {
    grid = {w.shape[size_t(axis)]};
  }
  property::Value s{"", grid, "f32"}, z{"", grid, bits == 16 ? "i16" : "i8"};
  const std::string params =
      "llm.quant_params " + w.name + " {bits = " + std::to_string(bits) +
      ", symmetric = " + (symmetric ? "true" : "false") +
      ", axis = " + std::to_string(axis) +
      ", group_size = " + std::to_string(group) + "} : (" + typeOf(w) + ") -> ";
  std::vector<std::string> names =
      symmetric
          ? p.emitMany(1, params + typeOf(s))
          : p.emitMany(2, params + "(" + typeOf(s) + ", " + typeOf(z) + ")");
  const std::string scales =
      ", " + names[0] + (symmetric ? "" : ", " + names[1]);
  const std::string scaleTypes =
      ", " + typeOf(s) + (symmetric ? "" : ", " + typeOf(z));
  const std::string type =
      "!llm.quantized_tensor<i" + std::to_string(bits) + ", [" +
      std::to_string(w.shape[0]) + ", " + std::to_string(w.shape[1]) + "], " +
      (symmetric ? "true" : "false") + ", " + (axis >= 0 ? "true" : "false") +
      ", " + std::to_string(axis) + ", " + std::to_string(group) + ", " +
      std::to_string(bits) + ">";
  const std::string q =
      p.emitMany(1, "llm.quantize " + w.name + scales + " : (" + typeOf(w) +
                        scaleTypes + ") -> " + type)[0];
  property::Value y{"", {x.shape[0], outputs}, x.element};
  if (p.chance(40)) {
    std::string attributes = isTransposed ? "transpose_rhs" : "";
    if (p.chance(40))
      attributes += (attributes.empty() ? "" : ", ") +
                    std::string("activation_bits = 8, activation_group = 4");
    y = p.emit("llm.quantized_matmul " + x.name + ", " + q + scales + " {" +
                   attributes + "} : (" + typeOf(x) + ", " + type + scaleTypes +
                   ") -> " + typeOf(y),
               y.shape, y.element);
    return p.addResult(p.chance(50) ? selectRows(p, y, {0}) : y);
  }
  property::Value d{"", w.shape, x.element};
  d = p.emit("llm.dequantize " + q + scales + " : (" + type + scaleTypes +
                 ") -> " + typeOf(d),
             w.shape, x.element);
  if (isTransposed)
    return p.addResult(p.emit("llm.linear " + x.name + ", " + d.name + " : " +
                                  typeOf(x) + ", " + typeOf(d) + " -> " +
                                  typeOf(y),
                              y.shape, y.element));
  property::Value zeros = p.constant(0, y.shape, y.element);
  p.addResult(p.emit("linalg.matmul ins(" + x.name + ", " + d.name + " : " +
                         typeOf(x) + ", " + typeOf(d) + ") outs(" + zeros.name +
                         " : " + typeOf(zeros) + ") -> " + typeOf(y),
                     y.shape, y.element));
}

//===----------------------------------------------------------------------===//
// Experts and tokens
//===----------------------------------------------------------------------===//

void llmir::property::addExpertPiece(Program &p) {
  property::Value x = p.rows();
  const int64_t numExperts = 3, top = p.number(1, 3), inner = 4;
  property::Value l = linear(p, x, numExperts);
  if (p.chance(40)) {
    property::Value ids{"", {x.shape[0]}, "i32"};
    return p.addResult(
        p.emit("llm.sample " + l.name +
                   p.among<std::string>(
                       {"", " {temperature = 0.8, seed = 5}",
                        " {temperature = 1.5, top_k = 2, top_p = 0.9}"}) +
                   " : (" + typeOf(l) + ") -> " + typeOf(ids),
               ids.shape, "i32"));
  }
  property::Value e{"", {x.shape[0], top}, "i32"};
  property::Value w{"", {x.shape[0], top}, x.element};
  std::vector<std::string> route = p.emitMany(
      2, "llm.moe_route " + l.name + " {top_k = " + std::to_string(top) +
             p.among<std::string>(
                 {"", ", score = \"sigmoid\"", ", normalize = false"}) +
             "} : (" + typeOf(l) + ") -> (" + typeOf(e) + ", " + typeOf(w) +
             ")");
  property::Value gate =
      p.argument({numExperts, inner, x.shape.back()}, x.element);
  property::Value up = p.argument(gate.shape, x.element);
  property::Value down =
      p.argument({numExperts, x.shape.back(), inner}, x.element);
  p.addRows(p.emit("llm.moe_ffn " + x.name + ", " + route[0] + ", " + route[1] +
                       ", " + gate.name + ", " + up.name + ", " + down.name +
                       " : (" + typeOf(x) + ", " + typeOf(e) + ", " +
                       typeOf(w) + ", " + typeOf(gate) + ", " + typeOf(up) +
                       ", " + typeOf(down) + ") -> " + typeOf(x),
                   x.shape, x.element));
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

void llmir::property::addRankPiece(Program &p, int64_t numRanks) {
  property::Value x = p.rows(); // The same on every rank.
  const std::string group = "group_size = " + std::to_string(numRanks);
  const int64_t outputs = numRanks * p.number(1, 2);
  property::Value w = p.argument({outputs, x.shape[1]}, x.element);
  property::Value part{"", {outputs / numRanks, x.shape[1]}, x.element};
  part = p.emit("llm.shard " + w.name +
                    " {dim = 0, num_shards = " + std::to_string(numRanks) +
                    "} : (" + typeOf(w) + ") -> " + typeOf(part),
                part.shape, x.element);
  property::Value y{"", {x.shape[0], outputs / numRanks}, x.element};
  y = p.emit("llm.linear " + x.name + ", " + part.name + " : " + typeOf(x) +
                 ", " + typeOf(part) + " -> " + typeOf(y),
             y.shape, x.element);
  property::Value whole{"", {x.shape[0], outputs}, x.element};
  whole = p.emit("llm.all_gather " + y.name + " {dim = 1, " + group + "} : (" +
                     typeOf(y) + ") -> " + typeOf(whole),
                 whole.shape, x.element);
  if (p.chance(40))
    p.addResult(whole);
  if (p.chance(40)) { // Back to the part that was gathered.
    property::Value back =
        p.emit("llm.shard " + whole.name +
                   " {dim = 1, num_shards = " + std::to_string(numRanks) +
                   "} : (" + typeOf(whole) + ") -> " + typeOf(y),
               y.shape, x.element);
    p.addResult(back.name, typeOf(y), "llm.shard_dim = 1 : i64");
  }
  if (p.chance(40)) // Each rank's part of the caller's result.
    p.addResult(y.name, typeOf(y), "llm.shard_dim = 1 : i64");
  const std::string reduction =
      p.among<std::string>({"", ", reduce_op = \"mean\"",
                            ", reduce_op = \"max\"", ", reduce_op = \"min\""});
  property::Value a =
      p.argument({x.shape[0], numRanks}, x.element, "llm.shard_dim = 0 : i64");
  property::Value slice{"", {x.shape[0], 1}, x.element};
  if (p.chance(50)) { // Everywhere, or cut again.
    property::Value all =
        p.emit("llm.all_reduce " + a.name + " {" + group + reduction + "} : (" +
                   typeOf(a) + ") -> " + typeOf(a),
               a.shape, x.element);
    if (p.chance(50))
      return p.addResult(all);
    slice = p.emit("llm.shard " + all.name +
                       " {dim = 1, num_shards = " + std::to_string(numRanks) +
                       "} : (" + typeOf(all) + ") -> " + typeOf(slice),
                   slice.shape, x.element);
    return p.addResult(slice.name, typeOf(slice), "llm.shard_dim = 1 : i64");
  }
  slice = p.emit("llm.reduce_scatter " + a.name + " {dim = 1, " + group +
                     reduction + "} : (" + typeOf(a) + ") -> " + typeOf(slice),
                 slice.shape, x.element);
  if (p.chance(40))
    return p.addResult(p.emit("llm.all_gather " + slice.name + " {dim = 1, " +
                                  group + "} : (" + typeOf(slice) + ") -> " +
                                  typeOf(a),
                              a.shape, x.element));
  p.addResult(slice.name, typeOf(slice), "llm.shard_dim = 1 : i64");
}
