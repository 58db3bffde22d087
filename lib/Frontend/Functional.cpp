//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/Functional.h"

#include "Emit.h"

#include "llmir/Dialect/MLLM/MLLMElementwiseOps.h"
#include "llmir/Dialect/MLLM/MLLMShapeOps.h"

using namespace mllm;

namespace mllm::nn::F {

static Tensor unary(const char *op, const Tensor &x) {
  return mllm::Call(op, {x}).one();
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

Tensor matmul(const Tensor &a, const Tensor &b, bool transposeA,
              bool transposeB) {
  return mllm::Call("mllm.linalg.matmul", {a, b})
      .flag("transpose_a", transposeA)
      .flag("transpose_b", transposeB)
      .one();
}

Tensor softmax(const Tensor &x, int64_t axis) {
  return mllm::Call("mllm.linalg.softmax", {x}).i64("axis", axis).one();
}

Tensor silu(const Tensor &x) { return unary("mllm.linalg.silu", x); }
Tensor gelu(const Tensor &x, bool exact) {
  mllm::Call call("mllm.linalg.gelu", {x});
  if (exact)
    call.str("approximate", "none");
  return call.one();
}
Tensor quickGelu(const Tensor &x) { return unary("mllm.linalg.quick_gelu", x); }
Tensor relu(const Tensor &x) { return unary("mllm.linalg.relu", x); }
Tensor sigmoid(const Tensor &x) { return unary("mllm.linalg.sigmoid", x); }
Tensor exp(const Tensor &x) { return unary("mllm.linalg.exp", x); }
Tensor log(const Tensor &x) { return unary("mllm.linalg.log", x); }
Tensor sin(const Tensor &x) { return unary("mllm.linalg.sin", x); }
Tensor cos(const Tensor &x) { return unary("mllm.linalg.cos", x); }
Tensor abs(const Tensor &x) { return unary("mllm.linalg.abs", x); }

Tensor clip(const Tensor &x, double least, double greatest) {
  return mllm::Call("mllm.linalg.clip", {x})
      .f64("min_val", least)
      .f64("max_val", greatest)
      .one();
}

static mllm::Call filled(const Tensor &x, llmir::mllm::FillKind kind) {
  mllm::Call call("mllm.linalg.fill", {x});
  call.attribute("kind", [=](mlir::Builder &b) {
    return llmir::mllm::FillKindAttr::get(b.getContext(), kind);
  });
  return call;
}

Tensor zerosLike(const Tensor &x) {
  return filled(x, llmir::mllm::FillKind::Zeros).one();
}
Tensor onesLike(const Tensor &x) {
  return filled(x, llmir::mllm::FillKind::Ones).one();
}
Tensor fullLike(const Tensor &x, double value) {
  return filled(x, llmir::mllm::FillKind::Specific).f64("value", value).one();
}
Tensor arangeLike(const Tensor &x, double start, double step) {
  return filled(x, llmir::mllm::FillKind::Arange)
      .f64("start", start)
      .f64("step", step)
      .one();
}
Tensor randomLike(const Tensor &x, double start, double end, int64_t seed) {
  return filled(x, llmir::mllm::FillKind::Random)
      .f64("start", start)
      .f64("end", end)
      .i64("seed", seed)
      .one();
}

Tensor copy(const Tensor &place, const Tensor &source) {
  return mllm::Call("mllm.linalg.copy", {place, source}).one();
}

Tensor logicalAnd(const Tensor &a, const Tensor &b) {
  return mllm::Call("mllm.linalg.logical_and", {a, b}).one();
}
Tensor logicalOr(const Tensor &a, const Tensor &b) {
  return mllm::Call("mllm.linalg.logical_or", {a, b}).one();
}
Tensor logicalNot(const Tensor &x) {
  return unary("mllm.linalg.logical_not", x);
}

//===----------------------------------------------------------------------===//
// Concatenation and selection
//===----------------------------------------------------------------------===//

/// An op of any number of operands, at least one.
static Tensor joined(const char *op, const std::vector<Tensor> &parts,
                     int64_t dim) {
  if (!parts.empty())
    return mllm::Call(op, parts).i64("dim", dim).one();
  Engine &engine = engineOf(parts);
  return engine.fail(engine.location(nullptr),
                     std::string(op) + " has no operands",
                     "give it at least one tensor");
}

Tensor concat(const std::vector<Tensor> &parts, int64_t dim) {
  return joined("mllm.linalg.concat", parts, dim);
}

Tensor stack(const std::vector<Tensor> &parts, int64_t dim) {
  return joined("mllm.linalg.stack", parts, dim);
}

Tensor gather(const Tensor &table, const Tensor &indices, int64_t dim) {
  return joined("mllm.linalg.gather", {table, indices}, dim);
}

Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b) {
  return mllm::Call("mllm.linalg.where", {condition, a, b}).one();
}

/// Starts, ends and steps of a range for each dimension of x.
static mllm::Call &ranged(mllm::Call &call, const std::vector<Range> &ranges) {
  std::vector<int64_t> starts, ends, steps;
  for (const Range &range : ranges) {
    starts.push_back(range.start);
    ends.push_back(range.end);
    steps.push_back(range.step);
  }
  return call.i64s("starts", starts).i64s("ends", ends).i64s("steps", steps);
}

Tensor slice(const Tensor &x, std::vector<Range> ranges) {
  if (x.isValid() && x.rank() > static_cast<int64_t>(ranges.size()))
    ranges.resize(static_cast<size_t>(x.rank()));
  mllm::Call call("mllm.linalg.slice", {x});
  return ranged(call, ranges).one();
}

Tensor index(const Tensor &x, std::vector<Indexer> indexers) {
  if (x.isValid() && x.rank() > static_cast<int64_t>(indexers.size()))
    indexers.resize(static_cast<size_t>(x.rank()));
  std::vector<Tensor> operands = {x};
  std::vector<int64_t> dims;
  std::vector<Range> ranges;
  for (size_t d = 0; d < indexers.size(); ++d) {
    const bool isTensor = indexers[d].isTensor;
    if (isTensor) {
      operands.push_back(indexers[d].indices);
      dims.push_back(static_cast<int64_t>(d));
    }
    ranges.push_back(isTensor ? Range() : indexers[d].range);
  }
  mllm::Call call("mllm.linalg.index", operands);
  call.i64s("dims", dims);
  return ranged(call, ranges).one();
}

Tensor scatter(const Tensor &x, const Tensor &indices, const Tensor &source,
               int64_t dim) {
  return mllm::Call("mllm.linalg.scatter", {x, indices, source})
      .i64("dim", dim)
      .one();
}

Tensor maskedScatter(const Tensor &x, const Tensor &mask,
                     const Tensor &source) {
  return mllm::Call("mllm.linalg.masked_scatter", {x, mask, source}).one();
}

Tensor pad(const Tensor &x, const std::vector<int64_t> &low,
           const std::vector<int64_t> &high, const std::string &mode,
           double value) {
  std::optional<llmir::mllm::PadMode> known =
      llmir::mllm::symbolizePadMode(mode);
  if (!known) {
    Engine &engine = engineOf({x});
    return engine.fail(engine.location(nullptr),
                       "'" + mode + "' is not a padding mode",
                       "use constant, reflect, replicate or circular");
  }
  mllm::Call call("mllm.linalg.pad", {x});
  call.attribute("mode", [=](mlir::Builder &b) {
    return llmir::mllm::PadModeAttr::get(b.getContext(), *known);
  });
  if (*known == llmir::mllm::PadMode::Constant || value != 0)
    call.f64("value", value);
  return call.i64s("low", low).i64s("high", high).one();
}

//===----------------------------------------------------------------------===//
// Along a dimension
//===----------------------------------------------------------------------===//

static Tensor reduced(const char *op, const Tensor &x, int64_t dim,
                      bool keepDim) {
  return mllm::Call(op, {x}).i64("dim", dim).flag("keep_dim", keepDim).one();
}

Tensor max(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.reduce_max", x, dim, keepDim);
}
Tensor min(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.reduce_min", x, dim, keepDim);
}
Tensor sum(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.reduce_sum", x, dim, keepDim);
}
Tensor mean(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.mean", x, dim, keepDim);
}

std::pair<Tensor, Tensor> topk(const Tensor &x, int64_t k, int64_t dim,
                               bool largest, bool sorted) {
  std::vector<Tensor> results = mllm::Call("mllm.linalg.top_k", {x})
                                    .i64("k", k)
                                    .i64("dim", dim)
                                    .boolean("largest", largest)
                                    .boolean("sorted", sorted)
                                    .all(2);
  return {results[0], results[1]};
}

Tensor argsort(const Tensor &x, int64_t dim, bool descending) {
  return mllm::Call("mllm.linalg.argsort", {x})
      .i64("dim", dim)
      .boolean("descending", descending)
      .one();
}

Tensor interpolate(const Tensor &x, const std::vector<int64_t> &size,
                   const std::string &mode, bool alignCorners, bool antialias) {
  return mllm::Call("mllm.linalg.interpolate", {x})
      .i64s("size", size)
      .str("mode", mode)
      .flag("align_corners", alignCorners)
      .flag("antialias", antialias)
      .one();
}

Tensor interpolateBy(const Tensor &x, const std::vector<double> &factors,
                     const std::string &mode, bool alignCorners,
                     bool antialias) {
  return mllm::Call("mllm.linalg.interpolate", {x})
      .f64s("scale_factor", factors)
      .str("mode", mode)
      .flag("align_corners", alignCorners)
      .flag("antialias", antialias)
      .one();
}

//===----------------------------------------------------------------------===//
// Custom functions
//===----------------------------------------------------------------------===//

std::vector<Tensor> customized(const std::string &name, int64_t id,
                               const std::vector<Tensor> &inputs,
                               const std::vector<ResultType> &results) {
  mllm::Call call("mllm.linalg.customized", inputs);
  call.str("name", name).i64("id", id);
  for (const ResultType &result : results)
    call.result(result.shape, result.dtype);
  return call.all(results.size());
}

} // namespace mllm::nn::F
