//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, attributes, types and values.
//
//===----------------------------------------------------------------------===//

#include "Printer.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace llmir::mllm;
namespace shapes = llmir::shapes;

bool llmir::mllm::isBareName(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
         });
}

void TextPrinter::printSymbol(StringRef name) {
  if (isBareName(name)) {
    os << '@' << name;
    return;
  }
  os << "@\"";
  llvm::printEscapedString(name, os);
  os << '"';
}

/// Attributes without an own syntax are printed in MLIR's.
void TextPrinter::printMLIR(llvm::function_ref<void(raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  os << "mlir\"";
  llvm::printEscapedString(text, os);
  os << '"';
}

/// The shortest text that parses as the same number; it has a '.' or 'e'.
static std::string shortest(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  if (!StringRef(text).contains('e') && !StringRef(text).contains('.'))
    return std::string(text) + ".0";
  return text;
}

void TextPrinter::printAttribute(Attribute attribute) {
  if (auto value = dyn_cast<BoolAttr>(attribute)) {
    os << (value.getValue() ? "true" : "false");
    return;
  }
  if (auto value = dyn_cast<IntegerAttr>(attribute);
      value && value.getType().isSignlessInteger(64)) {
    os << value.getInt();
    return;
  }
  if (auto value = dyn_cast<FloatAttr>(attribute);
      value && value.getType().isF64() && value.getValue().isFinite()) {
    os << shortest(value.getValueAsDouble());
    return;
  }
  if (auto value = dyn_cast<StringAttr>(attribute);
      value && isa<NoneType>(value.getType())) {
    os << '"';
    llvm::printEscapedString(value, os);
    os << '"';
    return;
  }
  if (auto value = dyn_cast<FlatSymbolRefAttr>(attribute))
    return printSymbol(value.getValue());
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    os << "i64[";
    llvm::interleaveComma(value.asArrayRef(), os);
    os << ']';
    return;
  }
  if (auto value = dyn_cast<DenseI32ArrayAttr>(attribute)) {
    os << "i32[";
    llvm::interleaveComma(value.asArrayRef(), os);
    os << ']';
    return;
  }
  if (auto value = dyn_cast<ArrayAttr>(attribute)) {
    os << '[';
    llvm::interleaveComma(value, os,
                          [&](Attribute each) { printAttribute(each); });
    os << ']';
    return;
  }
  if (auto value = dyn_cast<DictionaryAttr>(attribute)) {
    os << '{';
    printAttributes(value.getValue());
    os << '}';
    return;
  }
  printMLIR([&](raw_ostream &stream) { attribute.print(stream); });
}

/// "key:value, key": dictionaries are sorted by their names.
void TextPrinter::printAttributes(ArrayRef<NamedAttribute> attributes) {
  llvm::interleaveComma(attributes, os, [&](NamedAttribute each) {
    StringRef key = each.getName();
    if (isBareName(key)) {
      os << key;
    } else {
      os << '"';
      llvm::printEscapedString(key, os);
      os << '"';
    }
    if (isa<UnitAttr>(each.getValue()))
      return;
    os << ':';
    printAttribute(each.getValue());
  });
}

void TextPrinter::printType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    std::optional<::mllm::DataTypes> dtype =
        dataTypeOf(tensor.getElementType());
    shapes::Shape shape = shapeOf(tensor);
    if (dtype && makeTensorType(shape, tensor.getElementType(),
                                deviceOf(tensor)) == tensor) {
      os << "tensor<";
      os << shapes::str(shape);
      os << ", " << ::mllm::dataTypeName(*dtype, isFull) << ", "
         << ::mllm::deviceName(deviceTypeOf(type), isFull) << '>';
      return;
    }
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    std::optional<::mllm::DataTypes> dtype =
        dataTypeOf(memref.getElementType());
    if (dtype && memref.getLayout().isIdentity() && !memref.getMemorySpace()) {
      shapes::Shape shape;
      for (int64_t size : memref.getShape())
        shape.push_back(ShapedType::isDynamic(size) ? shapes::DimExpr::unknown()
                                                    : shapes::DimExpr(size));
      os << "memref<";
      os << shapes::str(shape);
      os << ", " << ::mllm::dataTypeName(*dtype, isFull) << '>';
      return;
    }
  }
  printMLIR([&](raw_ostream &stream) { type.print(stream); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void TextPrinter::printValueAttributes(Value value) {
  if (!isFull)
    return;
  DictionaryAttr attributes = getValueAttributes(value);
  SmallVector<NamedAttribute> rest;
  for (NamedAttribute each : attributes) {
    if (each.getName() == kValueSymbolKey && isa<StringAttr>(each.getValue())) {
      os << '[';
      printSymbol(cast<StringAttr>(each.getValue()));
      os << ']';
    } else if (each.getName() != kValueNameKey ||
               each.getValue() !=
                   StringAttr::get(value.getContext(), numbering.name(value))) {
      // Do not repeat a printed name.
      rest.push_back(each);
    }
  }
  if (rest.empty())
    return;
  os << '[';
  printAttributes(rest);
  os << ']';
}

void TextPrinter::printValue(Value value, bool isDefinition) {
  printValueName(value);
  os << ':';
  printType(value.getType());
  if (isDefinition)
    printValueAttributes(value);
}

void TextPrinter::printValues(ValueRange values, bool areDefinitions) {
  os << '(';
  llvm::interleaveComma(
      values, os, [&](Value value) { printValue(value, areDefinitions); });
  os << ')';
}
