//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "llmir/Dialect/MLLM/ShapeRules.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"
#include "llmir/MLLMText/Text.h"
#include "llmir/Reference/Elementwise.h"

#include <cmath>
#include <cstdio>

using namespace mlir;
using namespace llmir;
using shapes::DimExpr;

namespace mllm {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Supported types. See llmir/MLLMText/Text.h for their MLIR types.
static constexpr std::pair<DataTypes, reference::ElementKind> kKinds[] = {
    {kFp32, reference::ElementKind::F32},
    {kFp16, reference::ElementKind::F16},
    {kBf16, reference::ElementKind::BF16},
    {kInt64, reference::ElementKind::I64},
    {kInt32, reference::ElementKind::I32},
    {kInt16, reference::ElementKind::I16},
    {kInt8, reference::ElementKind::I8},
    {kBool, reference::ElementKind::I1}};

std::optional<reference::ElementKind> elementKind(DataTypes dtype) {
  for (auto [type, kind] : kKinds)
    if (type == dtype)
      return kind;
  return std::nullopt;
}

static DataTypes dataTypeOf(reference::ElementKind kind) {
  for (auto [type, each] : kKinds)
    if (each == kind)
      return type;
  return kInt8; // 4-bit elements are stored as 8-bit ones.
}

Type elementType(MLIRContext *context, DataTypes dtype) {
  return elementKind(dtype) ? llmir::mllm::elementType(*context, dtype)
                            : Type();
}

RankedTensorType tensorType(MLIRContext *context, const shapes::Shape &dims,
                            DataTypes dtype, DeviceTypes device) {
  Type element = elementType(context, dtype);
  for (const DimExpr &size : dims)
    if (size.constant().value_or(0) < 0)
      return {};
  if (!element)
    return {};
  return llmir::mllm::makeTensorType(dims, element,
                                     static_cast<llmir::mllm::Device>(device));
}

std::shared_ptr<detail::TensorImpl> tensorOf(RankedTensorType type) {
  auto impl = std::make_shared<detail::TensorImpl>();
  impl->dims = llmir::mllm::shapeOf(type);
  impl->dtype = *llmir::mllm::dataTypeOf(type.getElementType());
  impl->device = static_cast<DeviceTypes>(llmir::mllm::deviceOf(type));
  return impl;
}

const reference::Tensor *elementsOf(const Tensor &tensor) {
  return tensor.hasValues() ? &*tensor.get()->numbers : nullptr;
}

Tensor fromElements(reference::Tensor elements, DeviceTypes device) {
  auto impl = std::make_shared<detail::TensorImpl>();
  impl->device = device;
  impl->dims.assign(elements.shape.begin(), elements.shape.end());
  impl->dtype = dataTypeOf(elements.kind);
  impl->numbers = std::move(elements);
  return Tensor(std::move(impl));
}

//===----------------------------------------------------------------------===//
// Failure outside a trace
//===----------------------------------------------------------------------===//

static Status &firstFailure() {
  thread_local Status kept;
  return kept;
}

const Status &status() { return firstFailure(); }
void clearStatus() { firstFailure() = Status(); }

Tensor failEagerly(Status failure) {
  std::fprintf(stderr, "mllm: %s\n", failure.message().c_str());
  if (firstFailure())
    firstFailure() = std::move(failure);
  return {};
}

//===----------------------------------------------------------------------===//
// Creation of tensors
//===----------------------------------------------------------------------===//

Dim dim(std::string name) {
  if (std::optional<Dim> read = Dim::parse(name);
      read && *read == Dim::symbol(name))
    return *read;
  failEagerly(Status(
      StatusCode::InvalidArgument,
      "mllm::dim(\"" + name + "\"): not a valid name of a size",
      "use letters, digits, '_' and '.', starting with a letter or '_'"));
  return -1;
}

Tensor Tensor::empty(std::vector<Dim> shape, DataTypes dtype,
                     DeviceTypes device) {
  for (Dim &size : shape) {
    if (size.constant() == kSymbolic)
      size = Dim::unknown();
    if (size.constant().value_or(0) < 0)
      return failEagerly(
          Status(StatusCode::InvalidArgument,
                 "Tensor::empty: a size of " + size.str() + " is negative"));
  }
  auto impl = std::make_shared<detail::TensorImpl>();
  impl->dims = std::move(shape);
  impl->dtype = dtype;
  impl->device = device;
  return Tensor(std::move(impl));
}

Tensor Tensor::fromVector(const std::vector<int64_t> &shape,
                          std::vector<double> numbers, DataTypes dtype) {
  std::optional<reference::ElementKind> kind = elementKind(dtype);
  if (!kind)
    return failEagerly(
        Status(StatusCode::Unsupported,
               std::string("LLMIR does not support ") + dataTypeName(dtype)));
  if (Status checked = reference::checkAffordable(shape); !checked)
    return failEagerly(std::move(checked));
  if (!reference::isFloat(*kind))
    for (double &number : numbers) {
      if (!std::isfinite(number))
        return failEagerly(Status(StatusCode::InvalidArgument,
                                  "an integer cannot be infinite or NaN"));
      if (number < -0x1p63 || number >= 0x1p63)
        return failEagerly(Status(StatusCode::OutOfRange,
                                  "an element overflows 64-bit integers"));
      number = std::trunc(number);
    }
  if (reference::numElements(shape) != static_cast<int64_t>(numbers.size()))
    return failEagerly(
        Status(StatusCode::InvalidArgument,
               std::to_string(numbers.size()) +
                   " elements do not match the shape of " +
                   std::to_string(reference::numElements(shape))));
  return fromElements(reference::round(
      reference::Tensor(*kind, shape, std::move(numbers)), *kind));
}

Tensor Tensor::full(const std::vector<int64_t> &shape, double number,
                    DataTypes dtype) {
  if (Status checked = reference::checkAffordable(shape); !checked)
    return failEagerly(std::move(checked));
  return fromVector(
      shape,
      std::vector<double>(static_cast<size_t>(reference::numElements(shape)),
                          number),
      dtype);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool Tensor::hasValues() const { return impl && impl->numbers.has_value(); }

/// Fails the trace, since C++ reads elements of a traced tensor at `place`.
static void failUnknownValue(Engine &tracer, const std::string &place,
                             const std::string &question) {
  tracer.fail(tracer.location(nullptr),
              place + ": " + question +
                  " reads the value of a traced tensor, which is not known yet",
              "use mllm::ir::if_ or mllm::ir::while_ for control flow, and "
              "tensor operations otherwise");
}

static std::string lineOf(const char *file, int line) {
  return std::string(file) + ":" + std::to_string(line);
}

/// Describes a traced tensor: the line of the operator that created it,
/// otherwise its op or input.
static std::string originOf(const detail::TensorImpl &traced) {
  if (traced.file)
    return lineOf(traced.file, traced.line);
  if (auto argument = dyn_cast<BlockArgument>(traced.value))
    return "input #" + std::to_string(argument.getArgNumber());
  return "a result of " +
         traced.value.getDefiningOp()->getName().getStringRef().str();
}

std::vector<double> Tensor::toVector(const char *file, int line) const {
  if (hasValues())
    return impl->numbers->toDoubles();
  if (!impl || !impl->tracer())
    return {};
  failUnknownValue(*impl->tracer(), lineOf(file, line), "toVector()");
  // C++ code may continue to index the result.
  constexpr int64_t most = 1 << 28; // Larger tensors are rejected everywhere.
  const int64_t count = shapes::numElements(dims()).constant().value_or(0);
  return std::vector<double>(static_cast<size_t>(std::min(count, most)));
}

double Tensor::item(const char *file, int line) const {
  if (impl && impl->tracer()) {
    failUnknownValue(*impl->tracer(), lineOf(file, line), "item()");
    return 0;
  }
  if (hasValues() && impl->numbers->size() == 1)
    return (*impl->numbers)[0];
  failEagerly(
      Status(StatusCode::InvalidArgument,
             impl && impl->isStale()
                 ? "the value of a tensor is read after the end of its trace"
                 : "item() of a tensor that does not have a single element"));
  return 0;
}

Tensor::operator bool() const {
  if (!impl || !impl->tracer())
    return impl && item() != 0;
  // The value may be dead after a failure.
  Engine &tracer = *impl->tracer();
  if (!tracer.hasFailed())
    failUnknownValue(tracer, originOf(*impl), "a C++ condition");
  return false;
}

/// The properties of a null tensor, which operations after a failure may query.
static const detail::TensorImpl &known(const detail::TensorImpl *impl) {
  static const detail::TensorImpl nothing;
  return impl ? *impl : nothing;
}

int64_t Tensor::rank() const { return static_cast<int64_t>(dims().size()); }

int64_t Tensor::size(int64_t dim) const {
  const int64_t at = dim < 0 ? dim + rank() : dim;
  if (at < 0 || at >= rank())
    return 0;
  return dims()[static_cast<size_t>(at)].constant().value_or(kSymbolic);
}

std::vector<int64_t> Tensor::shape() const {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < rank(); ++i)
    result.push_back(size(i));
  return result;
}

const shapes::Shape &Tensor::dims() const { return known(impl.get()).dims; }
DataTypes Tensor::dtype() const { return known(impl.get()).dtype; }
DeviceTypes Tensor::device() const { return known(impl.get()).device; }

//===----------------------------------------------------------------------===//
// Copies and transfers
//===----------------------------------------------------------------------===//

/// Resolves the shape argument of view().
static Expected<shapes::Shape> viewShape(const shapes::Shape &from,
                                         const std::vector<int64_t> &to) {
  std::vector<DimExpr> dynamic;
  for (const DimExpr &size : from)
    if (!size.isConstant())
      dynamic.push_back(size);
  // Dynamic sizes cancel on both sides; the rest of the shape is static.
  shapes::Shape result, rest;
  std::vector<int64_t> numbers;
  std::vector<size_t> places; // Positions of the static sizes in the result.
  size_t next = 0;
  bool isInferred = false;
  for (int64_t size : to) {
    if (size == kSymbolic && next < dynamic.size()) {
      result.push_back(dynamic[next++]);
      continue;
    }
    numbers.push_back(size == kSymbolic ? -1 : size);
    isInferred |= numbers.back() == -1;
    places.push_back(result.size());
    result.push_back(numbers.back());
  }
  if (!isInferred)
    return result;
  size_t matched = 0;
  for (const DimExpr &size : from)
    if (size.isConstant() || matched++ >= next)
      rest.push_back(size);
  Expected<shapes::Shape> whole = shapes::reshape(rest, numbers);
  if (!whole)
    return whole;
  for (size_t i = 0; i < places.size(); ++i)
    result[places[i]] = (*whole)[i];
  return result;
}

/// Whether mllm.linalg.view supports the shapes: it preserves dynamic sizes in
/// order.
static bool isView(const shapes::Shape &from, const shapes::Shape &to) {
  auto split = [](const shapes::Shape &shape, shapes::Shape &dynamic) {
    DimExpr values = 1;
    for (const DimExpr &size : shape)
      if (size.isConstant())
        values = values * size;
      else
        dynamic.push_back(size);
    return values;
  };
  shapes::Shape before, after;
  return split(from, before) == split(to, after) &&
         std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const DimExpr &a, const DimExpr &b) {
                      return a == b || (!a.isKnown() && !b.isKnown());
                    });
}

Tensor Tensor::view(const std::vector<int64_t> &shape) const {
  if (!impl)
    return Call("mllm.linalg.view", {*this}).one();
  auto refuse = [&](const std::string &why) {
    Engine &engine = engineOf({*this});
    return engine.fail(engine.location(nullptr), why, fitAdvice);
  };
  Expected<shapes::Shape> wanted = viewShape(impl->dims, shape);
  if (!wanted)
    return refuse(wanted.status().cause());
  if (isView(impl->dims, *wanted) || !llvm::is_contained(shape, -1))
    return Call("mllm.linalg.view", {*this}).result(*wanted).one();
  // A -1 that absorbs a dynamic size requires mllm.linalg.reshape, which does
  // not support kSymbolic.
  if (llvm::is_contained(shape, kSymbolic))
    return refuse(
        "cannot view " + shapes::str(impl->dims) + " as " +
        shapes::str(*wanted) +
        ": a -1 together with kSymbolic cannot absorb a dynamic size");
  return reshape(shape);
}

Tensor Tensor::reshape(const std::vector<int64_t> &shape) const {
  return Call("mllm.linalg.reshape", {*this}).i64s("shape", shape).one();
}

Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return Call("mllm.linalg.transpose", {*this})
      .i64("dim0", dim0)
      .i64("dim1", dim1)
      .one();
}

Tensor Tensor::permute(const std::vector<int64_t> &axes) const {
  return Call("mllm.linalg.permute", {*this}).i64s("axes", axes).one();
}

Tensor Tensor::contiguous() const {
  return Call("mllm.linalg.contiguous", {*this}).one();
}

Tensor Tensor::clone() const {
  return Call("mllm.linalg.clone", {*this}).one();
}

Tensor Tensor::repeat(int64_t dim, int64_t times) const {
  return Call("mllm.linalg.repeat", {*this})
      .i64("dim", dim)
      .i64("times", times)
      .one();
}

Tensor Tensor::to(DataTypes dtype) const {
  return Call("mllm.linalg.cast_type", {*this})
      .attribute("dtype",
                 [=](Builder &b) {
                   Type type = elementType(b.getContext(), dtype);
                   return TypeAttr::get(type ? type : b.getNoneType());
                 })
      .one();
}

Tensor Tensor::to(DeviceTypes device) const {
  return Call("mllm.linalg.x2x", {*this})
      .attribute("device",
                 [=](Builder &b) {
                   return llmir::mllm::DeviceAttr::get(
                       b.getContext(),
                       static_cast<llmir::mllm::Device>(device));
                 })
      .one();
}

std::vector<Tensor> Tensor::split(const std::vector<int64_t> &sections,
                                  int64_t dim) const {
  size_t count = sections.size();
  const int64_t whole = impl ? size(dim) : 0;
  if (count == 1 && sections.front() > 0 && whole > 0)
    count = static_cast<size_t>(whole / sections.front());
  return Call("mllm.linalg.split", {*this})
      .i64("dim", dim)
      .i64s("sections", sections)
      .all(count);
}

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

Tensor Tensor::operator-() const {
  return Call("mllm.linalg.neg", {*this}).one();
}

static Tensor arithmetic(const char *op, const Located &a, const Tensor &b) {
  return Call(op, {a.tensor, b}).at(a.file, a.line).one();
}

static Tensor arithmetic(const char *op, const Located &a, double b) {
  return Call(op, {a.tensor}).f64("scalar", b).at(a.file, a.line).one();
}

Tensor operator+(const Located &a, const Tensor &b) {
  return arithmetic("mllm.linalg.add", a, b);
}
Tensor operator-(const Located &a, const Tensor &b) {
  return arithmetic("mllm.linalg.sub", a, b);
}
Tensor operator*(const Located &a, const Tensor &b) {
  return arithmetic("mllm.linalg.mul", a, b);
}
Tensor operator/(const Located &a, const Tensor &b) {
  return arithmetic("mllm.linalg.div", a, b);
}
Tensor operator+(const Located &a, double b) {
  return arithmetic("mllm.linalg.add", a, b);
}
Tensor operator-(const Located &a, double b) {
  return arithmetic("mllm.linalg.sub", a, b);
}
Tensor operator*(const Located &a, double b) {
  return arithmetic("mllm.linalg.mul", a, b);
}
Tensor operator/(const Located &a, double b) {
  return arithmetic("mllm.linalg.div", a, b);
}

static Tensor compare(llmir::mllm::Comparison how, const Located &a,
                      const Tensor &b) {
  return Call("mllm.linalg.compare", {a.tensor, b})
      .attribute("comparison",
                 [=](Builder &b) {
                   return llmir::mllm::ComparisonAttr::get(b.getContext(), how);
                 })
      .at(a.file, a.line)
      .one();
}

/// A scalar tensor of the same type and device, for comparisons.
static Tensor numberLike(const Located &like, double number) {
  if (!like.tensor.isValid())
    return {};
  const Tensor &tensor = like.tensor;
  Tensor result = Tensor::full({1}, number, tensor.dtype());
  if (!result.isValid())
    return {};
  result.get()->device = tensor.device();
  // Floats are rounded, as everywhere; rounding an integer would change the
  // comparison.
  if (reference::isFloat(*elementKind(tensor.dtype())) ||
      result.item() == number)
    return result;
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  Engine &engine = engineOf({tensor});
  return engine.fail(engine.location(nullptr),
                     std::string(text) +
                         ", with which a tensor is compared, is not "
                         "representable in its type, " +
                         dataTypeName(tensor.dtype()),
                     "compare it with a value of its type, or cast it first");
}

Tensor operator<(const Located &a, const Tensor &b) {
  return compare(llmir::mllm::Comparison::Less, a, b);
}
Tensor operator<=(const Located &a, const Tensor &b) {
  return compare(llmir::mllm::Comparison::LessEqual, a, b);
}
Tensor operator>(const Located &a, const Tensor &b) {
  return compare(llmir::mllm::Comparison::Greater, a, b);
}
Tensor operator>=(const Located &a, const Tensor &b) {
  return compare(llmir::mllm::Comparison::GreaterEqual, a, b);
}
Tensor operator==(const Located &a, const Tensor &b) {
  return arithmetic("mllm.linalg.equal", a, b);
}
Tensor operator!=(const Located &a, const Tensor &b) {
  return compare(llmir::mllm::Comparison::NotEqual, a, b);
}
Tensor operator<(const Located &a, double b) {
  return compare(llmir::mllm::Comparison::Less, a, numberLike(a, b));
}
Tensor operator>(const Located &a, double b) {
  return compare(llmir::mllm::Comparison::Greater, a, numberLike(a, b));
}

} // namespace mllm
