//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers: states in place of keys and values.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Support/Status.h"

#include "LinalgCosts.h"
#include "llmir/ABI/StateRecord.h"
#include "llmir/Dialect/MLLM/ShapeRules.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;
using shapes::DimExpr;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMStateOps.cpp.inc"

/// Convolutions of more taps have other implementations.
static constexpr int64_t kMaxTaps = 64;

static Status checkLayer(IntegerAttr layer) {
  if (layer.getInt() >= 0)
    return Status::ok();
  return shapes::shapeError("'layer' is " + std::to_string(layer.getInt()) +
                            ", expected 0 or more");
}

static Status checkOneKind(ValueRange values) {
  LLMIR_RETURN_IF_ERROR(checkSameElements(values));
  return checkSameDevice(values);
}

//===----------------------------------------------------------------------===//
// CausalConvOp
//===----------------------------------------------------------------------===//

Expected<ResultTypes> CausalConvOp::inferResults(Adaptor op) {
  const shapes::Shape x = shapeOf(op.getX()), weight = shapeOf(op.getWeight());
  if (!DimExpr::mayEqual(x[1], weight[1])) // c1
    return shapes::shapeError("has rows of " + x[1].str() +
                              " channels, but factors of " + weight[1].str());
  std::optional<int64_t> taps = weight[0].constant();
  if (taps && (*taps < 1 || *taps > kMaxTaps)) // c2
    return shapes::shapeError("has " + std::to_string(*taps) +
                              " factors for each channel, expected 1 to " +
                              std::to_string(kMaxTaps));
  LLMIR_RETURN_IF_ERROR(checkLayer(op.getLayerAttr()));             // c3
  LLMIR_RETURN_IF_ERROR(checkOneKind({op.getX(), op.getWeight()})); // c4
  return sameAs(op.getX());                                         // c5
}

std::optional<int64_t> CausalConvOp::getFlops() {
  return scaled(detail::numResultValues(*this),
                {2, tensorType(getWeight()).getDimSize(0)});
}

//===----------------------------------------------------------------------===//
// LinearAttentionOp
//===----------------------------------------------------------------------===//

/// Checks a factor per token and value head. (c2, c4)
static Status checkFactors(Value factors, const char *name,
                           const shapes::Shape &v) {
  const shapes::Shape shape = shapeOf(factors);
  if (DimExpr::mayEqual(shape[0], v[0]) && DimExpr::mayEqual(shape[1], v[1]))
    return Status::ok();
  return shapes::shapeError("has values of shape " + shapes::str(v) + ", but " +
                            name + " of shape " + shapes::str(shape) +
                            ", expected one per token and head");
}

Expected<ResultTypes> LinearAttentionOp::inferResults(Adaptor op) {
  const shapes::Shape q = shapeOf(op.getQ()), k = shapeOf(op.getK()),
                      v = shapeOf(op.getV());
  if (!shapes::sameShape(q, k)) // c1
    return shapes::shapeError("has queries of shape " + shapes::str(q) +
                              ", but keys of shape " + shapes::str(k));
  if (!DimExpr::mayEqual(k[0], v[0])) // c2
    return shapes::shapeError("has keys of " + k[0].str() +
                              " tokens, but values of " + v[0].str());
  std::optional<int64_t> heads = v[1].constant(), keyHeads = k[1].constant();
  if (heads && keyHeads && (*keyHeads == 0 || *heads % *keyHeads != 0)) // c3
    return shapes::shapeError("has " + std::to_string(*heads) +
                              " value heads, expected a multiple of the " +
                              std::to_string(*keyHeads) + " key heads");
  // c2, c4
  LLMIR_RETURN_IF_ERROR(checkFactors(op.getDecay(), "decays", v));
  SmallVector<Value> all{op.getQ(), op.getK(), op.getV(), op.getDecay()};
  if (op.getBeta()) {
    LLMIR_RETURN_IF_ERROR(checkFactors(op.getBeta(), "betas", v));
    all.push_back(op.getBeta());
  }
  LLMIR_RETURN_IF_ERROR(checkLayer(op.getLayerAttr())); // c5
  LLMIR_RETURN_IF_ERROR(checkOneKind(all));             // c6
  return sameAs(op.getV());                             // c7
}

/// The decay, the update and the query of a matrix; the delta rule reads it
/// once more.
std::optional<int64_t> LinearAttentionOp::getFlops() {
  return scaled(detail::numResultValues(*this),
                {getBeta() ? 7 : 5, tensorType(getK()).getDimSize(2)});
}

//===----------------------------------------------------------------------===//
// StateLayout
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxPartFloats = int64_t(1) << 31;

/// Sets `part` to at least the size, of factors that are sizes of types.
static llmir::Status enlarge(int64_t &part, ArrayRef<int64_t> factors) {
  std::optional<int64_t> size = scaled(1, factors);
  if (!size)
    return llmir::Status(llmir::StatusCode::Unsupported,
                         "keeps a state of dynamic size; only the number of "
                         "tokens may be dynamic");
  if (*size > kMaxPartFloats)
    return llmir::Status(llmir::StatusCode::Unsupported,
                         "keeps " + std::to_string(*size) +
                             " elements of a sequence; at most " +
                             std::to_string(kMaxPartFloats) + " are supported");
  part = std::max(part, *size);
  return llmir::Status::ok();
}

FailureOr<StateLayout> StateLayout::of(ModuleOp module) {
  StateLayout layout;
  auto addLayer = [&](uint64_t layer) {
    layout.layers = std::max<int64_t>(layout.layers, layer + 1);
  };
  auto lanes = [](int64_t size) {
    return ShapedType::isDynamic(size) ? size : wholeStateLanes(size);
  };
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    llmir::Status enlarged;
    if (auto conv = dyn_cast<CausalConvOp>(op)) {
      addLayer(conv.getLayer());
      ArrayRef<int64_t> shape = tensorType(conv.getWeight()).getShape();
      // tailFloats()
      enlarged =
          enlarge(layout.tail,
                  {ShapedType::isDynamic(shape[0]) ? shape[0] : shape[0] - 1,
                   lanes(shape[1])});
    }
    if (auto attention = dyn_cast<LinearAttentionOp>(op)) {
      addLayer(attention.getLayer());
      ArrayRef<int64_t> v = tensorType(attention.getV()).getShape();
      // matrixFloats()
      enlarged = enlarge(
          layout.matrices,
          {v[1], tensorType(attention.getK()).getDimSize(2), lanes(v[2])});
    }
    if (!enlarged)
      return op->emitOpError(enlarged.message());
    return success();
  });
  if (walk.wasInterrupted())
    return failure();
  if (layout.layers > 0 && layout.tail + layout.matrices == 0)
    layout.tail = kStateLanes; // Convolutions of one token; a record exists.
  return layout;
}
