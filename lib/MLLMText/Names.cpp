//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/MLLMText/Text.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace llmir::mllm;

namespace {
struct TypeName {
  ::mllm::DataTypes type;
  const char *documented;
  const char *present;
};
constexpr TypeName kTypeNames[] = {
    {::mllm::kFp32, "kFp32", "Float32"},
    {::mllm::kFp16, "kFp16", "Float16"},
    {::mllm::kBf16, "kBf16", "BFloat16"},
    {::mllm::kFp64, "kFp64", "Float64"},
    {::mllm::kInt64, "kInt64", "Int64"},
    {::mllm::kInt32, "kInt32", "Int32"},
    {::mllm::kInt16, "kInt16", "Int16"},
    {::mllm::kInt8, "kInt8", "Int8"},
    {::mllm::kInt4, "kInt4", "Int4"},
    {::mllm::kUInt64, "kUInt64", "UInt64"},
    {::mllm::kUInt32, "kUInt32", "UInt32"},
    {::mllm::kUInt16, "kUInt16", "UInt16"},
    {::mllm::kUInt8, "kUInt8", "UInt8"},
    {::mllm::kUInt4, "kUInt4", "UInt4"},
    {::mllm::kBool, "kBool", "Bool"},
};

struct DeviceName {
  ::mllm::DeviceTypes device;
  const char *documented;
  const char *present;
};
constexpr DeviceName kDeviceNames[] = {
    {::mllm::kCPU, "kCPU", "CPU"},          {::mllm::kCUDA, "kCUDA", "CUDA"},
    {::mllm::kOpenCL, "kOpenCL", "OpenCL"}, {::mllm::kQNN, "kQNN", "QNN"},
    {::mllm::kAscend, "kAscend", "Ascend"},
};

constexpr OpTextName kOpNames[] = {
#define MLLM_OP(name, level, group, cls, regions, leastOperands, mostOperands, \
                leastResults, mostResults, needed)                             \
  {name,         #level,       #cls,        regions, leastOperands,            \
   mostOperands, leastResults, mostResults, needed},
#include "mllm/ir/GeneratedOps.inc"
#undef MLLM_OP
};

/// Ops without an own attribute for result attributes.
constexpr StringLiteral kResultAttributes = "mllm.res_attrs";
} // namespace

const char * ::mllm::dataTypeName(DataTypes type, bool present) {
  for (const TypeName &each : kTypeNames)
    if (each.type == type)
      return present ? each.present : each.documented;
  return "?";
}

const char * ::mllm::deviceName(DeviceTypes device, bool present) {
  for (const DeviceName &each : kDeviceNames)
    if (each.device == device)
      return present ? each.present : each.documented;
  return "?";
}

ArrayRef<OpTextName> llmir::mllm::opTextNames() { return kOpNames; }

const OpTextName *llmir::mllm::findOpTextName(StringRef name) {
  const OpTextName *found = llvm::lower_bound(
      kOpNames, name,
      [](const OpTextName &each, StringRef name) { return each.name < name; });
  return found != std::end(kOpNames) && found->name == name ? found : nullptr;
}

std::optional<::mllm::DataTypes> llmir::mllm::dataTypeOf(Type type) {
  if (type.isF32())
    return ::mllm::kFp32;
  if (type.isF16())
    return ::mllm::kFp16;
  if (type.isBF16())
    return ::mllm::kBf16;
  if (type.isF64())
    return ::mllm::kFp64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 64:
    return isUnsigned ? ::mllm::kUInt64 : ::mllm::kInt64;
  case 32:
    return isUnsigned ? ::mllm::kUInt32 : ::mllm::kInt32;
  case 16:
    return isUnsigned ? ::mllm::kUInt16 : ::mllm::kInt16;
  case 8:
    return isUnsigned ? ::mllm::kUInt8 : ::mllm::kInt8;
  case 4:
    return isUnsigned ? ::mllm::kUInt4 : ::mllm::kInt4;
  case 1:
    if (!isUnsigned)
      return ::mllm::kBool;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

Type llmir::mllm::elementType(MLIRContext &context, ::mllm::DataTypes type) {
  auto integer = [&](unsigned width, bool isUnsigned = false) -> Type {
    return IntegerType::get(&context, width,
                            isUnsigned ? IntegerType::Unsigned
                                       : IntegerType::Signless);
  };
  switch (type) {
  case ::mllm::kFp32:
    return Float32Type::get(&context);
  case ::mllm::kFp16:
    return Float16Type::get(&context);
  case ::mllm::kBf16:
    return BFloat16Type::get(&context);
  case ::mllm::kFp64:
    return Float64Type::get(&context);
  case ::mllm::kInt64:
    return integer(64);
  case ::mllm::kInt32:
    return integer(32);
  case ::mllm::kInt16:
    return integer(16);
  case ::mllm::kInt8:
    return integer(8);
  case ::mllm::kInt4:
    return integer(4);
  case ::mllm::kUInt64:
    return integer(64, true);
  case ::mllm::kUInt32:
    return integer(32, true);
  case ::mllm::kUInt16:
    return integer(16, true);
  case ::mllm::kUInt8:
    return integer(8, true);
  case ::mllm::kUInt4:
    return integer(4, true);
  case ::mllm::kBool:
    return integer(1);
  }
  return Float32Type::get(&context);
}

std::optional<::mllm::DataTypes> llmir::mllm::parseDataType(StringRef name) {
  for (const TypeName &each : kTypeNames)
    if (name == each.documented || name == each.present)
      return each.type;
  return std::nullopt;
}

std::optional<::mllm::DeviceTypes> llmir::mllm::parseDevice(StringRef name) {
  for (const DeviceName &each : kDeviceNames)
    if (name == each.documented || name == each.present)
      return each.device;
  return std::nullopt;
}

// The devices of the dialect are those of mllm, in the same order.
static_assert(static_cast<int>(Device::CPU) == ::mllm::kCPU &&
              static_cast<int>(Device::CUDA) == ::mllm::kCUDA &&
              static_cast<int>(Device::OpenCL) == ::mllm::kOpenCL &&
              static_cast<int>(Device::QNN) == ::mllm::kQNN &&
              static_cast<int>(Device::Ascend) == ::mllm::kAscend);

::mllm::DeviceTypes llmir::mllm::deviceTypeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? static_cast<::mllm::DeviceTypes>(deviceOf(tensor))
                : ::mllm::kCPU;
}

::mllm::DeviceTypes llmir::mllm::deviceTypeOf(Operation *op) {
  if (auto device = op->getAttrOfType<DeviceAttr>("device"))
    return static_cast<::mllm::DeviceTypes>(device.getValue());
  for (Type type : op->getResultTypes())
    return deviceTypeOf(type);
  for (Type type : op->getOperandTypes())
    return deviceTypeOf(type);
  return ::mllm::kCPU;
}

//===----------------------------------------------------------------------===//
// Attributes of values
//===----------------------------------------------------------------------===//

static DictionaryAttr entry(ArrayAttr array, unsigned index) {
  if (!array || index >= array.size())
    return {};
  return dyn_cast<DictionaryAttr>(array[index]);
}

DictionaryAttr llmir::mllm::getValueAttributes(Value value) {
  DictionaryAttr found;
  if (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (auto call = dyn_cast<CallOpInterface>(op))
      found = entry(call.getResAttrsAttr(), result.getResultNumber());
    else
      found = entry(op->getAttrOfType<ArrayAttr>(kResultAttributes),
                    result.getResultNumber());
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(
        argument.getOwner()->getParentOp());
    if (function && argument.getOwner()->isEntryBlock())
      found = entry(function.getArgAttrsAttr(), argument.getArgNumber());
  }
  return found ? found : DictionaryAttr::get(value.getContext());
}

/// Replaces one of `count` dictionaries of `array`; null if all are empty.
static ArrayAttr withEntry(ArrayAttr array, unsigned count, unsigned index,
                           DictionaryAttr attributes) {
  MLIRContext *context = attributes.getContext();
  SmallVector<Attribute> entries;
  bool isEmpty = true;
  for (unsigned i = 0; i < count; ++i) {
    DictionaryAttr each = i == index ? attributes : entry(array, i);
    if (!each)
      each = DictionaryAttr::get(context);
    isEmpty &= each.empty();
    entries.push_back(each);
  }
  return isEmpty ? ArrayAttr() : ArrayAttr::get(context, entries);
}

bool llmir::mllm::setValueAttributes(Value value, DictionaryAttr attributes) {
  if (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    unsigned count = op->getNumResults(), index = result.getResultNumber();
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      ArrayAttr all =
          withEntry(call.getResAttrsAttr(), count, index, attributes);
      if (all)
        call.setResAttrsAttr(all);
      else
        call.removeResAttrsAttr();
      return true;
    }
    ArrayAttr all = withEntry(op->getAttrOfType<ArrayAttr>(kResultAttributes),
                              count, index, attributes);
    if (all)
      op->setAttr(kResultAttributes, all);
    else
      op->removeAttr(kResultAttributes);
    return true;
  }
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return false;
  ArrayAttr all =
      withEntry(function.getArgAttrsAttr(), function.getNumArguments(),
                argument.getArgNumber(), attributes);
  if (all)
    function.setArgAttrsAttr(all);
  else
    function.removeArgAttrsAttr();
  return true;
}
