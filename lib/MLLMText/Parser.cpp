//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "llmir/Dialect/Diagnostics.h"
#include "llmir/MLLMText/MLIRForms.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace llmir::mllm;
namespace shapes = llmir::shapes;

TextParser::TextParser(StringRef text, StringRef fileName, MLIRContext &context)
    : context(context), builder(&context), lexer(text, fileName, context) {
  context.loadDialect<MLLMDialect, llm::LLMDialect>();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

InFlightDiagnostic TextParser::error(const char *place) {
  return emitError(lexer.location(place));
}

LogicalResult TextParser::unexpected(const Twine &wanted) {
  if (is(Token::Bad))
    return error(token.start) << token.text;
  if (is(Token::End))
    return error(token.start)
           << "the text ends where " << wanted << " should stand";
  StringRef text = token.text;
  return error(token.start)
         << "'" << text.take_front(40) << (text.size() > 40 ? "…" : "")
         << "' stands where " << wanted << " should stand";
}

LogicalResult TextParser::expectSign(char sign, const char *where) {
  if (consumeSign(sign))
    return success();
  return unexpected(Twine("'") + Twine(sign) + "' " + where);
}

LogicalResult TextParser::expectArrow(const char *where) {
  if (!is(Token::Arrow))
    return unexpected(Twine("'->' ") + where);
  advance();
  return success();
}

LogicalResult TextParser::parseMLIR(StringRef text, const char *place,
                                    llvm::function_ref<bool()> parse) {
  if (std::string why = whyNotMLIRForm(text, kMaxDepth); !why.empty())
    return error(place) << why;
  std::vector<llmir::ReportedError> errors =
      llmir::collectErrors(context, [&] { return success(parse()); });
  if (errors.empty())
    return success();
  return error(place) << "MLIR does not read this text: "
                      << errors.front().message;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// "key:value, key" and the closing token.
LogicalResult TextParser::parseAttributes(NamedAttrList &attributes,
                                          char close) {
  while (!consumeSign(close)) {
    if (!is(Token::Word) && !is(Token::String))
      return unexpected("the name of an attribute");
    std::string name = token.text;
    const char *place = token.start;
    if (name.empty())
      return error(place) << "the name of an attribute is empty";
    if (attributes.get(name))
      return error(place) << "the attribute '" << name << "' stands here twice";
    advance();
    Attribute value = builder.getUnitAttr();
    if (consumeSign(':')) {
      FailureOr<Attribute> parsed = parseAttribute();
      if (failed(parsed))
        return failure();
      value = *parsed;
    }
    attributes.append(name, value);
    if (!isSign(close) && !consumeSign(','))
      return unexpected(Twine("',' or '") + Twine(close) + "'");
  }
  return success();
}

FailureOr<Attribute> TextParser::parseNumber() {
  StringRef text = token.text;
  const char *place = token.start;
  if (text.find_first_of(".eE") == StringRef::npos) {
    int64_t value;
    if (text.getAsInteger(10, value))
      return error(place) << text << " does not fit 64 bits";
    advance();
    return Attribute(builder.getI64IntegerAttr(value));
  }
  double value;
  if (text.getAsDouble(value, /*AllowInexact=*/true) || !std::isfinite(value))
    return error(place) << text << " is not a finite number";
  advance();
  return Attribute(builder.getF64FloatAttr(value));
}

/// "i32[1, 2]"
FailureOr<Attribute> TextParser::parseIntegers() {
  bool isWide = token.text == "i64";
  advance();
  if (failed(expectSign('[', "before the integers")))
    return failure();
  SmallVector<int64_t> values;
  while (!consumeSign(']')) {
    int64_t value;
    if (!is(Token::Number) || StringRef(token.text).getAsInteger(10, value) ||
        (!isWide && value != static_cast<int32_t>(value)))
      return unexpected(isWide ? "an integer of 64 bits"
                               : "an integer of 32 bits");
    values.push_back(value);
    advance();
    if (!isSign(']') && !consumeSign(','))
      return unexpected("',' or ']'");
  }
  if (isWide)
    return Attribute(builder.getDenseI64ArrayAttr(values));
  return Attribute(builder.getDenseI32ArrayAttr(
      SmallVector<int32_t>(values.begin(), values.end())));
}

FailureOr<Attribute> TextParser::parseAttribute() {
  if (++depth > kMaxDepth)
    return error(token.start)
           << "attributes nest more than " << kMaxDepth << " levels deep";
  llvm::scope_exit leave([&] { --depth; });
  switch (token.kind) {
  case Token::Number:
    return parseNumber();
  case Token::String: {
    Attribute value = builder.getStringAttr(token.text);
    advance();
    return value;
  }
  case Token::Symbol: {
    Attribute value = FlatSymbolRefAttr::get(&context, token.text);
    advance();
    return value;
  }
  case Token::MLIR: {
    Attribute value;
    std::string text = token.text;
    if (failed(parseMLIR(text, token.start, [&] {
          return bool(value = mlir::parseAttribute(text, &context));
        })))
      return failure();
    advance();
    return value;
  }
  case Token::Word:
    if (token.text == "true" || token.text == "false") {
      Attribute value = builder.getBoolAttr(token.text == "true");
      advance();
      return value;
    }
    if (token.text == "i64" || token.text == "i32")
      return parseIntegers();
    break;
  case Token::Sign:
    if (consumeSign('[')) {
      SmallVector<Attribute> entries;
      while (!consumeSign(']')) {
        FailureOr<Attribute> entry = parseAttribute();
        if (failed(entry))
          return failure();
        entries.push_back(*entry);
        if (!isSign(']') && !consumeSign(','))
          return unexpected("',' or ']'");
      }
      return Attribute(builder.getArrayAttr(entries));
    }
    if (consumeSign('{')) {
      NamedAttrList entries;
      if (failed(parseAttributes(entries, '}')))
        return failure();
      return Attribute(entries.getDictionary(&context));
    }
    break;
  default:
    break;
  }
  return unexpected("the value of an attribute");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// "[1, seq + past, 64]"; each size up to its ',' or ']' is an expression.
LogicalResult TextParser::parseShape(shapes::Shape &shape) {
  if (failed(expectSign('[', "before the sizes")))
    return failure();
  while (!consumeSign(']')) {
    const char *start = token.start;
    while (!isSign(',') && !isSign(']')) {
      if (is(Token::End) || is(Token::Bad) || token.start - start > 1024)
        return unexpected("',' or ']'");
      advance();
    }
    StringRef text = StringRef(start, token.start - start).trim();
    std::optional<shapes::DimExpr> size = shapes::DimExpr::parse(text.str());
    if (!size || (size->constant() && *size->constant() < 0))
      return error(start) << "'" << text.take_front(40) << "' is not a size";
    shape.push_back(*size);
    if (shape.size() > 64)
      return error(start) << "a tensor has more than 64 dimensions";
    if (!isSign(']') && !consumeSign(','))
      return unexpected("',' or ']'");
  }
  return success();
}

/// "<[1, 64], kFp32, kCPU>" after the keyword.
FailureOr<Type> TextParser::parseShaped(bool isTensor) {
  shapes::Shape shape;
  if (failed(expectSign('<', "after the kind of a type")) ||
      failed(parseShape(shape)) || failed(expectSign(',', "after the sizes")))
    return failure();
  std::optional<::mllm::DataTypes> dtype;
  if (is(Token::Word))
    dtype = parseDataType(token.text);
  if (!dtype)
    return unexpected("the type of elements, for example kFp32 or Float32");
  advance();
  std::optional<::mllm::DeviceTypes> device = ::mllm::kCPU;
  if (isTensor) {
    if (failed(expectSign(',', "after the type of elements")))
      return failure();
    device = is(Token::Word) ? parseDevice(token.text) : std::nullopt;
    if (!device)
      return unexpected("a device, for example kCPU or CPU");
    advance();
  }
  if (failed(expectSign('>', "at the end of a type")))
    return failure();
  Type element = elementType(context, *dtype);
  RankedTensorType tensor =
      makeTensorType(shape, element, static_cast<Device>(*device));
  if (isTensor)
    return Type(tensor);
  return Type(MemRefType::get(tensor.getShape(), element));
}

FailureOr<Type> TextParser::parseType() {
  if (is(Token::Word) && (token.text == "tensor" || token.text == "memref")) {
    bool isTensor = token.text == "tensor";
    advance();
    return parseShaped(isTensor);
  }
  if (!is(Token::MLIR))
    return unexpected("a type, for example tensor<[1, 64], Float32, CPU>");
  Type type;
  std::string text = token.text;
  if (failed(parseMLIR(text, token.start, [&] {
        return bool(type = mlir::parseType(text, &context));
      })))
    return failure();
  advance();
  return type;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// "%4:tensor<…>" with any number of "[@symbol]" and "[key:value]".
LogicalResult TextParser::parseMention(Mention &mention) {
  mention.start = token.start;
  if (!is(Token::Value))
    return unexpected("a value, for example %4:tensor<[1], Float32, CPU>");
  mention.name = token.text;
  advance();
  if (failed(expectSign(':', "between a value and its type")))
    return failure();
  FailureOr<Type> type = parseType();
  if (failed(type))
    return failure();
  mention.type = *type;
  while (consumeSign('[')) {
    if (is(Token::Symbol)) {
      if (mention.symbol)
        return error(token.start) << "the value has a symbol already";
      mention.symbol = token.text;
      advance();
      if (failed(expectSign(']', "after the symbol")))
        return failure();
    } else if (failed(parseAttributes(mention.attributes, ']'))) {
      return failure();
    }
  }
  return success();
}

LogicalResult TextParser::parseMentions(SmallVectorImpl<Mention> &mentions) {
  if (failed(expectSign('(', "before a list of values")))
    return failure();
  while (!consumeSign(')')) {
    if (failed(parseMention(mentions.emplace_back())))
      return failure();
    if (!isSign(')') && !consumeSign(','))
      return unexpected("',' or ')'");
  }
  return success();
}

FailureOr<Value> TextParser::lookup(const Mention &mention) {
  for (Scope &scope : llvm::reverse(scopes)) {
    auto found = scope.values.find(mention.name);
    if (found != scope.values.end()) {
      if (found->second.getType() != mention.type)
        return error(mention.start)
               << "%" << mention.name << " is of type "
               << found->second.getType() << ", and is mentioned with type "
               << mention.type;
      return found->second;
    }
    if (scope.isIsolated)
      break;
  }
  return error(mention.start)
         << "%" << mention.name << " is used before its definition";
}

bool TextParser::isNumberName(StringRef name) const {
  return llvm::all_of(name, llvm::isDigit);
}

/// The dictionary of a value: its symbol and attributes. A non-numeric name
/// becomes the attribute mllm.name.
NamedAttrList TextParser::valueDictionary(const Mention &mention) {
  NamedAttrList attributes = mention.attributes;
  if (mention.symbol)
    attributes.set(kValueSymbolKey, builder.getStringAttr(*mention.symbol));
  return attributes;
}

LogicalResult TextParser::define(const Mention &mention, Value value) {
  if (!scopes.back().values.try_emplace(mention.name, value).second)
    return error(mention.start)
           << "%" << mention.name << " is defined twice in its scope";
  NamedAttrList attributes = valueDictionary(mention);
  // Non-numeric names are kept.
  if (!isNumberName(mention.name) && !attributes.get(kValueNameKey))
    attributes.set(kValueNameKey, builder.getStringAttr(mention.name));
  if (attributes.empty())
    return success();
  if (!setValueAttributes(value, attributes.getDictionary(&context))) {
    if (mention.attributes.empty() && !mention.symbol)
      return success(); // A name without attributes may be dropped.
    return error(mention.start) << "%" << mention.name
                                << " carries no attributes: only results "
                                   "and the arguments of subgraphs do";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

LogicalResult TextParser::parseModule() {
  Head head;
  head.start = token.start;
  if (!is(Token::Symbol))
    return unexpected("the module's name, @main");
  std::string name = token.text;
  advance();
  if (failed(expectSign('(', "after the module's name")) ||
      failed(expectSign(')', "after the module's name")) ||
      failed(expectArrow("after '()'")) ||
      failed(expectSign('(', "after '->'")) ||
      failed(expectSign(')', "after '->'")))
    return failure();
  while (isSign('<'))
    if (failed(parseAngles(head)))
      return failure();
  if (consumeSign('[') && failed(parseAttributes(head.attributes, ']')))
    return failure();
  if (failed(expectSign('{', "before the module's ops")))
    return failure();
  // An unnamed module is @main; a module named so has the attribute.
  StringAttr symbol = builder.getStringAttr(name);
  if (Attribute other = head.attributes.get("sym_name");
      other && other != symbol)
    return error(head.start)
           << "the module is @" << name
           << ", and its attribute sym_name says otherwise; leave it out";
  if (name != "main")
    head.attributes.set("sym_name", symbol);
  module = ModuleOp::create(lexer.location(head.start));
  NamedAttrList &attributes = head.attributes;
  if (failed(ModuleOp::verifyInherentAttrs((*module)->getName(), attributes,
                                           [&] { return error(head.start); })))
    return failure();
  (*module)->setAttrs(attributes.getDictionary(&context));
  keepLocation(*module, head);
  scopes.push_back({{}, /*isIsolated=*/true});
  if (failed(parseOps(*module->getBody())))
    return failure();
  if (!is(Token::End))
    return unexpected("the end of the text");
  return success();
}

/// Parses ops up to and including the closing brace.
LogicalResult TextParser::parseOps(Block &block) {
  if (++depth > kMaxDepth)
    return error(token.start)
           << "ops nest more than " << kMaxDepth << " levels deep";
  llvm::scope_exit leave([&] { --depth; });
  while (!consumeSign('}'))
    if (failed(parseOp(block)))
      return failure();
  return success();
}

OwningOpRef<ModuleOp> TextParser::parse() {
  advance();
  firstPlace = token.start;
  if (failed(parseModule()) || failed(registerSynthesized()) ||
      failed(mlir::verify(*module)))
    return nullptr;
  for (auto &[op, location] : locations)
    op->setLoc(location);
  return std::move(module);
}

OwningOpRef<ModuleOp> llmir::mllm::parseText(StringRef text, StringRef fileName,
                                             MLIRContext &context) {
  return TextParser(text, fileName, context).parse();
}
