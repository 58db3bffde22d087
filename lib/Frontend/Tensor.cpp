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
#include "llmir/Interpreter/ReferenceElementwise.h"

#include <cstdio>

using namespace mlir;
using namespace llmir;
using shapes::DimExpr;

namespace mllm {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type elementType(MLIRContext *context, DataTypes dtype) {
  switch (dtype) {
  case kFp32:
    return Float32Type::get(context);
  case kFp16:
    return Float16Type::get(context);
  case kBf16:
    return BFloat16Type::get(context);
  case kInt64:
    return IntegerType::get(context, 64);
  case kInt32:
    return IntegerType::get(context, 32);
  case kInt16:
    return IntegerType::get(context, 16);
  case kInt8:
    return IntegerType::get(context, 8);
  case kBool:
    return IntegerType::get(context, 1);
  default:
    return {};
  }
}

static DataTypes dataTypeOf(Type type) {
  if (type.isF16())
    return kFp16;
  if (type.isBF16())
    return kBf16;
  if (type.isF32())
    return kFp32;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return kBool;
  case 8:
    return kInt8;
  case 16:
    return kInt16;
  case 32:
    return kInt32;
  default:
    return kInt64;
  }
}

std::optional<reference::ElementKind> elementKind(DataTypes dtype) {
  using reference::ElementKind;
  switch (dtype) {
  case kFp32:
    return ElementKind::F32;
  case kFp16:
    return ElementKind::F16;
  case kBf16:
    return ElementKind::BF16;
  case kInt64:
    return ElementKind::I64;
  case kInt32:
    return ElementKind::I32;
  case kInt16:
    return ElementKind::I16;
  case kInt8:
    return ElementKind::I8;
  case kBool:
    return ElementKind::I1;
  default:
    return std::nullopt;
  }
}

static DataTypes dataTypeOf(reference::ElementKind kind) {
  using reference::ElementKind;
  switch (kind) {
  case ElementKind::F32:
    return kFp32;
  case ElementKind::F16:
    return kFp16;
  case ElementKind::BF16:
    return kBf16;
  case ElementKind::I1:
    return kBool;
  case ElementKind::I4:
  case ElementKind::I8:
    return kInt8;
  case ElementKind::I16:
    return kInt16;
  case ElementKind::I32:
    return kInt32;
  case ElementKind::I64:
    return kInt64;
  }
  return kFp32;
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
  impl->dtype = dataTypeOf(type.getElementType());
  impl->device = static_cast<DeviceTypes>(llmir::mllm::deviceOf(type));
  return impl;
}

Tensor numbersOf(reference::Tensor numbers) {
  auto impl = std::make_shared<detail::TensorImpl>();
  impl->dims.assign(numbers.shape.begin(), numbers.shape.end());
  impl->dtype = dataTypeOf(numbers.kind);
  impl->numbers = std::move(numbers);
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
// Making tensors
//===----------------------------------------------------------------------===//

Tensor Tensor::empty(std::vector<Dim> shape, DataTypes dtype,
                     DeviceTypes device) {
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
    return failEagerly(Status(StatusCode::Unsupported,
                              std::string("LLMIR computes nothing in ") +
                                  dataTypeName(dtype)));
  if (Status checked = reference::checkAffordable(shape); !checked)
    return failEagerly(std::move(checked));
  if (reference::numElements(shape) != static_cast<int64_t>(numbers.size()))
    return failEagerly(Status(
        StatusCode::InvalidArgument,
        std::to_string(numbers.size()) + " numbers do not fill a tensor of " +
            std::to_string(reference::numElements(shape))));
  return numbersOf(reference::round(
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
// Questions
//===----------------------------------------------------------------------===//

bool Tensor::hasValues() const { return impl && impl->numbers.has_value(); }

std::vector<double> Tensor::toVector() const {
  return hasValues() ? impl->numbers->data : std::vector<double>();
}

double Tensor::item() const {
  if (hasValues() && impl->numbers->size() == 1)
    return (*impl->numbers)[0];
  failEagerly(Status(StatusCode::InvalidArgument,
                     "item() of a tensor that does not have one number"));
  return 0;
}

Tensor::operator bool() const {
  if (!impl || !impl->tracer)
    return impl && item() != 0;
  std::string place;
  if (impl->file)
    place = std::string(impl->file) + ":" + std::to_string(impl->line) + ": ";
  impl->tracer->fail(
      impl->tracer->location(nullptr),
      place + "a C++ condition asks for the value of a traced tensor, which "
              "nobody knows yet; write mllm::ir::if_ or mllm::ir::while_");
  return false;
}

int64_t Tensor::rank() const { return static_cast<int64_t>(impl->dims.size()); }

int64_t Tensor::size(int64_t dim) const {
  const int64_t at = dim < 0 ? dim + rank() : dim;
  if (at < 0 || at >= rank())
    return 0;
  return impl->dims[static_cast<size_t>(at)].constant().value_or(kSymbolic);
}

std::vector<int64_t> Tensor::shape() const {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < rank(); ++i)
    result.push_back(size(i));
  return result;
}

const shapes::Shape &Tensor::dims() const { return impl->dims; }
DataTypes Tensor::dtype() const { return impl->dtype; }
DeviceTypes Tensor::device() const { return impl->device; }

//===----------------------------------------------------------------------===//
// The same values elsewhere
//===----------------------------------------------------------------------===//

/// The shape that view() is asked for: see there.
static Expected<shapes::Shape> viewShape(const shapes::Shape &from,
                                         const std::vector<int64_t> &to) {
  std::vector<DimExpr> dynamic;
  for (const DimExpr &size : from)
    if (!size.isConstant())
      dynamic.push_back(size);
  shapes::Shape result;
  size_t next = 0;
  bool isInferred = false;
  std::vector<int64_t> numbers;
  for (int64_t size : to) {
    isInferred |= size == -1;
    if (size != kSymbolic) {
      result.push_back(size);
      numbers.push_back(size);
      continue;
    }
    result.push_back(next < dynamic.size() ? dynamic[next]
                                           : DimExpr::unknown());
    ++next;
  }
  if (!isInferred)
    return result;
  // What kSymbolic stands for is on both sides.
  shapes::Shape rest;
  for (const DimExpr &size : from)
    if (size.isConstant() || next == 0)
      rest.push_back(size);
  Expected<shapes::Shape> whole = shapes::reshape(rest, numbers);
  if (!whole)
    return whole;
  size_t number = 0;
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] != kSymbolic)
      result[i] = (*whole)[number++];
  return result;
}

Tensor Tensor::view(const std::vector<int64_t> &shape) const {
  if (!impl)
    return {};
  Expected<shapes::Shape> wanted = viewShape(impl->dims, shape);
  if (!wanted) {
    Engine &engine = engineOf({*this});
    return engine.fail(engine.location(nullptr), wanted.status().cause());
  }
  return Call("mllm.linalg.view", {*this}).result(*wanted).one();
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
// Value by value
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

/// A tensor of one number of the same type, to compare with.
static Tensor numberLike(const Tensor &tensor, double number) {
  return tensor.isValid() ? Tensor::full({1}, number, tensor.dtype())
                          : Tensor();
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
  return compare(llmir::mllm::Comparison::Less, a, numberLike(a.tensor, b));
}
Tensor operator>(const Located &a, double b) {
  return compare(llmir::mllm::Comparison::Greater, a, numberLike(a.tensor, b));
}

} // namespace mllm
